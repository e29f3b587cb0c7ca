package peers

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"slices"

	"github.com/actornode/actornode/internal/kernel/limits"
	"github.com/actornode/actornode/internal/wire/links"

	"github.com/actornode/actornode/wire"
	"github.com/actornode/actornode/wire/dist"
)

// handshake returns this node's parameters for a handshake.
func (c *Cluster) handshake(peer wire.Atom, admit func(wire.NodeID) dist.Verdict) dist.Handshake {
	return dist.Handshake{
		Local: c.cfg.Origin.NodeID(), Hidden: c.cfg.Hidden, Client: c.cfg.Client, Peer: peer, Limits: c.limits.Load().Link,
		Cookies: c.cfg.Cookies, OldCookies: c.cfg.Old, Admit: admit,
		Grace:   c.cfg.Grace,
		Silence: c.cfg.TickTime / 2,
		Budget:  func(wire.Atom) dist.Budget { return c.cfg.Quota.NewBudget() },
		Insist:  func(id wire.NodeID) bool { return c.lacks(id.Name) },
		Named:   c.named,
	}
}

// Named is a connection to a node that has assigned this one its name.
type Named struct {
	ID      wire.NodeID
	Quota   *limits.Quota // its quota: the cluster that it joins must have the same
	link    dist.Link
	visitor limits.Visitor
}

// Close closes the connection unless it has joined a cluster.
func (n *Named) Close() { n.link.Close() }

// AskForName connects to the node by and gets a name from it. The node of cfg is undefined@HOST.
func AskForName(cfg ClusterConfig, by wire.Atom) (*Named, error) {
	cfg.Protocols = slices.DeleteFunc(slices.Clone(cfg.Protocols), func(p dist.Protocol) bool { return p.Name() != cfg.Erlang })
	if len(cfg.Protocols) == 0 {
		return nil, errors.New("node: Distribution.NamedBy: names are assigned by Erlang's protocol alone, and Protocols is without it")
	}
	c := NewCluster(cfg)
	defer c.cancel()
	ctx, cancel := cfg.Env.WithTimeout(c.ctx, cfg.ConnectTimeout)
	defer cancel()
	n := &Named{Quota: cfg.Quota}
	c.named = func(id wire.NodeID) { n.ID = id }
	link, place, err := c.dial(ctx, &Peer{Name: by})
	if err != nil {
		return nil, fmt.Errorf("node: cannot get a name from %s: %w", by, err)
	}
	n.link, n.visitor = link, place.Visitor
	return n, nil
}

// Join makes n the connection of its peer.
func (c *Cluster) Join(n *Named) error {
	c.mu.Lock()
	place, err := c.links.Take(netip.Prefix{}, false)
	c.mu.Unlock()
	if err != nil {
		return err
	}
	place.Visitor = n.visitor
	c.adopt(n.link, nil, place)
	return nil
}

// lacks reports whether this node has no link to another and is not about to get one from there. If it is, the other node
// sees the new connection as alive.
func (c *Cluster) lacks(name wire.Atom) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	p := c.peers[name]
	return c.proven[name] == 0 && (p == nil || !p.IsUp())
}

// beginDial is called before this node sends its name to p on a connection that it has made. endDial is called at the end of
// the attempt.
func (c *Cluster) beginDial(p *Peer) (*limits.Place, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.proven[p.Name] > 0 || p.IsUp() {
		return nil, fmt.Errorf("%w: the peer has already connected", dist.ErrBusy)
	}
	place, err := c.links.Take(netip.Prefix{}, false)
	if err == nil {
		p.named = make(chan struct{})
	}
	return place, err
}

func (c *Cluster) endDial(p *Peer) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if p.named != nil {
		close(p.named)
		p.named = nil
	}
}

// isComing reports whether the peer has proved its identity on a connection of its own that has not been adopted yet.
func (c *Cluster) isComing(name wire.Atom) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.proven[name] > 0
}

// dialer is a goroutine that connects p, and then the next ones of c.dials: started by Want or SetLimits, ended by itself,
// waited for by Stop.
func (c *Cluster) dialer(p *Peer) {
	defer c.wg.Done()
	for p != nil {
		c.connect(p)
		p = c.next(p)
	}
}

// next returns the peer to be dialled after p, or nil if there is none.
func (c *Cluster) next(p *Peer) *Peer {
	c.mu.Lock()
	next, late := c.dials.Done(&p.dial, c.cfg.Env.Now())
	c.mu.Unlock()
	c.tooLate(late)
	return next
}

// tooLate ends peers that have waited too long to be dialled.
func (c *Cluster) tooLate(late []*Peer) {
	for _, q := range late {
		q.fail(fmt.Errorf("%w: this one waited %v", errManyDials, c.cfg.ConnectTimeout))
		c.release(q)
	}
}

