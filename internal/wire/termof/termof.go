// Package termof returns the terms that represent Go values: values with a method Term ([wire.Termer]), and values of this
// module's own types that are registered here and have no such public method. Encoders, logs and exit reasons use it.
//
// # Invariants
//
//  1. Types are registered only during package initialization, so the table is read without a lock.
//
// # Goroutines
//
// None.
package termof

import (
	"errors"
	"reflect"

	"github.com/actornode/actornode/wire"
)

var entered = make(map[reflect.Type]func(any) any)

// generic has the functions of types that are registered by an interface.
var generic []byInterface

type byInterface struct {
	typ  reflect.Type
	term func(v any) (term any, ok bool)
}

// Enter registers the term of values of type T. It is called only by init functions.
func Enter[T any](f func(T) any) {
	entered[reflect.TypeFor[T]()] = func(v any) any { return f(v.(T)) }
}

// EnterAll registers the term of values of all types that implement the interface I, for generic types, which Enter cannot
// name. It is called only by init functions.
func EnterAll[I any](f func(I) any) {
	generic = append(generic, byInterface{reflect.TypeFor[I](), func(v any) (any, bool) {
		if v, ok := v.(I); ok {
			return f(v), true
		}
		return nil, false
	}})
}

// Of returns the term of a value, or false if the value has none.
func Of(v any) (term any, ok bool) {
	if t, ok := v.(wire.Termer); ok {
		return t.Term(), true
	}
	if f := entered[reflect.TypeOf(v)]; f != nil {
		return f(v), true
	}
	for _, g := range generic {
		if term, ok := g.term(v); ok {
			return term, true
		}
	}
	return nil, false
}

// Type returns the function registered for a type, or nil.
func Type(t reflect.Type) func(any) any {
	if f := entered[t]; f != nil {
		return f
	}
	for _, g := range generic {
		if t.Implements(g.typ) {
			return func(v any) any {
				term, _ := g.term(v)
				return term
			}
		}
	}
	return nil
}

// Error returns the term of an error, or of the first error that it wraps and that has one.
func Error(err error) (term any, ok bool) {
	if term, ok := wrapped(err); ok {
		return term, true
	}
	var own interface { // for an error with a method As
		error
		wire.Termer
	}
	if errors.As(err, &own) {
		return own.Term(), true
	}
	return nil, false
}

func wrapped(err error) (term any, ok bool) {
	if term, ok := Of(err); ok {
		return term, true
	}
	switch e := err.(type) {
	case interface{ Unwrap() error }:
		if inner := e.Unwrap(); inner != nil {
			return wrapped(inner)
		}
	case interface{ Unwrap() []error }:
		for _, inner := range e.Unwrap() {
			if inner == nil {
				continue
			}
			if term, ok := wrapped(inner); ok {
				return term, true
			}
		}
	}
	return nil, false
}

// Atoms returns names as a list of atoms.
func Atoms[S ~[]E, E ~string](names S) wire.List {
	l := make(wire.List, len(names))
	for i, name := range names {
		l[i] = wire.Atom(name)
	}
	return l
}

func init() { Enter(func(a wire.At) any { return wire.Tuple{a.Name, a.Node} }) }

var errorReaders []func(term any) error

// EnterError registers a function that reads an error of this module from its term, and returns nil for any other term. It
// is called only by init functions.
func EnterError(read func(term any) error) { errorReaders = append(errorReaders, read) }

// ReadError returns the error for a term, or nil if no registered function knows it.
func ReadError(term any) error {
	for _, read := range errorReaders {
		if err := read(term); err != nil {
			return err
		}
	}
	return nil
}
