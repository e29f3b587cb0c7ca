package peers

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/netip"
	"strings"

	"github.com/actornode/actornode/internal/kernel/limits"

	"github.com/actornode/actornode/internal/wire/links"
	"github.com/actornode/actornode/node/discovery"
	"github.com/actornode/actornode/wire"
	"github.com/actornode/actornode/wire/dist"
)

// listener accepts connections of one protocol.
type listener struct {
	net.Listener
	proto dist.Protocol

	pending *limits.Pending
}

// listen opens the listeners and announces the node.
func (c *Cluster) listen() error {
	most := c.limits.Load().Cluster
	for _, p := range c.cfg.Protocols {
		addr, err := c.cfg.Listen(p)
		if err != nil {
			return err
		}
		if addr == "-" {
			continue
		}
		ln, err := c.cfg.Transport.Listen(c.ctx, addr)
		if err != nil {
			return fmt.Errorf("node: cannot listen for other nodes (%s): %w", p.Name(), err)
		}
		c.lns = append(c.lns, &listener{Listener: ln, proto: p, pending: limits.NewPending(most.Pending, most.PendingPerSource)})
	}
	if len(c.lns) == 0 {
		return nil
	}
	ctx, cancel := c.cfg.Env.WithTimeout(c.ctx, c.cfg.ConnectTimeout)
	defer cancel()
	me := c.cfg.Origin.NodeID()
	var err error
	c.gone, err = c.cfg.Finder.Announce(ctx, discovery.Announcement{Name: me.Name, Creation: me.Creation, Endpoints: c.Endpoints()})
	if err != nil {
		return fmt.Errorf("node: cannot announce %s to discovery: %w", me.Name, err)
	}
	c.warnOfListeners()
	for _, ln := range c.lns {
		c.wg.Add(1)
		c.cfg.Env.Go(func() { c.accept(ln) })
	}
	return nil
}

// encrypts reports whether a transport hides the traffic from third parties.
func encrypts(t dist.Transport) bool {
	e, ok := t.(dist.Encrypter)
	return ok && e.Encrypts()
}

// warnOfListeners logs what attackers that can reach a listener could do.
func (c *Cluster) warnOfListeners() {
	if encrypts(c.cfg.Transport) {
		return
	}
	var open, cookie []string
	for _, ln := range c.lns {
		if limits.IsLocal(ln.Addr()) {
			continue
		}
		open = append(open, ln.Addr().String())
		if ln.proto.Name() == c.cfg.Erlang {
			cookie = append(cookie, ln.Addr().String())
		}
	}
	if open != nil {
		c.cfg.Log.Warn("connections from other machines are not encrypted: anyone on the network path can read and change what "+
			"nodes send; "+
			"set up TLS, or listen on 127.0.0.1", "listeners", strings.Join(open, " "))
	}
	if cookie != nil {
		c.cfg.Log.Warn("other machines can connect with Erlang's protocol, whose cookie protects against mistakes but not against "+
			"attackers; set up TLS, or allow only the native protocol if all nodes speak it", "listeners", strings.Join(cookie, " "))
	}
}

func (c *Cluster) closeListeners() {
	for _, ln := range c.lns {
		ln.Close()
	}
}

// Addr returns the listen address for the last of the node's protocols, or nil if there is none.
func (c *Cluster) Addr() net.Addr {
	for _, ln := range c.lns {
		if c.cfg.Speaks(ln.proto, "") {
			return ln.Addr()
		}
	}
	return nil
}

// Endpoints returns the listen addresses, one per protocol.
func (c *Cluster) Endpoints() (all []discovery.Endpoint) {
	for _, ln := range c.lns {
		all = append(all, discovery.Endpoint{Protocol: ln.proto.Name(), Addr: ln.Addr().String()})
	}
	return all
}

// accept is the goroutine of a listener: started by Start, ended by Stop.
func (c *Cluster) accept(ln *listener) {
	defer c.wg.Done()
	for {
		conn, err := ln.Accept()
		if err != nil {
			if c.ctx.Err() != nil || errors.Is(err, net.ErrClosed) {
				return
			}
			c.cfg.Log.Error("cannot accept connections: will retry", "protocol", ln.proto.Name(), "error", err)
			ln.pending.DropOldest(errNoFiles) // too many open files, for example
			select {
			case <-c.cfg.Env.After(acceptPause):
			case <-c.ctx.Done():
			}
			continue
		}
		ctx, end := context.WithCancelCause(c.ctx)
		a := &limits.Arrival{From: limits.SourceOf(conn.RemoteAddr()), Drop: end}
		ln.pending.Enter(a)
		c.wg.Add(1)
		c.cfg.Env.Go(func() { c.incoming(ctx, a, conn, ln) }) // ended by its handshake's timeout at the latest
	}
}

var (
	errAnother = errors.New("another node is connected with this name: it has used another cookie, or another certificate")
	errNoFiles = errors.New("dropped: this node cannot accept more connections (open files?)")
	errSlow    = errors.New("the handshake took too long")
)

// pending returns the limits of unauthenticated connections, and their usage.
func (c *Cluster) pending() (all, share limits.Use) {
	most := c.limits.Load().Cluster
	all = limits.Use{Name: "pending", Max: int64(most.Pending)}
	share = limits.Use{Name: "pending_per_source", Max: int64(most.PendingPerSource)}
	for _, ln := range c.lns {
		ln.pending.Count(&all, &share)
	}
	return all, share
}

