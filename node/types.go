package node

import (
	"errors"
	"fmt"
	"math/big"
	"reflect"
	"slices"
	"time"

	"github.com/actornode/actornode/internal/kernel/values"
	"github.com/actornode/actornode/wire"
)

// ErrType says that a Go type, or an error, cannot be registered, or not so.
var ErrType = errors.New("node: cannot be registered")

// Types are the Go types and errors that travel to other nodes as themselves. The zero value is empty and ready to use;
// many goroutines may use it at once; it must not be copied.
type Types struct {
	all    values.Registry
	makers values.Makers[*maker]
}

// Type is a type or an error to register: see [TypeOf] and [ErrorOf].
type Type struct{ register func(*Types) error }

// registered are the types of all nodes whose Distribution has none of its own.
var registered Types

// RegisterTypes makes Go types, and errors, known to all nodes of the program whose
// Distribution.Types is nil. It is meant for init functions, and panics where
// [Types.Register] returns an error.
func RegisterTypes(all ...Type) {
	if err := registered.Register(all...); err != nil {
		panic(err)
	}
}

// Register makes Go types, and errors, known to the nodes that have t as Distribution.Types. The error is [ErrType] and
// says why: a name or a type is taken, or a type holds what cannot travel. What comes before it in the list stays
// registered.
func (t *Types) Register(all ...Type) error {
	for _, one := range all {
		if err := one.register(t); err != nil {
			return fmt.Errorf("%w: %w", ErrType, err)
		}
	}
	return nil
}

// TypeOf is the type T, and the pointer to T, under a name that means the same on every node, such as "shop.Order". The
// default is the last element of the package's path, a dot, and the type's name. The exported fields of a struct
// travel, except those tagged `etf:"-"`, which go to no other node of any kind.
func TypeOf[T any](name ...string) Type {
	return Type{func(t *Types) error {
		as, err := values.AddType[T](&t.all, name...)
		if err != nil {
			return err
		}
		t.makers.Add(append(makersOf[T](as), made[*T]("*"+as))...)
		return nil
	}}
}

// ErrorOf is an error that programs compare with, such as io.EOF, under a name that means the same on every node, of 1
// to 255 bytes of UTF-8. The default is the error's text. An error that wraps it on one node does so on others:
// errors.Is finds it.
func ErrorOf(err error, name ...string) Type {
	return Type{func(t *Types) error { return t.all.AddError(err, name...) }}
}

// maker makes the generic types of package node for one type argument.
type maker struct {
	request func(body any, from From) any // a Request[T]
	cast    func(body any) any            // a Cast[T]
	future  func(n *Node, ref Ref) any    // a *Future[T]
	name    string                        // of T, in a future that travels
	ofIt    *maker                        // of *Future[T], which makes no futures; nil: of such a maker
}

// makersOf are the makers of T, which is called name, of []T and of map[string]T.
func makersOf[T any](name string) []values.MadeOf[*maker] {
	return []values.MadeOf[*maker]{made[T](name), made[[]T]("[]" + name), made[map[string]T]("map[string]" + name)}
}

func made[T any](name string) values.MadeOf[*maker] {
	m := bodyMaker[T]()
	m.name, m.future, m.ofIt = name, newFarFuture[T], bodyMaker[*Future[T]]()
	return values.MadeOf[*maker]{Type: reflect.TypeFor[T](), Name: name, Maker: m}
}

// bodyMaker makes what has a T as its body.
func bodyMaker[T any]() *maker {
	return &maker{
		request: func(body any, from From) any { return Request[T]{body.(T), from} },
		cast:    func(body any) any { return Cast[T]{body.(T)} },
	}
}

// builtin are the makers of the types that every node knows.
var builtin values.Makers[*maker]

func builtinOf[T any]() []values.MadeOf[*maker] { return makersOf[T](reflect.TypeFor[T]().String()) }

func init() {
	builtin.Add(slices.Concat(
		builtinOf[bool](), builtinOf[string](), builtinOf[any](),
		builtinOf[int](), builtinOf[int8](), builtinOf[int16](), builtinOf[int32](), builtinOf[int64](),
		builtinOf[uint](), builtinOf[uint8](), builtinOf[uint16](), builtinOf[uint32](), builtinOf[uint64](),
		builtinOf[float32](), builtinOf[float64](), builtinOf[*big.Int](),
		builtinOf[time.Time](), builtinOf[time.Duration](),
		builtinOf[From](), builtinOf[wire.At](), builtinOf[wire.PID](), builtinOf[wire.Ref](), builtinOf[wire.Port](),
		builtinOf[wire.Fun](), builtinOf[wire.Export](), builtinOf[wire.Atom](), builtinOf[wire.Tuple](), builtinOf[wire.List](),
		builtinOf[wire.ImproperList](), builtinOf[wire.Charlist](), builtinOf[wire.Map](), builtinOf[wire.Bitstring](),
	)...)
}

// of returns the maker of a type; false: it is not known.
func (t *Types) of(typ reflect.Type) (*maker, bool) {
	if m, ok := builtin.Of(typ); ok {
		return m, true
	}
	return t.makers.Of(typ)
}

// named returns the maker of the type that has a name; false: it is not known.
func (t *Types) named(name string) (*maker, bool) {
	if m, ok := builtin.Named(name); ok {
		return m, true
	}
	return t.makers.Named(name)
}

// maker returns the maker for the type of a body. For a nil body, and one of an unknown type, it is that of any.
func (t *Types) maker(body any) *maker {
	if m, ok := t.of(reflect.TypeOf(body)); ok {
		return m
	}
	if f, ok := body.(anyFuture); ok {
		if m, ok := t.of(f.kind()); ok {
			return m.ofIt
		}
	}
	return &ofAny
}

// ofAny is the maker of the type any. It takes nil, too, which no type assertion accepts.
var ofAny = maker{
	request: func(body any, from From) any { return Request[any]{body, from} },
	cast:    func(body any) any { return Cast[any]{body} },
	future:  newFarFuture[any],
}
