package node

import (
	"cmp"
	"slices"
	"sync/atomic"
	"time"

	"github.com/actornode/actornode/wire/dist"
)

// PeerInfo describes a connection to another node, as it was at one moment.
type PeerInfo struct {
	Name     Atom
	Creation uint32
	Up       bool   // false: it is being connected, and what follows is zero but for what waits and the tables
	Protocol string // name of the protocol
	Addr     string
	Hidden   bool // not to be seen by nodes()
	Since    time.Time

	Queue  int  // bytes that wait to be written, estimated
	Frames int  // signals that wait before they are encoded
	Held   bool // more waits than Distribution.Queue: senders are held up

	Links    int // between processes here and there; one that is taken away counts until the peer has said so
	Monitors int // of processes there, or of the node itself, by processes here
	Watchers int // monitors of processes here by processes there
	Calls    int // calls and spawns from here that wait for an answer from there

	BytesIn, BytesOut   uint64    // of this connection, ticks included
	FramesIn, FramesOut uint64    // signals: messages, links, monitors, …; out 0 where the protocol does not tell (dist.Gauge)
	LastIn              time.Time // when something came, as exact as the ticks: a quarter of Distribution.TickTime
}

// flow is what a peer counts. Its zero value is ready.
type flow struct {
	in    uint64       // signals read; written by the reader only
	since atomic.Int64 // Unix time, ns; 0: never connected
	life  atomic.Int64 // when the ticker last saw that something had come
}

// begin says that the connection is there.
func (f *flow) begin(at time.Time) {
	now := at.UnixNano()
	f.since.Store(now)
	f.life.Store(now)
}

// read counts signals. The reader calls it.
func (f *flow) read(n int) { atomic.StoreUint64(&f.in, f.in+uint64(n)) }

// Peers describes the nodes that this one is connected to, or is connecting, in
// alphabetical order, hidden ones included.
func (n *Node) Peers() []PeerInfo {
	if n.dist == nil {
		return nil
	}
	all := n.dist.all()
	infos := make([]PeerInfo, 0, len(all))
	for _, p := range all {
		if i, ok := p.info(); ok {
			infos = append(infos, i)
		}
	}
	slices.SortFunc(infos, func(a, b PeerInfo) int { return cmp.Compare(a.Name, b.Name) })
	return infos
}

// info describes p; false: it is over.
func (p *peer) info() (PeerInfo, bool) {
	i := PeerInfo{Name: p.name}
	p.mu.Lock()
	link, over := p.link, p.over
	i.Links, i.Monitors, i.Watchers, i.Calls = len(p.links), len(p.out)+len(p.downs), len(p.in), len(p.calls)
	p.mu.Unlock()
	if over {
		return i, false
	}
	i.Queue, i.Frames = p.box.Queue()
	i.Held = p.box.Level() > p.box.Limit()
	if link == nil {
		return i, true
	}
	about := link.Peer()
	i.Up, i.Creation, i.Protocol, i.Addr, i.Hidden = true, about.ID.Creation, about.Protocol, about.Addr, about.Hidden
	i.BytesIn, i.BytesOut = link.Traffic()
	if g, ok := link.(dist.Gauge); ok {
		var waiting int
		i.FramesOut, waiting = g.Gauge()
		i.Queue += waiting
	}
	i.FramesIn = atomic.LoadUint64(&p.flow.in)
	i.Since, i.LastIn = time.Unix(0, p.flow.since.Load()), time.Unix(0, p.flow.life.Load())
	return i, true
}
