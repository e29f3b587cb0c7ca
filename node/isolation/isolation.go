package isolation

import (
	"errors"
	"fmt"

	"github.com/actornode/actornode/internal/kernel/deepcopy"
	"github.com/actornode/actornode/internal/wire/termof"
)

// Immutable marks a type whose values nobody ever changes: they are shared, and not compared. The
// method does nothing.
type Immutable interface{ Immutable() }

// Error says which part of a value cannot be copied.
type Error struct {
	Type string // its type
	Path string // where it is in the value, such as .Items[2].Done; "" for the value itself
	Why  string
}

func (e *Error) Error() string {
	where := "it"
	if e.Path != "" {
		where = e.Path
	}
	return fmt.Sprintf("isolation: cannot copy: %s is a %s: %s", where, e.Type, e.Why)
}

// Copy copies a value with everything mutable that it refers to: see the package comment. The error is
// an [*Error].
func Copy[T any](v T) (T, error) {
	now, err := deepcopy.Of(v)
	return now, refusal(err)
}

// refusal turns an error of package deepcopy into an Error.
func refusal(err error) error {
	var e *deepcopy.Error
	if errors.As(err, &e) {
		return &Error{Type: e.Type.String(), Path: e.Path, Why: e.Why}
	}
	return err
}

// Shared is a value that many processes can have at once, and that none changes. It can be copied and sent. Another
// node gets the value: there the message is a T, not a Shared. A field of a registered struct cannot be
// a Shared. The zero Shared has the zero T.
type Shared[T any] struct{ v *T }

// Share returns a Shared with a value. It does not copy the value: the caller must not change it afterwards.
func Share[T any](v T) Shared[T] { return Shared[T]{&v} }

// Get returns the value, which must not be changed.
func (s Shared[T]) Get() T {
	if s.v == nil {
		var none T
		return none
	}
	return *s.v
}

// Edit returns an editor that begins with the value. Nothing is copied before the first change.
func (s Shared[T]) Edit() *Editor[T] { return &Editor[T]{now: s} }

// Immutable is part of the interface [Immutable].
func (s Shared[T]) Immutable() {}

// Inside is for packages of this module: it returns the value.
func (s Shared[T]) Inside(termof.Key) any { return s.Get() }

func init() {
	termof.EnterAll(func(s termof.Holder) any { return s.Inside(termof.Key{}) }) // for values inside terms
}

// Editor changes a value whose old state others may have: it copies the value before the first change, and before
// the first change after each Share. It belongs to one goroutine.
type Editor[T any] struct {
	now Shared[T]
	own bool // nobody else has it
}

// Get returns the current value. Change it only with Edit, and do not keep it beyond the next Edit.
func (e *Editor[T]) Get() T { return e.now.Get() }

// Edit calls change with the value, a copy if others may have it. The pointer is not valid afterwards. If the value cannot
// be copied, change is not called, and the error is an [*Error].
func (e *Editor[T]) Edit(change func(*T)) error {
	if !e.own {
		v, err := Copy(e.now.Get())
		if err != nil {
			return err
		}
		e.now, e.own = Share(v), true
	}
	change(e.now.v)
	return nil
}

// Share returns the current value, for others. Nothing is copied before the next Edit.
func (e *Editor[T]) Share() Shared[T] {
	e.own = false
	return e.now
}
