package pack

import (
	"errors"
	"fmt"
	"reflect"
	"sync"

	"github.com/actornode/actornode/wire"
)

// TypeKey is the key of the type's name, a string, in the wire.Map that represents a value of an unknown or different type:
// the other pairs are its fields, with their names as strings as keys. A value that is not a struct has the key ValueKey.
const (
	TypeKey  wire.Atom = "$type"
	ValueKey wire.Atom = "$value"
)

// ErrType means that a Go type cannot be registered, or not under that name.
var ErrType = errors.New("pack: type not registered")

// Types are registered Go types: a value of one arrives as a value of the type with the same name at the receiver, and a
// pointer to one as a pointer. The zero value is ready to use, also concurrently.
type Types struct {
	mu    sync.Mutex // held while adding to table
	table table
}

type table struct {
	byType Map[reflect.Type, *goType]
	byName Map[wire.Atom, *goType]

	exactByType Map[reflect.Type, *goType] // types with an expression that have been sent or received
	exactByName Map[wire.Atom, *goType]
}

// goType is a registered type.
type goType struct {
	name wire.Atom
	typ  reflect.Type
	plan *plan
	Conversion
}

// Register registers T, and pointers to T, under a name with the same meaning on every node, such as "shop.Order". Exported
// fields are sent, under their names or their tags `msgpack:"…"`; doc.go lists the allowed types. The error is [ErrType]
// with the reason: the name or the type is already registered, or the type contains something that cannot be sent.
func Register[T any](t *Types, name string) error {
	return t.register(reflect.TypeFor[T](), name, Conversion{})
}

// RegisterAs is Register for a type whose values are converted when they are sent or received.
func RegisterAs[T any](t *Types, name string, c Conversion) error {
	return t.register(reflect.TypeFor[T](), name, c)
}

// Conversion converts values of a type, or pointers to one, unless they are in fields of that type. A nil function does
// nothing.
type Conversion struct {
	Out func(v any) any // before writing; returns a value of the same type
	In  func(v any) any // after reading
	// Lenient replaces a value that does not fit its type, within a value of this type, by an error, instead of making the
	// message unreadable: see [Decoder].Strict.
	Lenient bool
}

