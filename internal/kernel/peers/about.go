package peers

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/actornode/actornode/internal/cause"
	"github.com/actornode/actornode/internal/wire/links"
	"github.com/actornode/actornode/node/observe"
	"github.com/actornode/actornode/wire"
)

// Await waits until the peer is connected. The error says why it is not, or is the cause of ctx's end.
func (p *Peer) Await(ctx context.Context) error {
	select {
	case <-p.ready:
	case <-ctx.Done():
		return cause.Of(ctx)
	}
	if why := p.Why(); why != nil {
		return fmt.Errorf("node: cannot connect to %s: %w", p.Name, why)
	}
	return nil
}

// Connect connects to another node and waits until it is connected.
func (c *Cluster) Connect(ctx context.Context, name wire.Atom) error {
	if name == "" {
		return errors.New("node: cannot connect to a node without a name")
	}
	p := c.Want(name, true)
	if p == nil {
		return errStopping
	}
	return p.Await(ctx)
}

// IsUp reports whether a node is connected.
func (c *Cluster) IsUp(name wire.Atom) bool {
	p := c.Get(name)
	return p != nil && p.IsUp()
}

// Names returns the connected nodes, in alphabetical order, without clients; if hidden is set, hidden nodes are included.
func (c *Cluster) Names(hidden bool) []wire.Atom {
	all := []wire.Atom{}
	for _, p := range c.All() {
		if p.IsUp() && !p.isClient() && (hidden || !p.Conn().Peer().Hidden) {
			all = append(all, p.Name)
		}
	}
	return all
}

// Disconnect ends the connection to a node. It reports whether there was one.
func (c *Cluster) Disconnect(name wire.Atom) bool {
	p := c.Get(name)
	if p != nil {
		p.End(errDisconnected)
	}
	c.losses.forget(name) // its return is no longer expected
	return p != nil
}

// Release returns the OTP release of a connected node, see [Peer.Release], or 0 if it is not connected.
func (c *Cluster) Release(name wire.Atom) int {
	if p := c.Get(name); p != nil {
		return p.Release()
	}
	return 0
}

// IsReleaseKnown reports whether Release returns without waiting.
func (c *Cluster) IsReleaseKnown(name wire.Atom) bool {
	p := c.Get(name)
	return p == nil || p.IsReleaseKnown()
}

// Traffic returns the number of bytes received and sent over the existing connections.
func (c *Cluster) Traffic() (in, out uint64) {
	for _, p := range c.All() {
		if link := p.Conn(); link != nil {
			i, o := link.Traffic()
			in, out = in+i, out+o
		}
	}
	return in, out
}

// Infos describes the peers, sorted by name, without clients.
func (c *Cluster) Infos() []observe.Peer {
	infos := []observe.Peer{}
	for _, p := range c.All() {
		if i, ok := p.Info(); ok {
			infos = append(infos, i)
		}
	}
	return infos
}

// isClient reports whether p is connected as a client, not as a member of the cluster.
func (p *Peer) isClient() bool {
	link := p.Conn()
	return link != nil && link.Peer().Client
}

// Info describes the current state of p. ok is false if the connection has ended, or p is a client.
func (p *Peer) Info() (i observe.Peer, ok bool) {
	p.mu.Lock()
	link, over, n := p.link, p.tables.Ended(), p.tables.Counts()
	p.mu.Unlock()
	if over || p.isClient() {
		return i, false
	}
	i.Name, i.Links, i.Monitors, i.Watchers, i.Calls = p.Name, n.Links, n.Monitors, n.Watchers, n.Requests
	i.Queue, i.Frames = p.Box.Queue()
	i.Held = p.Box.Held()
	if link == nil {
		return i, true
	}
	about := link.Peer()
	i.Up, i.Creation, i.Protocol, i.Addr = true, about.ID.Creation, about.Protocol, about.Addr
	i.Hidden, i.Foreign = about.Hidden, about.Foreign()
	i.BytesIn, i.BytesOut = link.Traffic()
	if g, ok := link.(links.Counter); ok {
		var waiting int
		i.FramesOut, waiting = g.Gauge()
		i.Queue += waiting
	}
	i.FramesIn = atomic.LoadUint64(&p.Flow.in)
	i.Since, i.LastIn = time.Unix(0, p.Flow.since.Load()), time.Unix(0, p.Flow.life.Load())
	return i, true
}
