package node_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/internal/testkit/erltest"
	"github.com/actornode/actornode/node"
	"github.com/actornode/actornode/wire"
)

// Two Go nodes talk natively to each other, and to OTP in Erlang's protocol; identifiers of any of the three go through
// any other unchanged.
func TestNativeBesideErlang(t *testing.T) {
	c := newOTPHost(t)
	a, b := c.start(c.config("a")), c.start(c.config("b"))
	e := c.erl("e1", erltest.Cookie)
	// relay passes on what it gets to next.
	relay := func(n *node.Node, next node.PID) node.PID {
		pid, err := n.SpawnOpt(node.Options{Name: "relay"}, node.ActorFunc(func(ctx *node.Context, msg any) error {
			return ctx.Send(next, msg)
		}))
		require.NoError(t, err)
		return pid
	}
	last, got := catcher(t, b, "last")
	relay(a, last)
	// From OTP over a to b: a PID and a reference of OTP's, and the PIDs of a and b.
	e.Ask("{relay, 'a@127.0.0.1'} ! {self(), make_ref(), node()}")
	msg, ok := caught(t, got).(wire.Tuple)
	require.True(t, ok)
	pid, ok := msg[0].(node.PID)
	require.True(t, ok, "%v", msg)
	assert.Equal(t, e.name, pid.Node())
	assert.Equal(t, e.name, msg[1].(node.Ref).Node())
	protocol := func(n *node.Node, peer node.Atom) string {
		p, _ := node.FarProtocol(n, peer)
		return p
	}
	assert.Equal(t, "native", protocol(a, b.Name()))
	assert.Equal(t, "erlang", protocol(a, e.name))
	// b answers the PID that it has got from a, to OTP itself, with its own PID and with a's.
	near, caughtAtA := catcher(t, a, "near")
	require.NoError(t, b.Send(pid, wire.Tuple{wire.Atom("hello"), last, near}))
	assert.Equal(t, "true", e.Ask("receive {hello, P, N} -> P ! {from, e1}, N ! {from, e1}, node(P) =:= 'b@127.0.0.1' andalso node(N) =:= 'a@127.0.0.1' after 50000 -> timeout end"))
	assert.Equal(t, "erlang", protocol(b, e.name))
	want := wire.Tuple{wire.Atom("from"), wire.Atom("e1")}
	assert.Equal(t, want, caught(t, got))
	assert.Equal(t, want, caught(t, caughtAtA))
	// b monitors the PID from OTP, which it has learnt natively.
	inCatcher(b, last, func(p *node.Process) { p.Monitor(pid) })
	e.Ask("put(w, spawn(fun() -> receive X -> exit(X) end end)), {relay, 'a@127.0.0.1'} ! get(w)")
	worker, ok := caught(t, got).(node.PID)
	require.True(t, ok)
	inCatcher(b, last, func(p *node.Process) { p.Link(worker) })
	require.NoError(t, b.Send(worker, wire.Atom("done")))
	assert.Equal(t, node.Exited{From: worker, Reason: wire.Atom("done")}, caught(t, got))
}
