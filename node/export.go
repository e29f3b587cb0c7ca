package node

import (
	"context"
	"errors"
	"fmt"

	"github.com/actornode/actornode/internal/nodehook"
	"github.com/actornode/actornode/node/internal/export"
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

// exported is what a node offers by module, function and arity: what supervisors
// that are described by text, remote spawns and remote calls can run. Nothing
// else can be run by name.
type exported struct {
	behaviour Behaviour
	function  Function
}

func (n *Node) export(e wire.Export, change func(*exported) error) error {
	if !export.Valid(e) {
		return fmt.Errorf("%w: %v: want module:function/arity, arity 0 to 255", ErrBadName, e)
	}
	return n.exports.Change(e, change)
}

// ExportBehaviour lets processes be started by the name e. Errors: [ErrBadName],
// [ErrNameTaken], [ErrNilBehaviour].
func (n *Node) ExportBehaviour(e wire.Export, b Behaviour) error {
	if b == nil {
		return ErrNilBehaviour
	}
	return n.export(e, func(x *exported) error {
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
	return n.export(e, func(x *exported) error {
		if x.function != nil {
			return fmt.Errorf("%w: %v", ErrNameTaken, e)
		}
		x.function = f
		return nil
	})
}

func (n *Node) exported(e wire.Export) exported { return n.exports.Get(e) }

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
		f = n.exported(wire.Export{Module: nodehook.AnyModule, Function: function, Arity: len(args)}).function
		args = append([]any{module}, args...)
	}
	if f == nil && module == "erlang" && function == "whereis" && e.Arity == 1 {
		return n.whereis(args[1]) // what Link and Exit of another node ask for a name
	}
	if f == nil {
		return nil, fmt.Errorf("%w: %v", ErrUndef, e)
	}
	return f(ctx, args)
}

// Unexport takes back what is exported under e. It reports whether there was
// anything.
func (n *Node) Unexport(e wire.Export) bool { return n.exports.Remove(e) }

// Behaviours returns under which names processes can be started, in alphabetical
// order.
func (n *Node) Behaviours() []wire.Export {
	return n.exports.List(func(x exported) bool { return x.behaviour != nil })
}

// whereis is erlang:whereis/1 where nothing else is exported under that name.
func (n *Node) whereis(name any) (any, error) {
	a, ok := name.(Atom)
	if !ok {
		return nil, Raise(wire.Atom("badarg"))
	}
	if pid, ok := n.Whereis(a); ok {
		return pid, nil
	}
	return wire.Undefined, nil
}
