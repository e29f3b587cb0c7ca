package peers

import (
	"errors"
	"github.com/actornode/actornode/internal/kernel/process"
	"log/slog"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/internal/kernel/limits"

	"github.com/actornode/actornode/internal/testkit/processtest"
	"github.com/actornode/actornode/wire"
	"github.com/actornode/actornode/wire/dist"
)

// host is a node that is told of its peers, and gets nothing from them.
type host struct {
	Node
	down int
}

func (h *host) Up(*Peer, dist.Peer) {}
func (h *host) Down(*Peer)          { h.down++ }
func (h *host) BodyPath(any) string { return "" }

// near returns a process of the node that c belongs to; it is in no table.
func near(c *Cluster, number uint64) *process.Process {
	return &process.Process{ID: number, System: c.cfg.System}
}

// gauged is a link that reports about itself what a test sets.
type gauged struct {
	dist.Link
	name     wire.Atom
	buffered int
	sent     uint64
	unsent   int
	unsteady bool
	silent   bool // it acknowledges nothing
	wrote    []dist.Frame
}

func (g *gauged) Peer() dist.Peer {
	return dist.Peer{ID: wire.NodeID{Name: g.name, Creation: 1}, Acks: !g.silent}
}
func (g *gauged) Close() error              { return nil }
func (g *gauged) Traffic() (in, out uint64) { return 3, 5 }
func (g *gauged) Write(f *dist.Frame) (int, error) {
	g.wrote = append(g.wrote, *f)
	return g.buffered, nil
}
func (g *gauged) Gauge() (uint64, int)             { return 0, g.buffered }
func (g *gauged) Taken() (uint64, int, bool)       { return g.sent, g.unsent, !g.unsteady }
func (g *gauged) Flush(bool) (left int, err error) { return 0, nil }

var (
	here  = wire.NewOrigin(wire.NodeID{Name: "a@127.0.0.1", Creation: 1})
	there = wire.NewOrigin(wire.NodeID{Name: "b@127.0.0.1", Creation: 1})
)

// cluster returns a cluster that dials and listens nowhere.
func cluster(held limits.Limits, queue int) (*Cluster, *host) {
	h, sys := &host{}, new(process.System)
	processtest.Init(sys, processtest.Host{Me: here.PID(99)}, here.NodeID(), 1)
	return NewCluster(ClusterConfig{
		System: sys, Origin: here, Node: h, Log: slog.New(slog.DiscardHandler), Shed: new(limits.Shed), Quota: limits.NewQuota(held),
		Cookies:  func(wire.Atom) (in, out string) { return "c", "c" },
		TickTime: time.Hour, ConnectTimeout: time.Hour,
		Limits: limits.Node{Queue: queue, Cluster: limits.Cluster{Connections: 10, ConnectionsPerSource: 5, Dials: 1}},
	}), h
}

// What can be seen of a peer: what its link reports, and what the writer has in hand.
func TestLook(t *testing.T) {
	const kib = 1 << 10
	limits := limits.Limits{Answers: 100 * kib, Queued: 1 << 30, Stall: time.Hour}
	start := time.Unix(1000, 0)
	stuck := &gauged{buffered: 2 * kib} // a pass that goes on has what it held
	c, _ := cluster(limits, kib)
	p := c.Detached("b@127.0.0.1", stuck)
	p.Put(dist.Frame{Op: dist.OpSend})
	stuck.buffered = 0
	require.NoError(t, p.lookAt(start))
	require.EqualError(t, p.lookAt(start.Add(time.Hour)),
		"the peer took nothing for 1h0m0s while 2.0 KiB waited to be sent (limits.stall)")
	p = c.Detached("b@127.0.0.1", &gauged{unsteady: true, buffered: 2 * kib})
	require.NoError(t, p.lookAt(start))
	require.NoError(t, p.lookAt(start.Add(2*time.Hour)), "the link has no connection for the moment")
}

