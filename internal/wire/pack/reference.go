package pack

import (
	"fmt"
	"reflect"

	"github.com/actornode/actornode/internal/wire/termof"
	"github.com/actornode/actornode/wire"
)

// A reference refers to something on one node: see termof.References. It is written as a mark, the name of its kind and a
// term; in a field of a registered struct it is written like a field of type any.

// reference writes t if it is one.
func (w *writing) reference(t any, next *parts) (done, open bool, err error) {
	if !w.isExact() || !termof.IsReference(reflect.TypeOf(t)) {
		return false, false, nil
	}
	name, term, err := termof.Give(t)
	if err != nil {
		return true, false, faults.New(ErrNoTerm, "%v", err)
	}
	w.mark(2, markReference)
	if err := w.atom(name); err != nil {
		return true, false, err
	}
	return true, w.open(next, inReference, []any{term}, len(w.flat)), nil
}

// reference reads a reference, after its mark: its name; the term is the next level.
func (r *reading) reference(at, n int, next *level) (left int, err error) {
	if n != 2 {
		return 0, r.failAt(at, ErrMalformed, "a reference in %d elements, not 2", n)
	}
	name, err := r.atomHere("the kind of a reference")
	if err != nil {
		return 0, err
	}
	r.pending--
	next.kind, next.value = inReference, &openValue{name: name, standalone: r.standalone, untyped: r.untyped}
	return 1, nil
}

// closeReference returns the value of a level that is a reference. A reference of an unknown kind arrives as {'$reference',
// Kind, Term}.
func (r *reading) closeReference(l *level) any {
	v, ok, err := termof.Take(r.d.Host, l.value.name, l.slots[0])
	if ok && err != nil && r.d.Strict {
		return r.misfitted(faults.New(ErrShape, "%v", err))
	}
	if !ok || err != nil {
		return wire.Tuple{wire.Atom("$reference"), l.value.name, l.slots[0]}
	}
	return v
}

// getReference reads a field with the type of a reference.
func (r *reading) getReference(v reflect.Value) error {
	var t any
	if err := r.getAny(&t); err != nil {
		return err
	}
	if x := reflect.ValueOf(t); x.IsValid() && x.Type() == v.Type() {
		v.Set(x)
		return nil
	}
	return fmt.Errorf("a %T for a field of type %v", t, v.Type())
}
