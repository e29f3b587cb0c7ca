package pack

import (
	"reflect"

	"github.com/actornode/actornode/wire"
)

// A message is written as a tree. Data that refers to itself would have no end, so from a depth that few messages have, the
// pointers, maps and slices around the current value are remembered, and one that is met again is refused. Data that is
// referred to several times is written each time, up to the maximum length of a message.

// From this depth the data around a value is remembered: levels of Go values, of terms, and of registered values in fields
// of type any.
const (
	deepGo    = 100
	deepTerms = 100
	deepInner = 4
)

// MaxMessage is the default of [Encoder].Message.
const MaxMessage = 256 << 20

// message writes a top-level term.
func (w *writing) message(t any) error {
	w.base, w.most = len(w.dst), MaxMessage
	if w.Message > 0 {
		w.most = w.Message
	}
	return w.all(t)
}

// room returns an error if the message is longer than allowed.
func (w *writing) room() error {
	if len(w.dst)-w.base+w.cutBytes <= w.most {
		return nil
	}
	return w.tooLong()
}

// tooLong is separate so that room is inlined.
func (w *writing) tooLong() error {
	return faults.New(ErrLimit, "a message of more than %d bytes, the most that are allowed; data that a message refers to several "+
		"times is sent each time", w.most)
}

// place is data that a value refers to.
type place struct {
	p   any // a pointer, or a wire.Map
	typ reflect.Type
	n   int // elements; 0 for pointers and maps
}

// enter remembers data until leave, and refuses data that is remembered already.
func (w *writing) enter(at place) error {
	if w.around[at] {
		return faults.New(ErrNoTerm, "a cycle: this %s refers to itself", nounOf(at.typ))
	}
	if w.around == nil {
		w.around = map[place]bool{}
	}
	w.around[at] = true
	return nil
}

func (w *writing) leave(at place) { delete(w.around, at) }

func nounOf(typ reflect.Type) string {
	switch typ {
	case tupleType:
		return "tuple"
	case listType:
		return "list"
	case mapType:
		return "map"
	}
	return typ.String()
}

var (
	tupleType = reflect.TypeFor[wire.Tuple]()
	listType  = reflect.TypeFor[wire.List]()
	mapType   = reflect.TypeFor[wire.Map]()
)

// place returns what a compound term refers to.
func (l *parts) place() place {
	switch l.kind {
	case inMap:
		return place{l.first, mapType, 0}
	case inTuple:
		return place{reflect.ValueOf(l.terms).UnsafePointer(), tupleType, len(l.terms)}
	}
	return place{reflect.ValueOf(l.terms).UnsafePointer(), listType, len(l.terms)}
}

// putDeep is putParts for a deeply nested value.
func (w *writing) putDeep(pl *plan, v reflect.Value, depth int) error {
	n, refers := 0, false
	switch pl.op {
	case opPointer, opMap:
		refers = !v.IsNil()
	case opSlice:
		n = v.Len()
		refers = n > 0
	}
	if !refers {
		return w.putParts(pl, v, depth)
	}
	at := place{v.UnsafePointer(), pl.typ, n}
	if err := w.enter(at); err != nil {
		return err
	}
	err := w.putParts(pl, v, depth)
	w.leave(at)
	return err
}
