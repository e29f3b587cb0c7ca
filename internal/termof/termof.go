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

// Enter says what values of type T stand for. It is called by init functions only.
func Enter[T any](f func(T) any) {
	entered[reflect.TypeFor[T]()] = func(v any) any { return f(v.(T)) }
}

// Of returns what a value stands for. It reports false for one that stands for nothing else.
func Of(v any) (term any, ok bool) {
	if t, ok := v.(wire.Termer); ok {
		return t.Term(), true
	}
	if f := entered[reflect.TypeOf(v)]; f != nil {
		return f(v), true
	}
	return nil, false
}

// Type returns what Enter was given for a type; nil: nothing.
func Type(t reflect.Type) func(any) any { return entered[t] }

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
