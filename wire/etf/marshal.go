package etf

import (
	"reflect"
	"unicode/utf8"

	"github.com/actornode/actornode/internal/wire/etfcodec"
	"github.com/actornode/actornode/internal/wire/termof"
	"github.com/actornode/actornode/wire"
)

// Receiver is a Go value that reads itself from a term. [FromTerm] uses it wherever a pointer to the value's type
// implements it.
type Receiver interface{ SetTerm(term any) error }

// Marshal returns the bytes of the term that v represents: [Append] of [ToTerm], also for Go values inside terms.
func Marshal(v any) ([]byte, error) {
	e := etfcodec.Encoder{Foreign: ToTerm}
	return e.Append(nil, v)
}

// Unmarshal decodes b, which must be exactly one term, and stores it in the target of into, like [FromTerm].
func Unmarshal(b []byte, into any) error {
	term, rest, err := Decode(b)
	if err != nil {
		return err
	}
	if len(rest) > 0 {
		return faults.New(ErrMalformed, "offset %d: %d bytes behind the end of the term", len(b)-len(rest), len(rest))
	}
	return FromTerm(term, into)
}

// ToTerm returns the term that a Go value represents, independent of the encoding:
//
//	bool, integers, floats  themselves, also types derived from them
//	string                  a binary; by tag a charlist or an atom
//	[]byte, [N]byte         a binary; by tag a list
//	slice, array            a list
//	map                     a map
//	pointer                 its target; nil is undefined
//	wire.PID, wire.Ref      itself; the zero value, in a struct, is undefined
//	wire.At                 {Name, Node}
//	any                     its value; nil is []
//	time.Duration           an integer of nanoseconds, or of the unit in the tag
//	time.Time               a binary: RFC 3339 in UTC, such as <<"2024-02-29T12:30:00.5Z">>
//	struct                  according to its tags
//	wire.Termer             the result of its Term
//
// A struct is a map of its exported fields by default, with atoms for keys: the
// field's name in snake case, or the name in its tag. A tag of a field "_" makes
// it a tuple instead:
//
//	type Add struct {
//		_    struct{}      `etf:"add,tuple"`   // {add, …}; ",tuple" without a first atom, ",record" with the name of the type
//		Item string        `etf:",charlist"`   // or atom, or binary
//		Wait time.Duration `etf:",ms"`         // or ns, us, s
//		Note *string                           // undefined, or a binary
//	}
//
// In a map, omitzero omits a zero field, and required is for [FromTerm]. A field tagged "-" is ignored, and is not sent to
// Go nodes either. The fields of an embedded struct without a tag count as the struct's own.
//
// A term is returned unchanged, including any Go values in it; [Marshal] converts those. The error is [ErrNoTerm] or
// [ErrLimit] and names the field.
func ToTerm(v any) (any, error) {
	if etfcodec.IsTerm(v) {
		return v, nil
	}
	var w walk
	if m, ok := v.(termof.Marked); ok {
		v, w.names = m.Value, m.Name
	}
	r := reflect.ValueOf(v)
	t, err := planOf(planKey{r.Type(), style{}}).to(r, w)
	if err != nil {
		return nil, faults.Within(r.Type().String(), err)
	}
	return t, nil
}

// FromTerm stores a term in the target of into. It is the reverse of [ToTerm], but more lenient. Terms may have any of
// their Go types. A string reads binaries and charlists, unless its tag says atom; a float reads integers; a []byte reads a
// list of bytes; a pointer reads the atoms undefined and nil as nil; any reads every term unchanged. Map keys without a
// corresponding field are ignored, and fields without a key are left unchanged, unless they are tagged required. Numbers
// must fit. The stored value may share memory with the term.
//
// The error is [ErrMismatch], [ErrLimit], or, for a Go type that cannot hold a term, [ErrNoTerm]. It names the field; part
// of the value may have been stored.
func FromTerm(term any, into any) error {
	v := reflect.ValueOf(into)
	if v.Kind() != reflect.Pointer || v.IsNil() {
		return faults.New(ErrMismatch, "into is a %T, not a pointer to something", into)
	}
	var w walk
	if h, ok := term.(termof.Hosted); ok {
		term, w.host = h.Term, h.Host
	}
	v = v.Elem()
	if err := planOf(planKey{v.Type(), style{}}).from(term, v, w); err != nil {
		return faults.Within(v.Type().String(), err)
	}
	return nil
}

// mismatch returns the error for a term that does not fit the Go type.
func mismatch(t any, wanted string) error {
	return faults.New(ErrMismatch, "expected %s, not %s", wanted, brief(t))
}

// brief returns the beginning of a term, for errors.
func brief(t any) string {
	const most = 60
	text := []rune(wire.Formatter{Max: utf8.UTFMax * (most + 1)}.Format(t))
	if len(text) > most {
		text = append(text[:most], '…')
	}
	return string(text)
}

func tooDeep() error {
	return faults.New(ErrLimit, "Go values nested deeper than %d levels", maxNesting)
}