func (t *Types) register(typ reflect.Type, name string, c Conversion) error {
	fail := func(format string, args ...any) error {
		return fmt.Errorf("%w: %v as %.40q: %s", ErrType, typ, name, fmt.Sprintf(format, args...))
	}
	g := &goType{name: wire.Atom(name), typ: typ, Conversion: c}
	switch {
	case name == "" || !validAtom(g.name):
		return fail("a name must be UTF-8 of 1 to %d characters", wire.MaxAtomRunes)
	case typ.Name() == "":
		return fail("the type has no name of its own (for a pointer register what it points to)")
	case isTerm(reflect.Zero(typ).Interface()):
		return fail("values of the type are terms already")
	}
	var err error
	if g.plan, err = planOf(typ); err != nil {
		return fail("%v", err)
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if o := t.table.byName.Of(g.name); o != nil && o.typ != typ {
		return fail("the name is that of %v", o.typ)
	}
	switch o := t.table.byType.Of(typ); {
	case o == nil:
		t.table.byName.Add(g.name, g)
		t.table.byType.Add(typ, g)
	case o.name != g.name:
		return fail("the type has the name %q", string(o.name))
	}
	return nil
}

// of returns the registered type of v, or of its target.
func (t *Types) of(v any) (g *goType, pointer bool) {
	if t == nil {
		return nil, false
	}
	typ := reflect.TypeOf(v)
	if g := t.table.byType.Of(typ); g != nil || typ.Kind() != reflect.Pointer {
		return g, false
	}
	return t.table.byType.Of(typ.Elem()), true
}

// named returns the type with a name, or nil.
func (t *Types) named(name wire.Atom) *goType {
	if t == nil {
		return nil
	}
	return t.table.byName.Of(name)
}

// maxInner is the maximum nesting depth of values of registered types in fields of type any, because each level may be read
// twice.
const maxInner = 32

// registered writes t if it is of a registered type.
func (w *writing) registered(t any) (done bool, err error) {
	g, pointer := w.Types.of(t)
	if g == nil {
		return false, nil
	}
	v := reflect.ValueOf(t)
	if g.Out != nil && !(pointer && v.IsNil()) {
		t = g.Out(t)
		v = reflect.ValueOf(t)
	}
	switch {
	case !pointer:
		w.mark(2, markValue)
	case v.IsNil():
		w.mark(1, markPointer)
	default:
		w.mark(2, markPointer)
	}
	if err := w.atom(g.name); err != nil {
		return true, err
	}
	switch {
	case !pointer:
		err = w.boxed(g.plan, v)
	case !v.IsNil():
		err = w.value(g.plan, v.Elem())
	}
	return true, w.of(g, err)
}

// of adds the name of a type to the path of an error in a value of it.
func (w *writing) of(g *goType, err error) error {
	switch {
	case err == nil:
		return nil
	case w.nested || w.inner > 0:
		return faults.Within("("+string(g.name)+")", err)
	}
	return faults.Within(string(g.name), err)
}

// openValue is a level for a value of an unknown type, or a term in a field of type any of one.
type openValue struct {
	name                wire.Atom
	standalone, untyped bool    // the previous state of reading
	end                 int     // the offset at which a term must end
	misfit              *misfit // nil unless the value does not fit its type
}

// value reads a registered value, after its mark.
func (r *reading) value(at int, pointer bool, n int, next *level) (left int, v any, err error) {
	if n != 2 && !(n == 1 && pointer) {
		return 0, nil, r.failAt(at, ErrMalformed, "a value of a Go type in %d elements, not 2", n)
	}
	name, err := r.atomHere("the name of a type")
	if err != nil {
		return 0, nil, err
	}
	r.pending--
	g := r.d.Types.named(name)
	switch {
	case g != nil && n == 1:
		return 0, reflect.Zero(reflect.PointerTo(g.typ)).Interface(), nil
	case n == 1:
		return 0, unknown(name, nil), nil
	}
	untyped, misfits := r.untyped, false
	if g != nil && !untyped {
		was := r.misfit
		v, ok, err := r.goValue(at, g.plan, pointer)
		if ok && g.Lenient {
			r.misfit = was
		}
		if ok && g.In != nil && v != nil {
			v = g.In(v)
		}
		if ok || err != nil {
			return 0, v, err
		}
		r.untyped, misfits = true, r.d.Strict
	}
	next.kind, next.value = inValue, &openValue{name: name, standalone: r.standalone, untyped: untyped}
	if misfits {
		next.value.misfit = r.misfits(g)
	}
	r.standalone = true
	return 1, nil, nil
}

// goValue reads a value of a known type. ok is false if the value does not have that type; then nothing has been read.
func (r *reading) goValue(at int, pl *plan, pointer bool) (v any, ok bool, err error) {
	if pointer {
		p := reflect.New(pl.typ)
		if ok, err = r.typed(at, pl, p.Elem()); ok {
			v = p.Interface()
		}
		return v, ok, err
	}
	spare := pl.spare.Get()
	p := reflect.ValueOf(spare)
	if ok, err = r.typed(at, pl, p.Elem()); ok {
		v = p.Elem().Interface()
	}
	p.Elem().SetZero()
	pl.spare.Put(spare)
	return v, ok, err
}

// term opens the level of a term of n bytes in a field of type any.
func (r *reading) term(n int, next *level) (v any, open bool, err error) {
	if err := r.expect(r.pos, "a term", 1); err != nil {
		return nil, false, err
	}
	value := &openValue{standalone: r.standalone, untyped: r.untyped, end: r.pos + n}
	*next = level{kind: inTerm, slots: make([]any, 1), value: value}
	r.standalone = true
	return nil, true, nil
}

// closeValue returns the term of a level that is an openValue.
func (r *reading) closeValue(l *level) (any, error) {
	r.standalone, r.untyped = l.value.standalone, l.value.untyped
	if l.value.misfit != nil {
		return r.doesNotFit(l.value.misfit, l.slots[0]), nil
	}
	switch l.kind {
	case inTyped:
		return l.slots[0], nil
	case inTerm:
		if r.pos != l.value.end {
			return nil, r.failAt(r.pos, ErrMalformed, "expected a term in a field to end at offset %d, as its length says", l.value.end)
		}
		return l.slots[0], nil
	}
	return unknown(l.value.name, l.slots[0]), nil
}

// unknown returns the representation of a value of an unknown type.
func unknown(name wire.Atom, v any) any {
	m, ok := v.(wire.Map)
	if !ok {
		m = wire.NewMap(ValueKey, v)
	}
	m.Put(TypeKey, string(name))
	return m
}
