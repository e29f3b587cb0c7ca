package nodetest_test

import (
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/internal/testkit"
	"github.com/actornode/actornode/internal/testkit/nodetest"
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

// Nodes of a cluster find each other and talk, in a bubble, in the protocols of nodes and in Memory.
func TestCluster(t *testing.T) {
	for name, cluster := range map[string]func(testing.TB) *nodetest.Cluster{
		"native": nodetest.NewCluster, "memory": nodetest.NewMemoryCluster,
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c := cluster(t)
				a, b := c.Start("a"), c.StartWith("b", node.Distribution{})
				c.Connect(a, b)
				assert.Equal(t, []node.Atom{b.Name()}, a.AllNodes())
				h := nodetest.Open(t, b)
				require.NoError(t, a.Send(h.Self(), "hello"))
				assert.Equal(t, "hello", nodetest.Next[string](t, h))
				e := b.Endpoints()[0]
				assert.Equal(t, name, e.Protocol)
				dialed := c.Pipes.Dialed(e.Addr)
				c.Dial(b, name, "10.0.0.1")
				assert.Equal(t, dialed+1, c.Pipes.Dialed(e.Addr))
			})
		})
	}
}

func TestCutter(t *testing.T) {
	var cutter nodetest.Cutter
	c := nodetest.NewCluster(t)
	a, b := c.StartWith("a", node.Distribution{Transport: &cutter}), c.StartWith("b", node.Distribution{Transport: &cutter})
	c.Connect(a, b)
	h := nodetest.Open(t, a)
	h.MonitorNode(b.Name())
	cutter.Cut()
	assert.Equal(t, 1, cutter.Cuts())
	assert.Equal(t, b.Name(), nodetest.Next[node.NodeDown](t, h).Node)
}
