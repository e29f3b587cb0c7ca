// Package termof says which terms Go values stand for: those with a method Term
// ([wire.Termer]), and those of this module's own types that are entered here and show programs
// no such method. Encoders, logs and the reasons of errors ask it.
//
// # Invariants
//
//  1. Types are entered while packages are initialized, and never afterwards: so the table is
//     read without a lock.
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

// generic says what the types stand for that are entered by an interface.
var generic []byInterface

type byInterface struct {
	typ  reflect.Type
	term func(v any) (term any, ok bool)
}

// Enter says what values of type T stand for. It is called by init functions only.
func Enter[T any](f func(T) any) {
	entered[reflect.TypeFor[T]()] = func(v any) any { return f(v.(T)) }
}

// EnterAll says what values of all types stand for that have the methods of the interface I: of
// generic types, which Enter cannot name. It is called by init functions only.
func EnterAll[I any](f func(I) any) {
	generic = append(generic, byInterface{reflect.TypeFor[I](), func(v any) (any, bool) {
		if v, ok := v.(I); ok {
			return f(v), true
		}
		return nil, false
	}})
}

// Of returns what a value stands for. It reports false for one that stands for nothing else.
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

// Type returns what says what values of a type stand for, if it was entered; nil: it was not.
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

// Error returns what an error, or the first one that it wraps and that stands for a term,
// stands for.
func Error(err error) (term any, ok bool) {
	if term, ok := wrapped(err); ok {
		return term, true
	}
	var own interface { // of an error that says by a method As what it is
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

// EnterError says how an error of this module is read from the term that it stands for; nil: a term is
// none of its. It is called by init functions only.
func EnterError(read func(term any) error) { errorReaders = append(errorReaders, read) }

// ReadError returns the error that a term stands for, nil: none that was entered.
func ReadError(term any) error {
	for _, read := range errorReaders {
		if err := read(term); err != nil {
			return err
		}
	}
	return nil
}
