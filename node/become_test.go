package node_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/internal/nodetest"
	"github.com/actornode/actornode/node"
)

// BecomeFunc and PushFunc are Become and Push of a function.
func TestBecomeFunc(t *testing.T) {
	n := nodetest.Start(t, node.Config{})
	h := nodetest.Open(t, n)
	says := func(what string, then func(c *node.Context)) func(c *node.Context, msg any) error {
		return func(c *node.Context, msg any) error {
			if then != nil {
				then(c)
			}
			return c.Send(h.Self(), what)
		}
	}
	third := says("third", func(c *node.Context) { c.Unbecome() })
	second := says("second", func(c *node.Context) { c.PushFunc(third) })
	pid, err := n.Spawn(node.ActorFunc(says("first", func(c *node.Context) { c.BecomeFunc(second) })))
	require.NoError(t, err)
	for _, want := range []string{"first", "second", "third", "second", "third"} {
		require.NoError(t, n.Send(pid, 1))
		require.Equal(t, want, nodetest.Next[string](t, h))
	}
	for _, change := range []func(c *node.Context){
		func(c *node.Context) { c.BecomeFunc(nil) }, func(c *node.Context) { c.PushFunc(nil) },
	} {
		pid, err := n.Spawn(node.ActorFunc(says("nil", change)))
		require.NoError(t, err)
		ref := h.Monitor(pid)
		require.NoError(t, n.Send(pid, 1))
		require.Equal(t, node.ErrNilBehaviour, nodetest.Down(t, h, ref).Reason.(*node.Crash).Reason)
	}
}
