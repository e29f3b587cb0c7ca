package node_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/internal/nodetest"
	"github.com/actornode/actornode/internal/porttest"
	"github.com/actornode/actornode/internal/testkit"
	"github.com/actornode/actornode/node"
	"github.com/actornode/actornode/wire/dist"
	"github.com/actornode/actornode/wire/erldist"
)

// speak returns the protocol that a is connected to b over.
func speak(t *testing.T, a, b *node.Node) string {
	t.Helper()
	require.NoError(t, a.Connect(testkit.Context(t), b.Name()))
	p, ok := node.FarProtocol(a, b.Name())
	require.True(t, ok)
	return p
}

// Two nodes talk in the way that the one that dials prefers, of those that both
// have and that lead anywhere.
func TestPeersChooseProtocol(t *testing.T) {
	c := nodetest.NewMemoryCluster(t)
	common := &erldist.Protocol{}
	start := func(name string, protocols ...dist.Protocol) *node.Node {
		cfg := c.Config(name)
		cfg.Distribution.Protocols = protocols
		n, err := node.Start(cfg)
		require.NoError(t, err)
		t.Cleanup(func() { require.NoError(t, n.Stop()) })
		return n
	}
	a, b := start("a", c.Memory, common), start("b", c.Memory, common)
	old := start("old", common)
	other := start("other", c.Memory)
	assert.Equal(t, "memory", speak(t, a, b))
	assert.Equal(t, "erlang", speak(t, a, old))
	assert.Equal(t, "erlang", speak(t, old, b))
	assert.Equal(t, "memory", speak(t, other, a))
	require.ErrorContains(t, other.Connect(testkit.Context(t), old.Name()), "this node speaks none of these protocols")
	require.Len(t, a.Endpoints(), 2)
	require.Equal(t, a.Addr().String(), a.Endpoints()[1].Addr)
	require.NotEqual(t, a.Endpoints()[0].Addr, a.Endpoints()[1].Addr)

	// Where nobody listens any more the next way is tried.
	d := start("d", c.Memory, common)
	at, err := c.Places.Find(testkit.Context(t), d.Name())
	require.NoError(t, err)
	at = slices.Clone(at)
	at[0].Addr = fmt.Sprint("127.0.0.1:", porttest.Reserve(t))
	c.Places.Put(d.Name(), at)
	assert.Equal(t, "erlang", speak(t, a, d))
}

func TestListeners(t *testing.T) {
	c := nodetest.NewMemoryCluster(t)
	for _, bad := range []struct {
		d    node.Distribution
		says string
	}{
		{node.Distribution{Listeners: map[string]string{"smoke": ":1"}},
			`Listeners has an address for "smoke", which is not one of Distribution.Protocols: ["memory" "erlang"]`},
		{node.Distribution{Protocols: []dist.Protocol{c.Memory, c.Memory}}, "lists memory twice"},
		{node.Distribution{Listen: "nowhere"}, "want host:port"},
		{node.Distribution{Grace: -1}, "must not be negative"},
		{node.Distribution{Grace: 1 << 40}, "at most half of TickTime"},
	} {
		bad.d.Cookie, bad.d.Finder = "secret", c.Places
		if bad.d.Protocols == nil {
			bad.d.Protocols = []dist.Protocol{c.Memory, &erldist.Protocol{}}
		}
		_, err := node.Start(node.Config{Name: "x@127.0.0.1", Distribution: &bad.d})
		require.ErrorContains(t, err, bad.says)
	}
	cfg := c.Config("one")
	cfg.Distribution.Protocols = []dist.Protocol{c.Memory, &erldist.Protocol{}}
	cfg.Distribution.Listeners = map[string]string{"memory": "-"}
	n, err := node.Start(cfg)
	require.NoError(t, err)
	assert.Len(t, n.Endpoints(), 1)
	require.NoError(t, n.Stop())
	cfg.Distribution.Listen, cfg.Distribution.Listeners = "-", nil
	n, err = node.Start(cfg)
	require.NoError(t, err)
	assert.Empty(t, n.Endpoints())
	assert.Nil(t, n.Addr())
	require.NoError(t, n.Stop())
}
