package values

import (
	"reflect"

	"github.com/actornode/actornode/internal/wire/termof"
	"github.com/actornode/actornode/wire"
	"github.com/actornode/actornode/wire/etf"
)

// TaggedKind is a struct that represents a tuple.
type TaggedKind struct {
	termof.Shape
	typ reflect.Type
}

// TaggedOf returns the kind of a type, and false if it has no tag with its first atom.
func TaggedOf(t reflect.Type) (TaggedKind, bool) {
	s, ok := termof.ShapeOf(t)
	return TaggedKind{s, t}, ok
}

// Fits reports whether a term has the first atom and the number of elements.
func (k TaggedKind) Fits(term wire.Tuple) bool {
	if len(term) != k.Arity {
		return false
	}
	switch first := term[0].(type) {
	case wire.Atom:
		return first == k.First
	case bool:
		return first && k.First == wire.AtomTrue || !first && k.First == wire.AtomFalse
	}
	return false
}

// Read stores a term in what into points to; host is the node that has it, for the references in it. It returns false if the
// term is not of that kind, or an element does not fit; part of it may be stored by then.
func (k TaggedKind) Read(host any, term wire.Tuple, into any) bool {
	return k.Fits(term) && etf.FromTerm(termof.Hosted{Term: term, Host: host}, into) == nil
}

// Misfit returns why a term with the first atom of the kind is not of the kind: the field that does not fit, its type and the
// element. It returns nil if the term has another first atom, or is of the kind.
func (k TaggedKind) Misfit(host any, term wire.Tuple) error {
	if len(term) == 0 || !k.Fits(append(wire.Tuple{term[0]}, make(wire.Tuple, k.Arity-1)...)) {
		return nil
	}
	return etf.FromTerm(termof.Hosted{Term: term, Host: host}, reflect.New(k.typ).Interface())
}

// Value is Read into a new value, which it returns.
func (k TaggedKind) Value(host any, term wire.Tuple) (v any, ok bool) {
	if !k.Fits(term) {
		return nil, false
	}
	p := reflect.New(k.typ)
	if !k.Read(host, term, p.Interface()) {
		return nil, false
	}
	return p.Elem().Interface(), true
}
