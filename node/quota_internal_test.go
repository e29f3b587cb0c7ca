package node

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/node/discovery"
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
		require.True(t, p.box.Rest(l))
		peers = append(peers, p)
	}
	return n, peers
}

// What the driver sees of a peer: what its link says, and what is in the hands of the writer.
func TestQuotaLooks(t *testing.T) {
	const kib = 1 << 10
	limits := ClusterLimits{Answers: 100 * kib, Stall: time.Hour}
	start := time.Unix(1000, 0)
	stuck := &gauged{buffered: 2 * kib} // what it held is in the hands of a pass that goes on
	_, peers := connectedTo(t, Distribution{Queue: kib, Cluster: limits}, stuck)
	_, err := peers[0].box.Put(nil, dist.Frame{Op: dist.OpSend})
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
