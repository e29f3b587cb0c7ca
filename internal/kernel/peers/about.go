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

// Await waits until the peer is connected. The error says why it is not, or is the cause of ctx's
// end.
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

// Connect makes a connection to a node, another one, and waits for it.
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

// Names returns the nodes that are connected, in alphabetical order, without clients; with hidden, of those too
// that are not to be seen.
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
	c.losses.forget(name) // nobody waits for it any more
	return p != nil
}

// Release returns the OTP release of a node that is connected, see [Peer.Release]; 0: it is none.
func (c *Cluster) Release(name wire.Atom) int {
	if p := c.Get(name); p != nil {
		return p.Release()
	}
	return 0
}

// IsReleaseKnown reports whether Release needs no waiting.
func (c *Cluster) IsReleaseKnown(name wire.Atom) bool {
	p := c.Get(name)
	return p == nil || p.IsReleaseKnown()
}

// Traffic returns how many bytes have come and gone over the connections there are.
func (c *Cluster) Traffic() (in, out uint64) {
	for _, p := range c.All() {
		if link := p.Conn(); link != nil {
			i, o := link.Traffic()
			in, out = in+i, out+o
		}
	}
	return in, out
}

// Infos describes the peers, by name, without clients.
func (c *Cluster) Infos() []observe.Peer {
	infos := []observe.Peer{}
	for _, p := range c.All() {
		if i, ok := p.Info(); ok {
			infos = append(infos, i)
		}
	}
	return infos
}

// isClient reports whether p is connected and no member of the cluster.
func (p *Peer) isClient() bool {
	link := p.Conn()
	return link != nil && link.Peer().Client
}

// Info describes p at one moment; false: it is over, or a client.
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
