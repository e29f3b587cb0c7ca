package node

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/actornode/actornode/wire"
)

// ErrUndef says that nothing is exported under a module, function and arity:
// Erlang's undef.
var ErrUndef = errors.New("node: nothing is exported under that name")

// Behaviour makes the behaviour of a new process from arguments, which may
// have come from anywhere: they are terms of package wire.
type Behaviour func(args []any) (Actor, error)

// Function is a function that others may call by name. Its arguments and its
// result are terms of package wire.
type Function func(ctx context.Context, args []any) (any, error)

// exports is what a node offers by module, function and arity: what supervisors
// that are described by text, remote spawns and remote calls can run. Nothing
// else can be run by name.
type exports struct {
	mu sync.RWMutex
	m  map[wire.Export]exported
}

type exported struct {
	behaviour Behaviour
	function  Function
}

func (x *exports) set(e wire.Export, change func(*exported) error) error {
	if e.Module == "" || e.Function == "" || e.Arity < 0 || e.Arity > 255 {
		return fmt.Errorf("%w: %v: want module:function/arity, arity 0 to 255", ErrBadName, e)
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.m == nil {
		x.m = make(map[wire.Export]exported)
	}
	was := x.m[e]
	if err := change(&was); err != nil {
		return err
	}
	x.m[e] = was
	return nil
}

// ExportBehaviour lets processes be started by the name e. Errors: [ErrBadName],
// [ErrNameTaken], [ErrNilBehaviour].
func (n *Node) ExportBehaviour(e wire.Export, b Behaviour) error {
	if b == nil {
		return ErrNilBehaviour
	}
	return n.exports.set(e, func(x *exported) error {
		if x.behaviour != nil {
			return fmt.Errorf("%w: %v", ErrNameTaken, e)
		}
		x.behaviour = b
		return nil
	})
}

// ExportFunction lets f be called by the name e. Errors: [ErrBadName],
// [ErrNameTaken], [ErrNilBehaviour].
func (n *Node) ExportFunction(e wire.Export, f Function) error {
	if f == nil {
		return ErrNilBehaviour
	}
	return n.exports.set(e, func(x *exported) error {
		if x.function != nil {
			return fmt.Errorf("%w: %v", ErrNameTaken, e)
		}
		x.function = f
		return nil
	})
}

func (n *Node) exported(e wire.Export) exported {
	n.exports.mu.RLock()
	defer n.exports.mu.RUnlock()
	return n.exports.m[e]
}

// Behaviour makes the behaviour that is exported as module:function with as
// many arguments, or returns [ErrUndef].
func (n *Node) Behaviour(module, function Atom, args []any) (Actor, error) {
	e := wire.Export{Module: module, Function: function, Arity: len(args)}
	b := n.exported(e).behaviour
	if b == nil {
		return nil, fmt.Errorf("%w: %v", ErrUndef, e)
	}
	return b(args)
}

// AnyModule, as the module of an exported function, offers it under every module
// that offers no such function itself: module_info. Its first argument is the
// module.
const AnyModule Atom = "_"

// Apply calls the function that is exported as module:function with as many
// arguments, or returns [ErrUndef]. So it does if ctx is that of a process which a peer
// has started, and [Distribution].Allow refuses that peer the function.
func (n *Node) Apply(ctx context.Context, module, function Atom, args []any) (any, error) {
	e := wire.Export{Module: module, Function: function, Arity: len(args)}
	if n.dist != nil && n.dist.cfg.Allow != nil && !n.allowsIn(ctx, e) {
		return nil, fmt.Errorf("%w: %v", ErrUndef, e)
	}
	f := n.exported(e).function
	if f == nil {
		f = n.exported(wire.Export{Module: AnyModule, Function: function, Arity: len(args)}).function
		args = append([]any{module}, args...)
	}
	if f == nil {
		return nil, fmt.Errorf("%w: %v", ErrUndef, e)
	}
	return f(ctx, args)
}

// Unexport takes back what is exported under e. It reports whether there was
// anything.
func (n *Node) Unexport(e wire.Export) bool {
	n.exports.mu.Lock()
	defer n.exports.mu.Unlock()
	_, was := n.exports.m[e]
	delete(n.exports.m, e)
	return was
}

// Exports returns what is exported, in alphabetical order.
func (n *Node) Exports() []wire.Export {
	return n.exports.list(func(exported) bool { return true })
}

// Behaviours returns under which names processes can be started, in alphabetical
// order.
func (n *Node) Behaviours() []wire.Export {
	return n.exports.list(func(x exported) bool { return x.behaviour != nil })
}

func (x *exports) list(wanted func(exported) bool) []wire.Export {
	x.mu.RLock()
	defer x.mu.RUnlock()
	all := make([]wire.Export, 0, len(x.m))
	for e, what := range x.m {
		if wanted(what) {
			all = append(all, e)
		}
	}
	slices.SortFunc(all, func(a, b wire.Export) int {
		return cmp.Or(cmp.Compare(a.Module, b.Module), cmp.Compare(a.Function, b.Function), cmp.Compare(a.Arity, b.Arity))
	})
	return all
}
