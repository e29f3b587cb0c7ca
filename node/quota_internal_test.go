package node

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/node/discovery"
	"github.com/actornode/actornode/node/internal/quota"
	"github.com/actornode/actornode/wire"
	"github.com/actornode/actornode/wire/dist"
)

// gauged is a link that says of itself what a test wants.
type gauged struct {
	dist.Link
	buffered int
	sent     uint64
	unsent   int
	unsteady bool
}

func (g *gauged) Peer() dist.Peer                  { return dist.Peer{} }
func (g *gauged) Close() error                     { return nil }
func (g *gauged) Write(*dist.Frame) (int, error)   { return g.buffered, nil }
func (g *gauged) Gauge() (uint64, int)             { return 0, g.buffered }
func (g *gauged) Taken() (uint64, int, bool)       { return g.sent, g.unsent, !g.unsteady }
func (g *gauged) Flush(bool) (left int, err error) { return 0, nil }

// connectedTo returns peers of a node that has these limits, whose writers sleep.
func connectedTo(t *testing.T, d Distribution, links ...*gauged) (*Node, []*peer) {
	d.Cookie, d.Finder = "c", &discovery.Static{}
	n, err := Start(Config{Name: "a@127.0.0.1", Distribution: &d})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, n.Stop()) })
	var peers []*peer
	for i, l := range links {
		p := newPeer(n, Atom([]string{"b@127.0.0.1", "c@127.0.0.1", "d@127.0.0.1"}[i]))
		p.link = l
		require.True(t, p.box.rest(l))
		peers = append(peers, p)
	}
	return n, peers
}

// While more waits for all peers than may, each is held to its share; what is sent or lost
// counts no longer.
func TestQuotaShares(t *testing.T) {
	const mib = 1 << 20
	a, b := &gauged{}, &gauged{}
	n, peers := connectedTo(t, Distribution{Queue: 8 * mib, Cluster: ClusterLimits{Queued: 10 * mib}}, a, b)
	q := n.dist.quota
	put := func(p *peer, bytes int) bool {
		p.link.(*gauged).buffered = bytes
		full, err := p.box.put(new(acting), dist.Frame{Op: dist.OpSend})
		require.NoError(t, err)
		return full
	}
	assert.False(t, put(peers[0], 50<<10), "a little")
	assert.Zero(t, q.Queued.Used(), "and nobody is told")
	assert.False(t, put(peers[0], 7*mib))
	assert.False(t, put(peers[1], 2*mib))
	assert.EqualValues(t, 9*mib, q.Queued.Used())
	assert.False(t, put(peers[1], 3*mib), "all is taken")
	assert.True(t, put(peers[1], 5*mib+1), "more than all, and than its share")
	assert.EqualValues(t, 1, q.Queued.Refused())
	assert.NotNil(t, peers[1].box.space(PID{}))
	assert.True(t, put(peers[0], 7*mib+quota.Step+1))
	a.buffered = 0
	peers[0].box.take(nil, 0) // in hand
	assert.True(t, q.Queued.Over())
	peers[0].box.take(nil, 0) // sent
	assert.EqualValues(t, 5*mib+1, q.Queued.Used())
	assert.False(t, put(peers[1], 7*mib))
	peers[1].box.close()
	assert.Zero(t, q.Queued.Used())
	assert.Zero(t, q.Busy())
}

// What the driver sees of a peer: what its link says, and what is in the hands of the writer.
func TestQuotaLooks(t *testing.T) {
	const kib = 1 << 10
	limits := ClusterLimits{Answers: 100 * kib, Stall: time.Hour}
	start := time.Unix(1000, 0)
	stuck := &gauged{buffered: 2 * kib} // what it held is in the hands of a pass that goes on
	_, peers := connectedTo(t, Distribution{Queue: kib, Cluster: limits}, stuck)
	_, err := peers[0].box.put(new(acting), dist.Frame{Op: dist.OpSend})
	require.NoError(t, err)
	stuck.buffered = 0
	require.NoError(t, peers[0].lookAt(start))
	require.EqualError(t, peers[0].lookAt(start.Add(time.Hour)),
		"the peer took nothing for 1h0m0s while 2.0 KiB waited to be sent (limits.stall)")
	l := &gauged{unsteady: true, buffered: 2 * kib}
	_, peers = connectedTo(t, Distribution{Queue: kib, Cluster: limits}, l)
	require.NoError(t, peers[0].lookAt(start))
	require.NoError(t, peers[0].lookAt(start.Add(2*time.Hour)), "the link has no connection for the moment")
}

// A peer that never acknowledges that links are gone is not kept for ever.
func TestQuotaUnacknowledged(t *testing.T) {
	n, peers := connectedTo(t, Distribution{Cluster: ClusterLimits{Links: 2}}, &gauged{})
	p, far := peers[0], wire.NewOrigin(wire.NodeID{Name: "b@127.0.0.1", Creation: 1})
	for i := range 5 {
		require.NoError(t, p.lookAt(time.Now()))
		pid, err := n.Spawn(ActorFunc(func(*Context, any) error { return nil }))
		require.NoError(t, err)
		require.True(t, p.connectLink(n.lookup(pid), far.PID(uint64(i))))
		p.cutLink(pid.Number(), far.PID(uint64(i)))
	}
	require.ErrorContains(t, p.lookAt(time.Now()), "does not acknowledge")
}