// connect tries to connect p, for ConnectTimeout.
func (c *Cluster) connect(p *Peer) {
	ctx, cancel := c.cfg.Env.WithTimeout(c.ctx, c.cfg.ConnectTimeout)
	defer cancel()
	c.cfg.Env.Go(func() { // until p is connected otherwise, or has ended; ends with ctx at the latest
		select {
		case <-p.ready:
			cancel()
		case <-ctx.Done():
		}
	})
	link, place, err := c.dial(ctx, p)
	// If the peer is connecting by itself, wait for it; but that may fail.
	for pause := busyPause; err != nil && (errors.Is(err, dist.ErrBusy) || c.isComing(p.Name)) && ctx.Err() == nil; pause *= 2 {
		select {
		case <-p.ready:
		case <-ctx.Done():
		case <-c.cfg.Env.After(pause):
			link, place, err = c.dial(ctx, p)
		}
	}
	if err == nil && link.Peer().ID.Name != p.Name {
		link.Close()
		c.giveBack(place)
		err = fmt.Errorf("node %s answered instead", link.Peer().ID.Name)
	}
	joined := err == nil && p.join(link, nil, place)
	c.endDial(p) // notifies waiters of the outcome
	c.release(p) // before adopt waits for p to be gone
	switch {
	case joined:
	case err != nil:
		p.fail(err) // unless the peer's own attempt was faster
	case limits.GivesUp(c.greater(p.Name), p.IsOver()):
		link.Close()
		c.giveBack(place)
	default:
		c.adopt(link, nil, place)
	}
}

// dial connects to a node by the first protocol that both nodes support and that works. A node that answers and then refuses
// is not tried by another one. After success the caller must call endDial.
func (c *Cluster) dial(ctx context.Context, p *Peer) (dist.Link, *limits.Place, error) {
	if in, out := c.cfg.Cookies(p.Name); in == "" || out == "" {
		return nil, nil, fmt.Errorf("node: no cookie is configured for %s", p.Name)
	}
	ends, err := c.cfg.Finder.Find(ctx, p.Name)
	if err != nil {
		return nil, nil, err
	}
	err = fmt.Errorf("node: %s is reachable at %v, but this node speaks none of these protocols", p.Name, ends)
	announced := len(c.cfg.Protocols)
	for i, proto := range c.cfg.Protocols {
		for _, e := range ends {
			if !c.cfg.Speaks(proto, e.Protocol) {
				continue
			}
			announced = min(announced, i)
			conn, failed := c.connection(ctx, proto, e.Addr, p.Name)
			if failed != nil {
				err = failed
				continue
			}
			c.fallsBack(p.Name, i, announced, err)
			return c.introduce(ctx, p, proto, conn, e.Addr)
		}
	}
	return nil, nil, err
}

// Speaks reports whether protocol, of a [discovery.Endpoint], names p.
func (c *ClusterConfig) Speaks(p dist.Protocol, protocol string) bool {
	return p.Name() == protocol || protocol == "" && p == c.Protocols[len(c.Protocols)-1]
}

// introduce makes the handshake on a connection and returns the link.
func (c *Cluster) introduce(ctx context.Context, p *Peer, proto dist.Protocol, conn net.Conn, addr string) (
	dist.Link, *limits.Place, error,
) {
	v := limits.Visitor{Policy: c.cfg.Rights}
	place, err := (*limits.Place)(nil), v.Dialled(p.Name, conn)
	if err == nil {
		place, err = c.beginDial(p)
	}
	if err != nil {
		conn.Close()
		return nil, nil, err
	}
	place.Visitor = v
	h := c.handshake(p.Name, nil)
	h.Redial = v.Redial(func(ctx context.Context) (net.Conn, error) { return c.connection(ctx, proto, addr, p.Name) })
	link, err := proto.Dial(ctx, conn, h)
	if err != nil {
		c.endDial(p)
		c.giveBack(place)
		return nil, nil, err
	}
	return link, place, nil
}

// connection opens a connection for a protocol.
func (c *Cluster) connection(ctx context.Context, p dist.Protocol, addr string, name wire.Atom) (net.Conn, error) {
	if t, ok := c.cfg.Transport.(links.Chooser); ok {
		return t.DialFor(ctx, p.Name(), addr, name)
	}
	return c.cfg.Transport.Dial(ctx, addr, name)
}

// fallsBack is called before this node dials a peer by the protocol with index proto, where announced is the index of the
// best one announced. why is the error of the attempt with that.
func (c *Cluster) fallsBack(name wire.Atom, proto, announced int, why error) {
	c.mu.Lock()
	f, ok := c.memory.Dials(name, proto, announced)
	c.mu.Unlock()
	if !ok {
		return
	}
	c.fallbacks.Add(1)
	if !f.New {
		return
	}
	if announced == proto {
		why = errNotAnnounced
	}
	c.warnOfFallback("trying a less preferred protocol: the preferred one failed", name, f.Used, f.Best,
		"error", limits.Brief(why))
}

// linked is called when a peer has been connected by a protocol.
func (c *Cluster) linked(p *Peer, protocol string) {
	proto := slices.IndexFunc(c.cfg.Protocols, func(p dist.Protocol) bool { return p.Name() == protocol })
	c.mu.Lock()
	if c.dials.Withdraw(&p.dial) { // it has connected by itself
		p.holds--
	}
	var f limits.Fallback
	ok := false
	if !p.isClient() {
		f, ok = c.memory.Connected(p.Name, proto, len(c.cfg.Protocols))
	}
	c.mu.Unlock()
	if ok {
		c.fallbacks.Add(1)
		c.warnOfFallback("a peer connected with a less preferred protocol than it used before", p.Name, f.Used, f.Best)
	}
}

var errNotAnnounced = errors.New("the peer no longer announces the preferred protocol")

// warnOfFallback logs what has happened, and what to do about it.
func (c *Cluster) warnOfFallback(what string, name wire.Atom, proto, best int, more ...any) {
	used, better := c.cfg.Protocols[proto].Name(), c.cfg.Protocols[best].Name()
	c.cfg.Log.Warn(what, append([]any{"peer", string(name), "protocol", used, "preferred", better,
		"to_forbid", fmt.Sprintf("remove %s from protocols", used)}, more...)...)
}
