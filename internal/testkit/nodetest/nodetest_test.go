package nodetest_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/internal/testkit"
	"github.com/actornode/actornode/internal/testkit/nodetest"
	"github.com/actornode/actornode/node"
)

func TestKit(t *testing.T) {
	var n *node.Node
	t.Run("while the test goes", func(t *testing.T) {
		n = nodetest.Start(t, node.Config{})
		h := nodetest.Open(t, n)
		nodetest.Quiet(t, h)
		come := make(chan int, 1)
		pid, err := n.Spawn(node.ActorFunc(func(_ *node.Context, m any) error { come <- m.(int); return node.ErrStop }))
		require.NoError(t, err)
		ref := h.Monitor(pid)
		require.NoError(t, h.Send(h.Self(), "first"))
		require.NoError(t, n.Send(pid, 7))
		assert.Equal(t, 7, testkit.Receive(t, come))
		assert.Equal(t, node.Normal, nodetest.Down(t, h, ref).Reason)
		assert.Equal(t, "first", nodetest.Next[string](t, h))
		_, err = node.AwaitExit(testkit.Context(t), n, pid)
		require.NoError(t, err)
	})
	_, err := n.Spawn(node.ActorFunc(func(*node.Context, any) error { return nil }))
	require.ErrorIs(t, err, node.ErrNodeStopped)
}
