package clustertest_test

import (
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/internal/testkit/clustertest"
	"github.com/actornode/actornode/node"
	"github.com/actornode/actornode/node/discovery"
	"github.com/actornode/actornode/node/nodetest"
	"github.com/actornode/actornode/wire/dist"
)

func TestPlaces(t *testing.T) {
	var first, second clustertest.Places
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
	for name, cluster := range map[string]func(testing.TB) *clustertest.Cluster{
		"native": clustertest.NewCluster, "memory": clustertest.NewMemoryCluster,
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c := cluster(t)
				a, b := c.Start("a"), c.StartWith("b", node.Distribution{})
				c.Connect(a, b)
				assert.Equal(t, []node.Atom{b.Name()}, a.AllNodes())
				h := nodetest.NewProbe(t, b)
				require.NoError(t, a.Send(h.Self(), "hello"))
				assert.Equal(t, "hello", nodetest.Expect[string](h))
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
	var cutter clustertest.Cutter
	c := clustertest.NewCluster(t)
	a, b := c.StartWith("a", node.Distribution{Transport: &cutter}), c.StartWith("b", node.Distribution{Transport: dist.TCP{}})
	c.Connect(a, b)
	h := nodetest.NewProbe(t, a)
	h.MonitorNode(b.Name())
	cutter.Cut()
	assert.Equal(t, 1, cutter.Cuts())
	assert.Equal(t, b.Name(), nodetest.Expect[node.NodeDown](h).Node)
}
