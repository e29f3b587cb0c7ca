package node

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"slices"
	"time"

	"github.com/actornode/actornode/wire"
)

// listener is where nodes that speak one of the protocols connect.
type listener struct {
	net.Listener
	proto wire.Protocol
}

// validateListeners checks that each address belongs to a protocol.
func (d *Distribution) validateListeners() error {
	var names []string
	for _, p := range d.Protocols {
		if slices.Contains(names, p.Name()) {
			return fmt.Errorf("node: Distribution.Protocols has %s twice", p.Name())
		}
		names = append(names, p.Name())
	}
	for name := range d.Listeners {
		if !slices.Contains(names, name) {
			return fmt.Errorf("node: Distribution.Listeners has an address for %q; the protocols are %q", name, names)
		}
	}
	return nil
}

// address returns where a protocol is listened for, "-": nowhere.
func (d *Distribution) address(p wire.Protocol) (string, error) {
	if a := d.Listeners[p.Name()]; a != "" {
		return a, nil
	}
	if d.speaks(p, "") || d.Listen == "-" {
		return d.Listen, nil
	}
	host, _, err := net.SplitHostPort(d.Listen)
	if err != nil {
		return "", fmt.Errorf("node: Distribution.Listen %q: want host:port: %w", d.Listen, err)
	}
	return net.JoinHostPort(host, "0"), nil
}

// speaks reports whether p is the protocol of an [Endpoint].
func (d *Distribution) speaks(p wire.Protocol, protocol string) bool {
	return p.Name() == protocol || protocol == "" && p == d.Protocols[len(d.Protocols)-1]
}

// listen opens the listeners and makes the node known.
func (d *dist) listen() error {
	me := Announcement{Name: d.n.cfg.Name, Creation: d.n.cfg.Creation}
	for _, p := range d.cfg.Protocols {
		addr, err := d.cfg.address(p)
		if err != nil {
			return err
		}
		if addr == "-" {
			continue
		}
		ln, err := d.cfg.Transport.Listen(d.ctx, addr)
		if err != nil {
			return fmt.Errorf("node: cannot listen for other nodes (%s): %w", p.Name(), err)
		}
		d.lns = append(d.lns, listener{ln, p})
		me.Endpoints = append(me.Endpoints, Endpoint{Protocol: p.Name(), Addr: ln.Addr().String()})
	}
	if len(d.lns) == 0 {
		return nil
	}
	ctx, cancel := context.WithTimeout(d.ctx, d.cfg.ConnectTimeout)
	defer cancel()
	var err error
	if d.gone, err = d.cfg.Finder.Announce(ctx, me); err != nil {
		return fmt.Errorf("node: cannot make %s known: %w", me.Name, err)
	}
	for _, ln := range d.lns {
		d.wg.Add(1)
		go d.accept(ln)
	}
	return nil
}

func (d *dist) closeListeners() {
	for _, ln := range d.lns {
		ln.Close()
	}
}

// Addr returns where the node listens for those that speak the last of its
// protocols, Erlang's by default; nil: nowhere.
func (n *Node) Addr() net.Addr {
	if n.dist == nil {
		return nil
	}
	for _, ln := range n.dist.lns {
		if n.dist.cfg.speaks(ln.proto, "") {
			return ln.Addr()
		}
	}
	return nil
}

// Endpoints returns where the node listens, one for each protocol.
func (n *Node) Endpoints() (all []Endpoint) {
	if n.dist != nil {
		for _, ln := range n.dist.lns {
			all = append(all, Endpoint{ln.proto.Name(), ln.Addr().String()})
		}
	}
	return all
}

