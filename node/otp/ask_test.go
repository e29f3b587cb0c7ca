package otp_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/internal/testkit"
	"github.com/actornode/actornode/node"
	"github.com/actornode/actornode/node/nodetest"
	"github.com/actornode/actornode/node/otp"
	"github.com/actornode/actornode/wire"
)

// Every kind of caller may wait: a plain goroutine, a handle, a blocking process, and an Actor, whose stage, the only
// one, runs the server meanwhile.
func TestCallByEachKindOfCaller(t *testing.T) {
	n := nodetest.Start(t, node.Config{Workers: 1})
	server, err := n.Spawn(node.ActorFunc(func(c *node.Context, msg any) error {
		call, ok := c.Node().AsRequest(msg)
		if !ok || call.Body == wire.Atom("crash") {
			return node.ExitWith(wire.Atom("oops"))
		}
		if call.Body == wire.Atom("silence") {
			return nil
		}
		return c.Reply(call.From, wire.Tuple{wire.Atom("got"), call.Body})
	}))
	require.NoError(t, err)
	check := func(from node.Caller) {
		v, err := otp.Call(testkit.Context(t), from, server, 7)
		require.NoError(t, err)
		require.Equal(t, wire.Tuple{wire.Atom("got"), 7}, v)
		over, cancel := context.WithCancel(t.Context())
		cancel()
		_, err = otp.Call(over, from, server, wire.Atom("silence"))
		require.ErrorIs(t, err, context.Canceled)
		_, err = otp.Call(testkit.Context(t), from, wire.Atom("nobody"), 7)
		require.ErrorIs(t, err, node.ErrNoProcess)
		_, err = otp.Call(testkit.Context(t), from, 5, 7)
		require.ErrorContains(t, err, "want a process, a name or {Name, Node}")
	}
	done := make(chan struct{})
	check(n)
	check(nodetest.NewProbe(t, n))
	for _, b := range []node.Actor{
		node.ActorFunc(func(c *node.Context, _ any) error {
			defer close(done)
			check(c)
			return node.ErrStop
		}),
		node.ProcessFunc(func(p *node.Process) error {
			defer close(done)
			p.Receive()
			check(p)
			return nil
		}),
	} {
		pid, err := n.Spawn(b)
		require.NoError(t, err)
		require.NoError(t, n.Send(pid, "go"))
		<-done
		done = make(chan struct{})
	}
	_, err = otp.Call(testkit.Context(t), nodetest.NewProbe(t, n), server, wire.Atom("crash"))
	require.Equal(t, &node.ExitError{Reason: wire.Atom("oops")}, err)
}
