package erldist

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
	"slices"

	"github.com/actornode/actornode/internal/erlflags"
	"github.com/actornode/actornode/internal/etfcodec"
	"github.com/actornode/actornode/internal/linkopt"
	"github.com/actornode/actornode/wire"
)

// goMark is the first element of a payload that is a Go value: {'$go', Binary}.
const goMark wire.Atom = "$go"

// appender makes the binaries of Go values.
type appender interface {
	Append(dst []byte, value any) ([]byte, error)
}

// setValues has a writer write Go values, if the peer reads them.
func (w *writer) setValues(v Values) {
	if v != nil && w.flags.Has(erlflags.GoValues) {
		w.values = v
	}
}

// setShapes has a link whose peer reads Go values tell the shapes of the types here, and learn those of the peer.
func (l *link) setShapes(v Values) {
	if of, ok := v.(linkopt.ForPeers); ok && l.out.values != nil {
		shapes := of.ForPeer()
		l.in.shapes, l.out.shapes, l.out.values = shapes, shapes, shapes
		l.out.tellShapes()
	}
}

// tellShapes appends a frame for each type that has been registered since it was last called.
func (w *writer) tellShapes() {
	for w.shapes != nil {
		shape, more := w.shapes.AppendShape(nil, w.told)
		if !more {
			return
		}
		w.told++
		if len(shape) > 0 {
			w.buf = append(binary.BigEndian.AppendUint32(w.buf, uint32(1+len(shape))), shapeFrame)
			w.buf = append(w.buf, shape...)
		}
	}
}

// value is a payload as a term: t, or {'$go', Binary} of it.
func (w *writer) value(t any) (any, error) {
	look := looking{left: mostExact}
	if look.exact(t) {
		return t, nil
	}
	b, err := w.values.Append(w.scratch[:0], t)
	if err != nil {
		return nil, err
	}
	if w.scratch = b; len(b) > keptScratch {
		w.scratch = nil // a long message keeps it until it is sent
	}
	return wire.Tuple{goMark, b}, nil
}

// keptScratch is below the size from which on the encoder does not copy a binary.
const keptScratch = etfcodec.ShareFrom - 1

// mostExact is how many parts of a term are looked at for whether it arrives as it is.
const mostExact = 64

// looking is one look at a term.
type looking struct {
	left int    // parts
	met  [4]any // where they begin
	n    int
}

// exact reports whether a term arrives as what it is: with the same Go types, and what it refers to twice as one.
func (l *looking) exact(t any) bool {
	if l.left--; l.left < 0 {
		return false
	}
	switch t := t.(type) {
	case int:
		return true
	case wire.Atom:
		return true
	case []byte:
		return t != nil && (len(t) < leastShared || l.once(&t[0]))
	case wire.PID:
		return !t.IsZero()
	case wire.Ref:
		return !t.IsZero()
	case float64:
		return !math.IsNaN(t) && !math.IsInf(t, 0)
	case wire.Tuple:
		if len(t) == 2 && t[0] == goMark {
			return false
		}
		return (len(t) < leastShared/16 || l.once(&t[0])) && l.exactAll(t)
	case wire.List:
		return len(t) > 0 && (len(t) < leastShared/16 || l.once(&t[0])) && l.exactAll(t)
	case wire.ImproperList:
		return len(t.Head) > 0 && isRef(t.Tail) && l.exactAll(t.Head)
	}
	return false
}

// leastShared is from how many bytes on something is sent once: see package pack. An element of a tuple has 16.
const leastShared = 64

// once reports whether no part began there before. Of many parts it does not know.
func (l *looking) once(p any) bool {
	if l.n == len(l.met) || slices.Contains(l.met[:l.n], p) {
		return false
	}
	l.met[l.n] = p
	l.n++
	return true
}

func (l *looking) exactAll(terms []any) bool {
	for _, t := range terms {
		if !l.exact(t) {
			return false
		}
	}
	return true
}

// isRef is of the tail of an alias in a request, [alias|Ref].
func isRef(t any) bool {
	ref, ok := t.(wire.Ref)
	return ok && !ref.IsZero()
}

// SetHost is part of linkopt.Hosted.
func (l *link) SetHost(n any) { l.in.host = n }

// setValues has a reader read Go values of a peer that writes them, and marks of others.
func (r *reader) setValues(v Values) {
	if v == nil {
		return
	}
	if r.flags.Has(erlflags.GoValues) {
		r.values = v
	}
	r.unmark = v.Unmark
	r.cache.isMark = v.IsMark
}

// goBinary returns the binary of {'$go', Binary} that b begins with, and what follows. False:
// it begins with another term.
func (r *reader) goBinary(b []byte) (data, rest []byte, ok bool) {
	if r.values == nil || len(b) < 4 || b[0] != tagSmallTuple || b[1] != 2 {
		return nil, nil, false
	}
	switch b = b[2:]; {
	case b[0] == tagAtomCacheRef:
		if int(b[1]) >= len(r.atoms) || r.atoms[b[1]] != any(goMark) {
			return nil, nil, false
		}
		b = b[2:]
	case b[0] == tagSmallAtom && bytes.HasPrefix(b[2:], []byte(goMark)) && int(b[1]) == len(goMark):
		b = b[2+len(goMark):]
	default:
		return nil, nil, false
	}
	if len(b) < 5 || b[0] != tagBinary {
		return nil, nil, false
	}
	n, b := uint64(binary.BigEndian.Uint32(b[1:])), b[5:]
	if n > uint64(len(b)) {
		return nil, nil, false
	}
	return b[:n], b[n:], true
}

// goValue reads the value in such a binary. What it is has no say in where the message ends, so the link goes on
// whatever is wrong with it.
func (r *reader) goValue(data []byte) any {
	v, rest, err := r.values.Decode(data, r.host)
	if err == nil && len(rest) > 0 {
		err = fmt.Errorf("%d bytes behind the end of a Go value", len(rest))
	}
	if err != nil {
		return &linkopt.Unreadable{Err: err, Term: v}
	}
	return v
}

// mayHaveMarks reports whether bytes that are not behind a distribution header may have an
// atom that is a mark: all of those begin alike.
func mayHaveMarks(b []byte) bool { return bytes.IndexByte(b, '$') >= 0 }