// A peer that never acknowledges unlinks is not kept for ever.
func TestUnacknowledged(t *testing.T) {
	c, _ := cluster(limits.Limits{Links: 2, Queued: 1 << 30, Answers: 1 << 20, Stall: time.Hour}, 1<<20)
	p := c.Detached("b@127.0.0.1", &gauged{})
	for i := range uint64(5) {
		require.NoError(t, p.lookAt(time.Now()))
		require.True(t, p.Link(near(c, i), there.PID(i)))
		p.Unlink(near(c, i), there.PID(i))
	}
	require.ErrorContains(t, p.lookAt(time.Now()), "does not acknowledge")
}

// With a peer that cannot acknowledge, which the link knows, an unlink takes effect at once, even one made before the
// link was there.
func TestUnlinkWithoutAcknowledgement(t *testing.T) {
	c, _ := cluster(limits.Limits{Links: 2, Queued: 1 << 30, Answers: 1 << 20, Stall: time.Hour}, 1<<20)
	p := c.Detached("b@127.0.0.1", &gauged{silent: true})
	for i := range uint64(50) {
		require.NoError(t, p.lookAt(time.Now()))
		require.True(t, p.Link(near(c, i), there.PID(i)))
		p.Unlink(near(c, i), there.PID(i))
		p.Tables(func(tables *Tables) { require.Zero(t, tables.Counts().Links) })
	}
	c.mu.Lock()
	early := c.newPeerLocked("c@127.0.0.1") // it is not connected
	c.mu.Unlock()
	require.True(t, early.Link(near(c, 1), there.PID(1)))
	require.True(t, early.Link(near(c, 2), there.PID(2)))
	early.Unlink(near(c, 1), there.PID(1))
	early.Tables(func(tables *Tables) {
		require.Equal(t, 2, tables.Counts().Links)
		tables.AcknowledgeAll()
		require.Equal(t, []Link{{2, there.PID(2)}}, tables.Active())
		require.Equal(t, 1, tables.Counts().Links)
		require.False(t, tables.Unacked())
	})
}

// The order of the peers is not random.
func TestAllIsSorted(t *testing.T) {
	c, _ := cluster(limits.Limits{Queued: 1}, 1)
	for _, name := range []wire.Atom{"d", "a", "c", "e", "b"} {
		c.newPeerLocked(name)
	}
	var names []wire.Atom
	for _, p := range c.All() {
		names = append(names, p.Name)
	}
	require.Equal(t, []wire.Atom{"a", "b", "c", "d", "e"}, names)
}

// Whatever depended on a connection is told of its end once, in the order of its numbers; a peer that is over takes
// nothing more.
func TestEndOfAPeer(t *testing.T) {
	c, h := cluster(limits.Limits{Links: 100, Monitors: 100, Queued: 1 << 30, Answers: 1 << 20}, 1<<20)
	l := &gauged{name: "b@127.0.0.1"}
	p := c.Detached("b@127.0.0.1", l)
	node := &watcher{ref: here.RefOf(1)}
	var order []uint64 // the numbers of the monitors that have fired
	require.True(t, p.tables.MonitorNode(node))
	for i := range uint64(50) {
		n := i * 7 % 50
		require.True(t, p.Link(near(c, n), there.PID(n)))
		m := &watcher{ref: here.RefOf(100 + n), order: &order}
		_, ok := p.tables.Monitor(m, Ends{})
		require.True(t, ok)
	}
	p.End(errStopping)
	p.End(errors.New("once more"))
	require.Equal(t, errStopping, p.Why())
	require.Equal(t, 1, h.down)
	require.Len(t, c.lost, 1, "the mesh is told")
	require.Len(t, order, 50)
	require.True(t, slices.IsSorted(order))
	require.Equal(t, []any{errStopping.Error()}, node.fired)
	require.False(t, p.Link(near(c, 1), there.PID(1)))
	require.False(t, p.tables.MonitorNode(node))
	<-p.Done()
	<-p.gone
	_, ok := p.Info()
	require.False(t, ok)
}
