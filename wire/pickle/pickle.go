package pickle

import (
	"errors"
	"fmt"
	"slices"

	"github.com/actornode/actornode/wire"
)

// ErrMismatch is the error for a term that does not match the requested type.
var ErrMismatch = errors.New("pickle: the term does not fit")

func mismatch(term any, want string) error {
	return fmt.Errorf("%w: got %s, want %s", ErrMismatch, wire.Formatter{Max: 80}.Format(term), want)
}

// Pickler turns values of T into terms and back. The zero Pickler is not usable.
type Pickler[T any] struct {
	term  func(v T) any
	value func(term any) (T, error)
}

// Term returns the term for a value.
func (p Pickler[T]) Term(v T) any { return p.term(v) }

// Set sets v to the value of a term. The error is [ErrMismatch] with what was found, what was expected, and where, or the
// error of a function of [Wrap].
func (p Pickler[T]) Set(term any, v *T) error {
	x, err := p.value(term)
	if err == nil {
		*v = x
	}
	return err
}

// Basic returns the pickler of a type that is a term itself. A string is written as a binary and read by [wire.AsText]; a
// float64 may be read from an integer.
func Basic[T bool | int | float64 | string | []byte | wire.Atom | wire.PID | wire.Ref]() Pickler[T] {
	return Pickler[T]{
		term: func(v T) any { return v },
		value: func(term any) (T, error) {
			v, ok := term.(T)
			if !ok {
				ok = read(term, &v)
			}
			if !ok {
				return v, mismatch(term, fmt.Sprintf("a term for %T", v))
			}
			return v, nil
		},
	}
}

// read converts a term that is not a value of a basic type, but represents one; into points to that value.
func read(term, into any) (ok bool) {
	switch v := into.(type) {
	case *bool:
		*v, ok = wire.AsBool(term)
	case *int:
		n, isInt := wire.AsInt(term)
		*v, ok = int(n), isInt && int64(int(n)) == n
	case *float64:
		n, isInt := wire.AsInt(term)
		*v, ok = float64(n), isInt
	case *string:
		*v, ok = wire.AsText(term)
	case *[]byte:
		text, isString := term.(string)
		*v, ok = []byte(text), isString
	}
	return ok
}

// Wrap returns the pickler of a type B that is converted to and from an A, such as an identifier from a number, or a time
// from its text.
func Wrap[A, B any](p Pickler[A], to func(A) (B, error), from func(B) A) Pickler[B] {
	return Pickler[B]{
		term: func(v B) any { return p.term(from(v)) },
		value: func(term any) (v B, err error) {
			a, err := p.value(term)
			if err != nil {
				return v, err
			}
			return to(a)
		},
	}
}

// List returns the pickler of a slice. An empty list is read as nil.
func List[T any](p Pickler[T]) Pickler[[]T] {
	return Pickler[[]T]{
		term: func(all []T) any {
			l := make(wire.List, len(all))
			for i, v := range all {
				l[i] = p.term(v)
			}
			return l
		},
		value: func(term any) (all []T, err error) {
			l, ok := wire.AsList(term)
			if !ok {
				return nil, mismatch(term, "a list")
			}
			for i, t := range l {
				v, err := p.value(t)
				if err != nil {
					return nil, fmt.Errorf("element %d: %w", i, err)
				}
				all = append(all, v)
			}
			return all, nil
		},
	}
}

// Option returns the pickler of a pointer that may be nil; nil is undefined.
func Option[T any](p Pickler[T]) Pickler[*T] {
	return Pickler[*T]{
		term: func(v *T) any {
			if v == nil {
				return wire.AtomUndefined
			}
			return p.term(*v)
		},
		value: func(term any) (*T, error) {
			if term == wire.AtomUndefined {
				return nil, nil
			}
			v, err := p.value(term)
			if err != nil {
				return nil, err
			}
			return &v, nil
		},
	}
}

// Field is a part of a struct T.
type Field[T any] struct {
	term func(v *T) any
	set  func(term any, v *T) error
}

// Part returns a part of a struct; at returns its address, such as the address of a field.
func Part[T, A any](at func(*T) *A, p Pickler[A]) Field[T] {
	return Field[T]{
		term: func(v *T) any { return p.term(*at(v)) },
		set:  func(term any, v *T) error { return p.Set(term, at(v)) },
	}
}

// Tuple returns the pickler of a struct: {Tag, Part, …}, or {Part, …} without a tag.
func Tuple[T any](tag wire.Atom, parts ...Field[T]) Pickler[T] {
	var head wire.Tuple
	if tag != "" {
		head = wire.Tuple{tag}
	}
	return Pickler[T]{
		term: func(v T) any {
			t := append(make(wire.Tuple, 0, len(head)+len(parts)), head...)
			for _, part := range parts {
				t = append(t, part.term(&v))
			}
			return t
		},
		value: func(term any) (v T, err error) {
			t, ok := term.(wire.Tuple)
			if !ok || len(t) != len(head)+len(parts) || len(head) == 1 && t[0] != any(tag) {
				return v, mismatch(term, fmt.Sprintf("a tuple with %d elements%s", len(head)+len(parts), after(tag)))
			}
			for i, part := range parts {
				if err := part.set(t[len(head)+i], &v); err != nil {
					return *new(T), fmt.Errorf("part %d of %T: %w", i+1, v, err)
				}
			}
			return v, nil
		},
	}
}

func after(tag wire.Atom) string {
	if tag == "" {
		return ""
	}
	return ", the first " + wire.Format(tag)
}

// Choice is one of the types that values of the interface I have.
type Choice[I any] struct {
	tag   wire.Atom
	term  func(v I) (any, bool)
	value func(term any) (I, error)
}

// Case returns the choice for values of type A, which must implement I; otherwise it panics.
func Case[I, A any](tag wire.Atom, p Pickler[A]) Choice[I] {
	var none A
	if _, ok := any(none).(I); !ok {
		panic(fmt.Sprintf("pickle: Case: %T is not one of the interface's types", none))
	}
	return Choice[I]{
		tag: tag,
		term: func(v I) (any, bool) {
			a, ok := any(v).(A)
			if !ok {
				return nil, false
			}
			return p.term(a), true
		},
		value: func(term any) (none I, err error) {
			a, err := p.value(term)
			if err != nil {
				return none, err
			}
			return any(a).(I), nil
		},
	}
}

// OneOf returns the pickler of an interface: {Tag, Term}, by the type of the value. Term panics for a value of any other
// type.
func OneOf[I any](choices ...Choice[I]) Pickler[I] {
	return Pickler[I]{
		term: func(v I) any {
			for _, c := range choices {
				if t, ok := c.term(v); ok {
					return wire.Tuple{c.tag, t}
				}
			}
			panic(fmt.Sprintf("pickle: OneOf: there is no choice for a %T", v))
		},
		value: func(term any) (none I, err error) {
			if t, ok := term.(wire.Tuple); ok && len(t) == 2 {
				i := slices.IndexFunc(choices, func(c Choice[I]) bool { return any(c.tag) == t[0] })
				if i >= 0 {
					return choices[i].value(t[1])
				}
			}
			return none, mismatch(term, "{Tag, Term} with the tag of a choice")
		},
	}
}
