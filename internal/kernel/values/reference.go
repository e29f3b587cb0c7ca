package values

import (
	"fmt"
	"reflect"
	"strings"

	"github.com/actornode/actornode/internal/kernel/calls"
	"github.com/actornode/actornode/internal/wire/termof"
	"github.com/actornode/actornode/wire"
)

// The kinds of references of Go nodes to things on others, on the wire.
const (
	referFrom   wire.Atom = "from"   // with {Pid, Tag} as in Erlang; [] for the zero From
	referFuture wire.Atom = "future" // with {Type, Ref}: see References
)

// References are the types of package node whose values represent something on one node: From, and pointers to Future[T],
// which is in the same package. A host is the node on which one is read.
type References struct {
	From reflect.Type
	// FromTerm returns {Pid, Tag} of a From, or nil for the zero From.
	FromTerm func(from any) (term any)
	// ReadFrom is the inverse, except for nil.
	ReadFrom func(host, term any) (from any, ok bool)
	// Future returns the name of the type of a future's value, and the reference of the future on other nodes, or an error if it
	// cannot be sent.
	Future func(future any) (name string, ref wire.Ref, err error)
	// ReadFuture is the inverse.
	ReadFuture func(host any, name string, ref wire.Ref) (future any, ok bool)
}

// Entry returns the functions for package termof.
func (r *References) Entry() termof.References {
	return termof.References{Is: r.is, Give: r.give, Term: r.term, Take: r.take, Read: r.read}
}

func (r *References) is(t reflect.Type) bool {
	return t == r.From ||
		t.Kind() == reflect.Pointer && t.Elem().PkgPath() == r.From.PkgPath() && strings.HasPrefix(t.Elem().Name(), "Future[")
}

func (r *References) give(v any) (name wire.Atom, term any, err error) {
	if reflect.TypeOf(v) == r.From {
		return referFrom, r.FromTerm(v), nil
	}
	if reflect.ValueOf(v).IsNil() {
		return "", nil, fmt.Errorf("a nil %T cannot travel", v)
	}
	of, ref, err := r.Future(v)
	if err != nil {
		return "", nil, err
	}
	return referFuture, wire.Tuple{of, ref}, nil
}

func (r *References) take(host any, name wire.Atom, term any) (any, error) {
	switch name {
	case referFrom:
		if term == nil {
			return reflect.Zero(r.From).Interface(), nil
		}
		if f, ok := r.ReadFrom(host, term); ok {
			return f, nil
		}
	case referFuture:
		if t, ok := term.(wire.Tuple); ok && len(t) == 2 {
			if f, ok := r.future(host, t[0], t[1]); ok {
				return f, nil
			}
		}
	}
	return nil, fmt.Errorf("no reference of the kind %s: %s", name, wire.Format(term))
}

// future reads a future from the name of a type and a reference, if they are valid.
func (r *References) future(host, name, ref any) (any, bool) {
	of, isText := name.(string)
	id, isRef := ref.(wire.Ref)
	if !isText || !isRef || id.IsZero() {
		return nil, false
	}
	return r.ReadFuture(host, of, id)
}

// term returns a reference as sent to a node of OTP.
func (r *References) term(v any) (any, error) {
	name, term, err := r.give(v)
	if err != nil || name != referFuture {
		return term, err
	}
	of := term.(wire.Tuple)
	return wire.NewMap(termof.TypeMark, termof.FutureName, termof.FutureOf, of[0], termof.FutureRef, of[1]), nil
}

// read reads a reference that has been at a node of OTP.
func (r *References) read(host any, t reflect.Type, term any) (any, error) {
	if t == r.From {
		if wire.Equal(term, calls.GoFrom(wire.PID{})) {
			term = nil
		}
		return r.take(host, referFrom, term)
	}
	if term == any(wire.AtomUndefined) {
		return reflect.Zero(t).Interface(), nil
	}
	m, _ := term.(wire.Map)
	f := r.readMap(host, m)
	if reflect.TypeOf(f) != t {
		return nil, fmt.Errorf("no %v: %s", t, wire.Format(term))
	}
	return f, nil
}

// readMap returns the future for a map made by term; another map is returned unchanged.
func (r *References) readMap(host any, m wire.Map) any {
	mark, _ := m.Get(termof.TypeMark)
	of, _ := m.Get(termof.FutureOf)
	ref, _ := m.Get(termof.FutureRef)
	if name, isText := wire.AsText(of); isText && mark == termof.FutureName && m.Len() == 3 {
		if f, ok := r.future(host, name, ref); ok {
			return f
		}
	}
	return m
}
