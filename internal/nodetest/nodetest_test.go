package nodetest_test

import (
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/internal/logtest"
	"github.com/actornode/actornode/internal/nodetest"
	"github.com/actornode/actornode/internal/testkit"
	"github.com/actornode/actornode/node"
	"github.com/actornode/actornode/node/discovery"
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

func TestInBubble(t *testing.T) {
	nodetest.InBubble(t, func(t *testing.T, n *node.Node, h *node.Process, log *logtest.Text) {
		pid, err := n.Spawn(node.ActorFunc(func(*node.Context, any) error { panic("bad cake") }))
		require.NoError(t, err)
		require.NoError(t, h.Send(pid, 1))
		synctest.Wait()
		assert.Contains(t, log.String(), "bad cake")
	})
}

func TestPlaces(t *testing.T) {
	var first, second nodetest.Places
	second.Next = &first
	at := []discovery.Endpoint{{Addr: "1.2.3.4:5"}}
	forget, err := second.Announce(t.Context(), discovery.Announcement{Name: "a@h", Endpoints: at})
	require.NoError(t, err)
	second.Put("b@h", at)
	for _, name := range []node.Atom{"a@h", "b@h"} {
		got, err := second.Find(t.Context(), name)
		require.NoError(t, err)
		assert.Equal(t, at, got)
	}
	_, err = first.Find(t.Context(), "b@h")
	require.ErrorContains(t, err, "no node b@h")
	forget()
	_, err = second.Find(t.Context(), "a@h")
	require.ErrorContains(t, err, "no node a@h")
}