// incoming is the goroutine of an incoming connection.
func (c *Cluster) incoming(ctx context.Context, a *limits.Arrival, conn net.Conn, ln *listener) {
	defer c.wg.Done()
	defer a.Drop(nil)
	ctx, cancel := c.cfg.Env.WithTimeoutCause(ctx, c.cfg.ConnectTimeout, errSlow)
	defer cancel()
	keepOpen := context.AfterFunc(ctx, func() { conn.Close() }) // interrupts the protocol
	wait := c.cfg.FirstStep
	first := c.cfg.Env.AfterFunc(wait, func() { a.Drop(fmt.Errorf("the peer did not send its name within %v", wait)) })
	defer first.Stop()
	var k *claim
	var unfit error // why the peer is not acceptable
	visitor := limits.Visitor{Policy: c.cfg.Rights}
	var named assigned
	h := c.handshake("", func(id wire.NodeID) (v dist.Verdict) {
		first.Stop()
		if unfit = visitor.Named(id.Name, conn); unfit != nil {
			return dist.NotAllowed
		}
		if voucher, ok := conn.(dist.Voucher); ok {
			if unfit = voucher.Vouch(id.Name); unfit != nil {
				return dist.NotAllowed
			}
		}
		k, v, unfit = c.admit(id, a.From)
		if k != nil {
			k.named = named
		}
		return v
	})
	h.NameFor = func(host string) (wire.NodeID, bool) {
		named = c.assign(host)
		return named.id, true
	}
	h.Accept = visitor.Accept()
	proved := false
	h.Proved = func(wire.NodeID) error {
		proved = true
		ln.pending.Leave(a)
		return c.prove(ctx, k, &visitor)
	}
	from := conn.RemoteAddr().String()
	link, err := ln.proto.Accept(ctx, conn, h)
	ln.pending.Leave(a)
	if err == nil && k.place == nil { // a protocol that does not call Proved
		if err = c.prove(ctx, k, &visitor); err != nil {
			link.Close()
		}
	}
	if k != nil && k.place != nil {
		defer c.settled(k)
	} else {
		c.unassign(named)
	}
	if !keepOpen() && err == nil {
		link.Close()
		err = context.Cause(ctx)
	}
	switch {
	case err == nil:
		c.adopt(link, k, k.place)
		return
	case k != nil:
		c.giveBack(k.place)
	}
	level := slog.LevelWarn
	switch {
	case errors.Is(err, links.ErrResumed):
		return
	case proved && errors.Is(err, dist.ErrBusy):
		level = slog.LevelDebug // simultaneous connects are no error
	}
	c.cfg.Log.Log(ctx, level, "refused an incoming connection", "protocol", ln.proto.Name(), "from", from, "error",
		limits.Brief(cmp.Or(unfit, err)))
}

// admit decides about a node that wants to connect and may be anybody: it has not proved its identity yet. So admit changes
// nothing that others could observe.
func (c *Cluster) admit(id wire.NodeID, from netip.Prefix) (k *claim, verdict dist.Verdict, why error) {
	if in, out := c.cfg.Cookies(id.Name); id.Name == c.cfg.Origin.NodeID().Name || in == "" || out == "" {
		return nil, dist.NotAllowed, nil
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.claims++
	k = &claim{name: id.Name, from: from, number: c.claims}
	p := c.peers[id.Name]
	s := p.standing(c.greater(id.Name), nil)
	switch {
	case s.Up:
		k.against = p.Conn()
	case !s.Placed:
		if err := cmp.Or(c.cfg.Shed.Room(c.cfg.Env.Now(), from.Addr().IsLoopback()), c.links.Room(from)); err != nil {
			return k, dist.Full, err
		}
	}
	return k, s.Admits(), nil
}

// assign chooses a name for a node that has none, at the host that it sends.
func (c *Cluster) assign(host string) (a assigned) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for a.id.Name == "" || c.peers[a.id.Name] != nil { // a node has connected under that name by itself
		a.id, a.again = c.links.Names.Take(host, c.cfg.Env.Uint64(), c.cfg.Env.Uint32())
	}
	return a
}

// unassign ends a handshake without a connection. Names of unauthenticated nodes are not kept.
func (c *Cluster) unassign(a assigned) {
	if a.again {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.links.Names.Give(a.id)
	}
}

// prove decides about a node that has proved its identity. If it may have the connection, settled is called at the end of the
// handshake.
func (c *Cluster) prove(ctx context.Context, k *claim, v *limits.Visitor) error {
	if err := v.MayConnect(); err != nil {
		return err
	}
	for {
		c.mu.Lock()
		p := c.peers[k.name]
		s := p.standing(c.greater(k.name), k.against)
		if s.Waits() {
			named := p.named
			c.mu.Unlock()
			select {
			case <-named:
				continue
			case <-ctx.Done():
				return context.Cause(ctx)
			}
		}
		defer c.mu.Unlock()
		if p != nil && p.isAnothers(v.Who) {
			return fmt.Errorf("%w: %w", dist.ErrNotAllowed, errAnother)
		}
		if s.Outlasts(k.number) {
			return fmt.Errorf("%w: a newer connection to this peer exists", dist.ErrBusy)
		}
		place, err := c.links.Take(k.from, s.Placed)
		if err == nil && !s.Placed {
			if err = c.cfg.Shed.Take(c.cfg.Env.Now(), k.from.Addr().IsLoopback()); err != nil {
				c.links.Give(place)
			}
		}
		if err != nil {
			return fmt.Errorf("%w: %w", dist.ErrFull, err)
		}
		k.place, place.Visitor, place.Named = place, *v, k.named.id
		c.proven[k.name]++
		return nil
	}
}

// settled ends a handshake that prove has accepted.
func (c *Cluster) settled(k *claim) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.proven[k.name]--; c.proven[k.name] == 0 {
		delete(c.proven, k.name)
	}
}
