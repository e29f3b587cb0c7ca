package node_test

import (
	"context"

	"github.com/actornode/actornode/node"
	"github.com/actornode/actornode/wire"
)

func mfa(m, f string, arity int) wire.Export {
	return wire.Export{Module: wire.Atom(m), Function: wire.Atom(f), Arity: arity}
}

func plus(_ context.Context, args []any) (any, error) { return args[0].(int) + args[1].(int), nil }

func idler([]any) (node.Actor, error) {
	return node.ActorFunc(func(*node.Context, any) error { return nil }), nil
}
