package erpc

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"

	"github.com/actornode/actornode/wire"
)

// ErrUndef reports that nothing is exported under a module, function and arity.
var ErrUndef = errors.New("rpc: nothing is exported under that name")

// UndefExport returns ErrUndef with the name.
func UndefExport(e wire.Export) error { return fmt.Errorf("%w: %v", ErrUndef, e) }

// Exported is a function that can be called by name.
type Exported = func(ctx context.Context, args []any) (any, error)

// Exports has a function and a behaviour, or one of them, for each name. A is the result of a behaviour. The zero value is
// empty. It may be used concurrently.
type Exports[A any] struct {
	mu         sync.RWMutex
	functions  map[wire.Export]Exported
	behaviours map[wire.Export]func(args []any) (A, error)
}

// Valid reports whether something may be exported under a name.
func Valid(e wire.Export) bool {
	return e.Module != "" && e.Function != "" && e.Arity >= 0 && e.Arity <= 255
}

// AddFunction exports f. It returns false if a function is exported under that name already.
func (t *Exports[A]) AddFunction(e wire.Export, f Exported) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return add(&t.functions, e, f)
}

// AddBehaviour exports b. It returns false if a behaviour is exported under that name already.
func (t *Exports[A]) AddBehaviour(e wire.Export, b func(args []any) (A, error)) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return add(&t.behaviours, e, b)
}

func add[V any](m *map[wire.Export]V, e wire.Export, v V) bool {
	if _, taken := (*m)[e]; taken {
		return false
	}
	if *m == nil {
		*m = make(map[wire.Export]V)
	}
	(*m)[e] = v
	return true
}

// HasFunction reports whether a function is exported under a name.
func (t *Exports[A]) HasFunction(e wire.Export) bool { return t.function(e) != nil }

func (t *Exports[A]) function(e wire.Export) Exported {
	t.mu.RLock()
	defer t.mu.RUnlock()
	return t.functions[e]
}

// Find returns the function that is exported as module:name with that number of arguments, or nil, and its arguments: one
// that is exported under every module gets the module, too.
func (t *Exports[A]) Find(module, name wire.Atom, args []any) (Exported, []any) {
	if f := t.function(wire.Export{Module: module, Function: name, Arity: len(args)}); f != nil {
		return f, args
	}
	f := t.function(wire.Export{Module: AnyModule, Function: name, Arity: len(args)})
	return f, append([]any{module}, args...)
}

// Make calls the behaviour that is exported as module:name with that number of arguments. Errors: ErrUndef, those of the
// behaviour.
func (t *Exports[A]) Make(module, name wire.Atom, args []any) (A, error) {
	e := wire.Export{Module: module, Function: name, Arity: len(args)}
	t.mu.RLock()
	b := t.behaviours[e]
	t.mu.RUnlock()
	if b == nil {
		var none A
		return none, UndefExport(e)
	}
	return b(args)
}

// Remove removes what is exported under a name, and reports whether there was anything.
func (t *Exports[A]) Remove(e wire.Export) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	_, f := t.functions[e]
	_, b := t.behaviours[e]
	delete(t.functions, e)
	delete(t.behaviours, e)
	return f || b
}

// All returns the exported names, in alphabetical order.
func (t *Exports[A]) All() []wire.Export {
	t.mu.RLock()
	defer t.mu.RUnlock()
	all := slices.AppendSeq(make([]wire.Export, 0, len(t.functions)), maps.Keys(t.functions))
	for e := range t.behaviours {
		if _, both := t.functions[e]; !both {
			all = append(all, e)
		}
	}
	return sorted(all)
}

// Behaviours returns the names of the behaviours, in alphabetical order.
func (t *Exports[A]) Behaviours() []wire.Export {
	t.mu.RLock()
	defer t.mu.RUnlock()
	return sorted(slices.AppendSeq(make([]wire.Export, 0, len(t.behaviours)), maps.Keys(t.behaviours)))
}

func sorted(all []wire.Export) []wire.Export {
	slices.SortFunc(all, func(a, b wire.Export) int {
		return cmp.Or(cmp.Compare(a.Module, b.Module), cmp.Compare(a.Function, b.Function), cmp.Compare(a.Arity, b.Arity))
	})
	return all
}

// AnyModule, as the module of an exported function, exports it under every module that exports no such function itself:
// module_info. Its first argument is the module.
const AnyModule wire.Atom = "_"
