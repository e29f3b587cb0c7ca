package peers

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/internal/kernel/limits"
	"github.com/actornode/actornode/node/observe"
	"github.com/actornode/actornode/wire"
)

// A cluster reports the peers that are connected, those that are being connected, and the nodes that it does not know.
func TestAbout(t *testing.T) {
	c, _ := cluster(limits.Limits{Links: 9, Monitors: 9, Queued: 1 << 30, Answers: 1 << 20}, 1<<20)
	require.Equal(t, []wire.Atom{}, c.Names(true))
	require.Equal(t, []observe.Peer{}, c.Infos())
	require.False(t, c.IsUp("b@127.0.0.1"))
	require.False(t, c.Disconnect("b@127.0.0.1"))
	require.True(t, c.IsReleaseKnown("b@127.0.0.1"))
	require.Zero(t, c.Release("b@127.0.0.1"))

	up, down := c.newPeerLocked("b@127.0.0.1"), c.newPeerLocked("c@127.0.0.1")
	l := &gauged{name: "b@127.0.0.1", buffered: 7}
	up.link = l
	up.Box.Rest(l)
	require.True(t, up.Link(near(c, 1), there.PID(1)))
	require.True(t, c.IsUp("b@127.0.0.1"))
	require.False(t, c.IsUp("c@127.0.0.1"))
	require.Equal(t, []wire.Atom{"b@127.0.0.1"}, c.Names(false))
	in, out := c.Traffic()
	require.Equal(t, []uint64{3, 5}, []uint64{in, out})

	all := c.Infos()
	require.Len(t, all, 2)
	require.Equal(t, observe.Peer{Name: "c@127.0.0.1"}, all[1], "it is being connected")
	require.Equal(t, []any{wire.Atom("b@127.0.0.1"), true, uint32(1), 1}, []any{all[0].Name, all[0].Up, all[0].Creation, all[0].Links})
	require.GreaterOrEqual(t, all[0].Queue, 7)
	require.Equal(t, []uint64{3, 5}, []uint64{all[0].BytesIn, all[0].BytesOut})

	require.True(t, c.Disconnect("c@127.0.0.1"))
	require.ErrorContains(t, down.Await(t.Context()), "cannot connect to c@127.0.0.1: disconnected by this node")
	require.Len(t, c.Infos(), 1, "the other one is over")
}

// Connect says why there is no connection.
func TestConnect(t *testing.T) {
	c, _ := cluster(limits.Limits{Queued: 1 << 30, Answers: 1 << 20}, 1<<20)
	require.ErrorContains(t, c.Connect(t.Context(), ""), "without a name")
	p := c.newPeerLocked("b@127.0.0.1")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	require.ErrorIs(t, p.Await(ctx), context.Canceled)
	c.cancel()
	require.ErrorIs(t, c.Connect(t.Context(), "d@127.0.0.1"), errStopping)
}