// dial connects to a node in the first of the ways that both have and that leads
// anywhere. Who answers and then refuses is not asked in another way.
func (d *dist) dial(ctx context.Context, name Atom) (wire.Link, error) {
	if in, out := d.cookies(name); in == "" || out == "" {
		return nil, fmt.Errorf("node: there is no cookie for %s", name)
	}
	ends, err := d.cfg.Finder.Find(ctx, name)
	if err != nil {
		return nil, err
	}
	err = fmt.Errorf("node: %s is at %v, and this node speaks none of that", name, ends)
	for _, proto := range d.cfg.Protocols {
		for _, e := range ends {
			if !d.cfg.speaks(proto, e.Protocol) {
				continue
			}
			conn, failed := d.connection(ctx, proto, e.Addr, name)
			if failed != nil {
				err = failed
				continue
			}
			h := d.handshake(name, nil)
			h.Redial = func(ctx context.Context) (net.Conn, error) { return d.connection(ctx, proto, e.Addr, name) }
			return proto.Dial(ctx, conn, h)
		}
	}
	return nil, err
}

// connection makes one for a protocol.
func (d *dist) connection(ctx context.Context, p wire.Protocol, addr string, name Atom) (net.Conn, error) {
	if c, ok := d.cfg.Transport.(wire.Chooser); ok {
		return c.DialFor(ctx, p.Name(), addr, name)
	}
	return d.cfg.Transport.Dial(ctx, addr, name)
}

// accept is the goroutine of a listener: started by startDist, ended by stop.
func (d *dist) accept(ln listener) {
	defer d.wg.Done()
	for {
		conn, err := ln.Accept()
		if err != nil {
			if d.ctx.Err() != nil || errors.Is(err, net.ErrClosed) {
				return
			}
			d.n.cfg.Log.Error("cannot accept connections", "protocol", ln.proto.Name(), "error", err)
			select { // too many open files, or the like
			case <-time.After(100 * time.Millisecond):
			case <-d.ctx.Done():
			}
			continue
		}
		select {
		case d.shakes <- struct{}{}:
			d.wg.Add(1)
			go d.incoming(conn, ln.proto) // ended by its handshake's timeout at the latest
		default:
			d.n.cfg.Log.Warn("connection refused: too many that have not said who they are", "from", conn.RemoteAddr().String())
			conn.Close()
		}
	}
}

func (d *dist) incoming(conn net.Conn, proto wire.Protocol) {
	defer d.wg.Done()
	ctx, cancel := context.WithTimeout(d.ctx, d.cfg.ConnectTimeout)
	defer cancel()
	var who *visitor
	var unfit error // what the transport knows against the peer
	from := conn.RemoteAddr().String()
	link, err := proto.Accept(ctx, conn, d.handshake("", func(id wire.NodeID) (v wire.Verdict) {
		if voucher, ok := conn.(wire.Voucher); ok {
			if unfit = voucher.Vouch(id.Name); unfit != nil {
				return wire.NotAllowed
			}
		}
		if unfit = d.n.lacksRoom(); unfit != nil {
			return wire.NotAllowed
		}
		who, v = d.admit(id)
		return v
	}))
	<-d.shakes
	if who != nil {
		defer d.farewell(who)
	}
	switch {
	case err == nil:
		d.adopt(link, who)
	case !errors.Is(err, wire.ErrResumed):
		d.n.cfg.Log.Warn("connection refused", "protocol", proto.Name(), "from", from, "error", cmp.Or(unfit, err))
		if who != nil && who.mine != nil {
			d.unvisited(who.mine, err)
		}
	}
}

// unvisited is for a peer that is known only for an attempt of its own which has
// failed.
func (d *dist) unvisited(mine *peer, err error) {
	d.mu.Lock()
	wanted := mine.wanted && d.ctx.Err() == nil
	if wanted { // somebody here wants to reach that node by now
		mine.dialing = true
		mine.holds++
		d.wg.Add(1)
		go d.connect(mine)
	}
	if !wanted && !mine.isUp() && d.peers[mine.name] == mine {
		delete(d.peers, mine.name) // nobody has it: who wants the node from now on connects
	}
	d.mu.Unlock()
	if !wanted {
		mine.fail(err)
	}
}
