package flow

import (
	"math"
	"unicode/utf8"

	"github.com/actornode/actornode/wire"
	"github.com/actornode/actornode/wire/dist"
)

// isPlain reports whether every link accepts the message of f, as far as a quick check can tell: it consists of the commonest
// terms, and is small.
func isPlain(f *dist.Frame) bool {
	l := look{parts: plainParts, bytes: plainBytes}
	return l.atom(f.Name) && f.Ref.IsZero() && l.plain(f.Payload)
}

// look is the remaining budget of a check of a term.
type look struct{ parts, bytes int }

func (l *look) plain(term any) bool {
	if l.parts--; l.parts < 0 {
		return false
	}
	switch t := term.(type) {
	case nil, bool, int, int64:
		return true
	case wire.Atom:
		return l.atom(t)
	case []byte:
		return l.data(len(t))
	case string:
		return l.data(len(t))
	case wire.PID:
		return !t.IsZero()
	case wire.Ref:
		return !t.IsZero()
	case float64:
		return !math.IsNaN(t) && !math.IsInf(t, 0)
	case wire.Tuple:
		return l.all(t)
	case wire.List:
		return l.all(t)
	}
	return false
}

func (l *look) all(terms []any) bool {
	for _, t := range terms {
		if !l.plain(t) {
			return false
		}
	}
	return true
}

func (l *look) data(n int) bool {
	l.bytes -= n
	return l.bytes >= 0
}

// atom reports whether a name is valid UTF-8 and so short that it cannot have too many characters.
func (l *look) atom(a wire.Atom) bool {
	return len(a) <= wire.MaxAtomRunes && utf8.ValidString(string(a))
}
