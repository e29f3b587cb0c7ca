package rpc

import (
	"context"
	"fmt"

	"github.com/actornode/actornode/internal/kernel/erpc"
	"github.com/actornode/actornode/internal/kernel/process"
	"github.com/actornode/actornode/node"
	"github.com/actornode/actornode/wire"
)

// Behaviour makes the actor of a new process from arguments, which may
// have come from anywhere: they are terms of package wire.
type Behaviour func(args []any) (node.Actor, error)

// Function is a function that others may call by name. Its arguments and its
// result are terms of package wire. An error becomes an exception for its caller:
// [node.ExitWith] makes class exit, [Throw] class throw, any other error class error.
type Function func(ctx context.Context, args []any) (any, error)

// exports returns what n offers by module, function and arity. Supervisors
// that are described by text, remote spawns and remote calls can run these, and nothing
// else by name.
func exports(n *node.Node) *erpc.Exports[node.Actor] {
	return n.Inside(process.Key{}).ExportTable()
}

// Export lets f be called by the name e. Errors: [node.ErrArgument], [node.ErrNameTaken].
func Export(n *node.Node, e wire.Export, f Function) error {
	return add(e, f == nil, func() bool { return exports(n).AddFunction(e, f) })
}

// ExportBehaviour lets processes be started by the name e. A function and a behaviour may share a
// name. Errors: those of [Export].
func ExportBehaviour(n *node.Node, e wire.Export, b Behaviour) error {
	return add(e, b == nil, func() bool { return exports(n).AddBehaviour(e, b) })
}

func add(e wire.Export, none bool, add func() bool) error {
	switch {
	case none:
		return node.ErrArgument
	case !erpc.Valid(e):
		return fmt.Errorf("%w: %v: want module:function/arity, arity 0 to 255", node.ErrArgument, e)
	case !add():
		return fmt.Errorf("%w: %v", node.ErrNameTaken, e)
	}
	return nil
}

// Unexport removes what is exported under e. It reports whether there was
// anything.
func Unexport(n *node.Node, e wire.Export) bool { return exports(n).Remove(e) }

// Behaviours returns the names under which processes can be started, in alphabetical
// order.
func Behaviours(n *node.Node) []wire.Export { return exports(n).Behaviours() }

// NewActor makes an actor with the behaviour that is exported as module:function with as
// many arguments, or returns [ErrUndef].
func NewActor(n *node.Node, module, function wire.Atom, args []any) (node.Actor, error) {
	return exports(n).Make(module, function, args)
}

// Apply calls the function that is exported as module:function with as many
// arguments in the calling process, or returns [ErrUndef]. It also returns that if ctx belongs to a process
// that a peer started, and Allow of [node.Distribution] refuses that peer the function.
func Apply(ctx context.Context, n *node.Node, module, function wire.Atom, args []any) (any, error) {
	return n.Inside(process.Key{}).Apply(ctx, module, function, args)
}
