package node_test

import (
	"context"
	"testing"

	"github.com/actornode/actornode/internal/testkit/actortest"
	"github.com/actornode/actornode/node"
	"github.com/actornode/actornode/node/nodetest"
	"github.com/actornode/actornode/wire"
)

// styles are all styles, for tests that combine several.
var styles = actortest.Styles()

// waitGone waits until a process has exited and returns its reason.
func waitGone(t testing.TB, h *nodetest.Probe, pid node.PID) any {
	t.Helper()
	return h.ExpectDown(h.Monitor(pid)).Reason
}

func mfa(m, f string, arity int) wire.Export {
	return wire.Export{Module: wire.Atom(m), Function: wire.Atom(f), Arity: arity}
}

func plus(_ context.Context, args []any) (any, error) { return args[0].(int) + args[1].(int), nil }

func idler([]any) (node.Actor, error) {
	return node.ActorFunc(func(*node.Context, any) error { return nil }), nil
}

// demonitors is a process that removes monitors.
type demonitors interface {
	Demonitor(node.Ref) bool
	DemonitorFlush(node.Ref) bool
}

// demonitor removes a monitor, with its Down or without.
func demonitor(p demonitors, ref node.Ref, flush bool) bool {
	if flush {
		return p.DemonitorFlush(ref)
	}
	return p.Demonitor(ref)
}
