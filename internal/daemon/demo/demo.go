package demo

import (
	"context"
	"math/big"
	"time"

	"github.com/actornode/actornode/node"
	"github.com/actornode/actornode/node/rpc"
	"github.com/actornode/actornode/node/tasks"
	"github.com/actornode/actornode/supervisor"
	"github.com/actornode/actornode/supervisor/application"
	"github.com/actornode/actornode/wire"
)

// errCrash, returned from a behaviour, makes it exit with the reason crash.
var errCrash = node.ExitWith(wire.Atom("crash"))

// errBadArith is the exception raised by Erlang's arithmetic.
var errBadArith = rpc.Raise(wire.Atom("badarith"))

// Module is the name under which everything here is exported and registered.
const Module wire.Atom = "demo"

// Export exports the functions listed in the package comment from a node. The error is [node.ErrNameTaken] if they are
// exported already.
func Export(n *node.Node) error {
	for _, x := range []struct {
		name  wire.Atom
		arity int
		make  rpc.Behaviour
	}{
		{"counter", 0, func([]any) (node.Actor, error) { return counters.New(&counter{}), nil }},
		{"echo", 0, func([]any) (node.Actor, error) { return echoes.New(echo{}), nil }},
		{"tasks", 0, func([]any) (node.Actor, error) { return tasks.New(tasks.Options{}), nil }},
		{"exit", 1, func(args []any) (node.Actor, error) {
			return node.ProcessFunc(func(*node.Process) error { return node.ExitWith(args[0]) }), nil
		}},
	} {
		if err := rpc.ExportBehaviour(n, wire.Export{Module: Module, Function: x.name, Arity: x.arity}, x.make); err != nil {
			return err
		}
	}
	if err := rpc.Export(n, wire.Export{Module: Module, Function: "double", Arity: 1}, double); err != nil {
		return err
	}
	return rpc.Export(n, wire.Export{Module: Module, Function: "add", Arity: 2}, add)
}

// double is for sys:replace_state, which cannot run a fun of another node but accepts an exported function.
func double(ctx context.Context, args []any) (any, error) { return add(ctx, []any{args[0], args[0]}) }

func add(_ context.Context, args []any) (any, error) {
	a, ok1 := integer(args[0])
	b, ok2 := integer(args[1])
	if !ok1 || !ok2 {
		return nil, errBadArith
	}
	return wire.IntegerOf(new(big.Int).Add(a, b)), nil
}

// integer reads an integer of any size.
func integer(t any) (*big.Int, bool) {
	if n, ok := t.(*big.Int); ok {
		return n, true
	}
	n, ok := wire.AsInt(t)
	return big.NewInt(n), ok
}

// Spec describes the tree. Its children are exported by [Export].
func Spec() supervisor.Spec {
	child := func(name wire.Atom) supervisor.Child {
		return supervisor.Child{
			ID:      name,
			Named:   supervisor.Named{Module: Module, Function: name},
			Options: node.Options{Name: name},
		}
	}
	return supervisor.Spec{
		Strategy:  supervisor.OneForOne,
		Intensity: 100, Period: time.Second,
		Children: []supervisor.Child{child("counter"), child("echo")},
	}
}

// Start exports the demo and starts its tree. Errors: those of [Export] and
// [supervisor.Start].
func Start(ctx context.Context, n *node.Node) (node.PID, error) {
	if err := Export(n); err != nil {
		return node.PID{}, err
	}
	return supervisor.Start(ctx, n, Spec(), node.Options{Name: Module})
}

// Application describes the demo as an application, also named demo. The node must export the demo: see [Export].
func Application() application.Spec {
	top := Spec()
	return application.Spec{
		Name: Module, Description: "The demo tree", Version: "1.0",
		Modules: []wire.Atom{Module}, Registered: []wire.Atom{"demo", "counter", "echo"},
		Top: &top, TopOptions: node.Options{Name: Module},
	}
}
