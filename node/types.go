package node

import (
	"errors"
	"fmt"
	"maps"
	"math/big"
	"path"
	"reflect"
	"sync"
	"sync/atomic"
	"time"

	"github.com/actornode/actornode/wire"
	"github.com/actornode/actornode/wire/native"
)

// ErrType: a Go type, or an error, that cannot be registered, or not so.
var ErrType = errors.New("node: cannot be registered")

// Types are the Go types, and the errors, that travel to other nodes as themselves. The zero
// value is empty and ready to use; many goroutines may use it at once; it must not be copied.
type Types struct {
	codec native.Types

	mu    sync.Mutex // held while table is replaced
	table atomic.Pointer[typeTable]
}

// typeTable is what is registered. It is never changed, but replaced.
type typeTable struct {
	makers map[reflect.Type]maker
	errors map[string]error // sentinel errors by name
	names  map[error]string
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
		as, err := nameOf(typ, name)
		if err != nil {
			return err
		}
		if err := native.RegisterType[T](&t.codec, as); err != nil {
			return err
		}
		t.change(func(table *typeTable) {
			table.makers[typ] = makerOf[T]()
			table.makers[reflect.PointerTo(typ)] = makerOf[*T]()
			table.makers[reflect.SliceOf(typ)] = makerOf[[]T]()
			table.makers[reflect.TypeFor[map[string]T]()] = makerOf[map[string]T]()
		})
		return nil
	}}
}

// ErrorOf is an error that programs compare with, such as io.EOF, under a name that says the
// same on every node. The default is the error's text. An error that wraps it on one node
// does so on others: errors.Is finds it.
func ErrorOf(err error, name ...string) Type {
	return Type{func(t *Types) error {
		switch {
		case err == nil:
			return errors.New("the error is nil")
		case !reflect.TypeOf(err).Comparable():
			return fmt.Errorf("errors of type %T cannot be compared: register the type", err)
		case len(name) > 1:
			return fmt.Errorf("%q has %d names: want one", err, len(name))
		}
		as := err.Error()
		if len(name) == 1 {
			as = name[0]
		}
		var taken error
		t.change(func(table *typeTable) {
			if old, ok := table.errors[as]; ok && old != err {
				taken = fmt.Errorf("the name %q is that of another error", as)
				return
			}
			if old, ok := table.names[err]; ok && old != as {
				taken = fmt.Errorf("the error %q has the name %q", err, old)
				return
			}
			table.errors[as], table.names[err] = err, as
		})
		return taken
	}}
}

func nameOf(typ reflect.Type, name []string) (string, error) {
	switch {
	case len(name) == 1:
		return name[0], nil
	case len(name) > 1:
		return "", fmt.Errorf("%v has %d names: want one", typ, len(name))
	case typ.Name() == "" || typ.PkgPath() == "":
		return "", fmt.Errorf("%v has no name of its own (for a pointer register what it points to)", typ)
	}
	return path.Base(typ.PkgPath()) + "." + typ.Name(), nil
}

// change replaces the table by a copy that f has changed.
func (t *Types) change(f func(*typeTable)) {
	t.mu.Lock()
	defer t.mu.Unlock()
	next := &typeTable{map[reflect.Type]maker{}, map[string]error{}, map[error]string{}}
	if old := t.table.Load(); old != nil {
		maps.Copy(next.makers, old.makers)
		maps.Copy(next.errors, old.errors)
		maps.Copy(next.names, old.names)
	}
	f(next)
	t.table.Store(next)
}

// maker makes the generic types of package node for one type argument.
type maker struct {
	request func(body any, from From) any // a Request[T]
	cast    func(body any) any            // a Cast[T]
}

func makerOf[T any]() maker {
	return maker{
		request: func(body any, from From) any { return Request[T]{body.(T), from} },
		cast:    func(body any) any { return Cast[T]{body.(T)} },
	}
}

// builtin are the makers of the types that every node knows.
var builtin = map[reflect.Type]maker{}

func enterBuiltin[T any]() {
	builtin[reflect.TypeFor[T]()] = makerOf[T]()
	builtin[reflect.TypeFor[[]T]()] = makerOf[[]T]()
	builtin[reflect.TypeFor[map[string]T]()] = makerOf[map[string]T]()
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
	typ := reflect.TypeOf(body)
	if m, ok := builtin[typ]; ok {
		return m
	}
	if table := t.table.Load(); table != nil {
		if m, ok := table.makers[typ]; ok {
			return m
		}
	}
	return ofAny
}

// ofAny is the maker of the type any. Of it is nil, too, which no assertion says.
var ofAny = maker{
	request: func(body any, from From) any { return Request[any]{body, from} },
	cast:    func(body any) any { return Cast[any]{body} },
}
