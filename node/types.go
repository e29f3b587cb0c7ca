package node

import (
	"errors"
	"fmt"
	"math/big"
	"reflect"
	"sync"
	"time"

	"github.com/actornode/actornode/internal/pack"
	"github.com/actornode/actornode/node/internal/gotypes"
	"github.com/actornode/actornode/wire"
)

// ErrType: a Go type, or an error, that cannot be registered, or not so.
var ErrType = errors.New("node: cannot be registered")

// Types are the Go types, and the errors, that travel to other nodes as themselves. The zero
// value is empty and ready to use; many goroutines may use it at once; it must not be copied.
type Types struct {
	codec pack.Types
	all   gotypes.Registry[maker]
	named sync.Map // the makers by their names
}

// Type is something to be registered: see [TypeOf] and [ErrorOf].
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

// Register makes Go types, and errors, known to the nodes that have t as Distribution.Types.
// The error is [ErrType] and says why: a name or a type is taken, or a type holds what cannot
// travel. What stands before it in the list is registered then.
func (t *Types) Register(all ...Type) error {
	for _, one := range all {
		if err := one.register(t); err != nil {
			return fmt.Errorf("%w: %w", ErrType, err)
		}
	}
	return nil
}

// TypeOf is the type T, and the pointer to T, under a name that says the same on every node,
// such as "shop.Order". The default is the last element of the package's path, a dot, and the
// type's name. The exported fields of a struct travel.
func TypeOf[T any](name ...string) Type {
	return Type{func(t *Types) error {
		typ := reflect.TypeFor[T]()
		as, err := gotypes.Name(typ, name)
		if err != nil {
			return err
		}
		if err := pack.Register[T](&t.codec, as); err != nil {
			return err
		}
		makers := map[reflect.Type]maker{
			typ:                             makerOf[T](as),
			reflect.PointerTo(typ):          makerOf[*T]("*" + as),
			reflect.SliceOf(typ):            makerOf[[]T]("[]" + as),
			reflect.TypeFor[map[string]T](): makerOf[map[string]T]("map[string]" + as),
		}
		for _, m := range makers {
			t.named.Store(m.name, m)
		}
		t.all.AddNamed(typ, as, makers)
		return nil
	}}
}

// ErrorOf is an error that programs compare with, such as io.EOF, under a name that says the
// same on every node, of 1 to 255 bytes of UTF-8. The default is the error's text. An error that wraps it on one node
// does so on others: errors.Is finds it.
func ErrorOf(err error, name ...string) Type {
	return Type{func(t *Types) error { return t.all.AddError(err, name...) }}
}

// standIn is the term that a Go value stands for in a message to another node of this kind, if
// its type says one: by a method Term, or by tags of package etf. A value of another type
// would arrive as something else than it is, so its type must be registered.
func (t *Types) standIn(v any) (any, error) {
	if _, isError := v.(error); !isError {
		if typ := t.all.Missing(reflect.TypeOf(v), builtin); typ != nil {
			return nil, gotypes.NotRegistered(typ)
		}
	}
	return t.foreign(v)
}

// maker makes the generic types of package node for one type argument.
type maker struct {
	request func(body any, from From) any // a Request[T]
	cast    func(body any) any            // a Cast[T]
	future  func(n *Node, ref Ref) any    // a *Future[T]
	name    string                        // of T, in a future that travels
	ofIt    *maker                        // of *Future[T], which makes no futures; nil: of such a maker
}

func makerOf[T any](name string) maker {
	m := bodyMaker[T]()
	of := bodyMaker[*Future[T]]()
	m.name, m.future, m.ofIt = name, newFarFuture[T], &of
	return m
}

// bodyMaker makes what has a T as its body.
func bodyMaker[T any]() maker {
	return maker{
		request: func(body any, from From) any { return Request[T]{body.(T), from} },
		cast:    func(body any) any { return Cast[T]{body.(T)} },
	}
}

// builtin are the makers of the types that every node knows, builtinNamed the same by their names.
var (
	builtin      = map[reflect.Type]maker{}
	builtinNamed = map[string]maker{}
)

func enterBuiltin[T any]() {
	enterMaker[T]()
	enterMaker[[]T]()
	enterMaker[map[string]T]()
}

func enterMaker[T any]() {
	m := makerOf[T](reflect.TypeFor[T]().String())
	builtin[reflect.TypeFor[T]()], builtinNamed[m.name] = m, m
}

func init() {
	enterBuiltin[bool]()
	enterBuiltin[string]()
	enterBuiltin[int]()
	enterBuiltin[int8]()
	enterBuiltin[int16]()
	enterBuiltin[int32]()
	enterBuiltin[int64]()
	enterBuiltin[uint]()
	enterBuiltin[uint8]()
	enterBuiltin[uint16]()
	enterBuiltin[uint32]()
	enterBuiltin[uint64]()
	enterBuiltin[float32]()
	enterBuiltin[float64]()
	enterBuiltin[any]()
	enterBuiltin[From]()
	enterBuiltin[wire.At]()
	enterBuiltin[time.Time]()
	enterBuiltin[time.Duration]()
	enterBuiltin[*big.Int]()
	enterBuiltin[wire.Atom]()
	enterBuiltin[wire.Tuple]()
	enterBuiltin[wire.List]()
	enterBuiltin[wire.ImproperList]()
	enterBuiltin[wire.Charlist]()
	enterBuiltin[wire.Map]()
	enterBuiltin[wire.Bitstring]()
	enterBuiltin[wire.PID]()
	enterBuiltin[wire.Ref]()
	enterBuiltin[wire.Port]()
	enterBuiltin[wire.Fun]()
	enterBuiltin[wire.Export]()
}

// maker returns how the generic types of a body's type are made. A nil body, and one of a type
// that is not known, is of type any.
func (t *Types) maker(body any) maker {
	if m, ok := t.all.Maker(reflect.TypeOf(body), builtin); ok {
		return m
	}
	if f, ok := body.(anyFuture); ok {
		if m, ok := t.all.Maker(f.kind(), builtin); ok {
			return *m.ofIt
		}
	}
	return ofAny
}

// ofAny is the maker of the type any. Of it is nil, too, which no assertion says.
var ofAny = maker{
	request: func(body any, from From) any { return Request[any]{body, from} },
	cast:    func(body any) any { return Cast[any]{body} },
	future:  newFarFuture[any],
}
