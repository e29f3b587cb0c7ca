package node

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/actornode/actornode/node/discovery"
	"github.com/actornode/actornode/node/internal/admission"
	"github.com/actornode/actornode/wire"
	"github.com/actornode/actornode/wire/dist"
)

// listener is where nodes that speak one of the protocols connect.
type listener struct {
	net.Listener
	proto dist.Protocol

	mu      sync.Mutex
	pending *admission.Arrivals // guarded by mu
	dropped [2]uint64           // from it so far, for want of room and for the share of a source
}

// firstStep is how long a peer may take to say its name, if ConnectTimeout has its default;
// it grows with that. Over TLS, whose handshake comes before and takes what the machine
// takes for it, it is ConnectTimeout.
const firstStep = 2 * time.Second

func (d *distribution) firstStep() time.Duration {
	if d.encrypts() {
		return d.cfg.ConnectTimeout
	}
	return max(firstStep, time.Duration(float64(d.cfg.ConnectTimeout)*float64(firstStep)/float64(defaultConnectTimeout)))
}

// encrypts reports whether the transport keeps strangers from what nodes say.
func (d *distribution) encrypts() bool {
	e, ok := d.cfg.Transport.(dist.Encrypter)
	return ok && e.Encrypts()
}

// validateListeners checks that each address belongs to a protocol.
func (d *Distribution) validateListeners() error {
	var names []string
	for _, p := range d.Protocols {
		if slices.Contains(names, p.Name()) {
			return fmt.Errorf("node: Distribution.Protocols lists %s twice", p.Name())
		}
		names = append(names, p.Name())
	}
	for name := range d.Listeners {
		if !slices.Contains(names, name) {
			return fmt.Errorf("node: Distribution.Listeners has an address for %q, which is not one of Distribution.Protocols: %q", name,
				names)
		}
	}
	return nil
}

// address returns where a protocol is listened for, "-": nowhere.
func (d *Distribution) address(p dist.Protocol) (string, error) {
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

// speaks reports whether p is the protocol of an [discovery.Endpoint].
func (d *Distribution) speaks(p dist.Protocol, protocol string) bool {
	return p.Name() == protocol || protocol == "" && p == d.Protocols[len(d.Protocols)-1]
}

// listen opens the listeners and makes the node known.
func (d *distribution) listen() error {
	me := discovery.Announcement{Name: d.n.cfg.Name, Creation: d.n.cfg.Creation}
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
		d.lns = append(d.lns, &listener{Listener: ln, proto: p,
			pending: admission.NewArrivals(d.cfg.Cluster.Pending, d.cfg.Cluster.PendingPerSource)})
		me.Endpoints = append(me.Endpoints, discovery.Endpoint{Protocol: p.Name(), Addr: ln.Addr().String()})
	}
	if len(d.lns) == 0 {
		return nil
	}
	ctx, cancel := d.n.env.WithTimeout(d.ctx, d.cfg.ConnectTimeout)
	defer cancel()
	var err error
	if d.gone, err = d.cfg.Finder.Announce(ctx, me); err != nil {
		return fmt.Errorf("node: cannot announce %s to discovery: %w", me.Name, err)
	}
	d.warnOfListeners()
	for _, ln := range d.lns {
		d.wg.Add(1)
		d.n.env.Go(func() { d.accept(ln) })
	}
	return nil
}

// warnOfListeners says what strangers could do who reach a listener.
func (d *distribution) warnOfListeners() {
	if d.encrypts() {
		return
	}
	var open, cookie []string
	for _, ln := range d.lns {
		if isLocal(ln.Addr()) {
			continue
		}
		open = append(open, ln.Addr().String())
		if ln.proto.Name() == erlang {
			cookie = append(cookie, ln.Addr().String())
		}
	}
	if open != nil {
		d.n.cfg.Log.Warn("connections from other machines are not encrypted: anyone on the network path can read and change what "+
			"nodes send; "+
			"set up TLS, or listen on 127.0.0.1", "listeners", strings.Join(open, " "))
	}
	if cookie != nil {
		d.n.cfg.Log.Warn("other machines can connect with Erlang's protocol, whose cookie protects against mistakes but not against "+
			"attackers; set up TLS, or allow only the native protocol if all nodes speak it", "listeners", strings.Join(cookie, " "))
	}
}

// isLocal reports whether only this machine can connect to an address.
func isLocal(addr net.Addr) bool {
	tcp, ok := addr.(*net.TCPAddr)
	return !ok || tcp.IP.IsLoopback()
}

func (d *distribution) closeListeners() {
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
func (n *Node) Endpoints() (all []discovery.Endpoint) {
	if n.dist != nil {
		for _, ln := range n.dist.lns {
			all = append(all, discovery.Endpoint{Protocol: ln.proto.Name(), Addr: ln.Addr().String()})
		}
	}
	return all
}

// dial connects to a node in the first of the ways that both have and that leads
// anywhere. Who answers and then refuses is not asked in another way. After a success
// endDial is to be called.
func (d *distribution) dial(ctx context.Context, p *peer) (dist.Link, *admission.Place, error) {
	if in, out := d.cookies(p.name); in == "" || out == "" {
		return nil, nil, fmt.Errorf("node: no cookie is configured for %s", p.name)
	}
	ends, err := d.cfg.Finder.Find(ctx, p.name)
	if err != nil {
		return nil, nil, err
	}
	err = fmt.Errorf("node: %s is reachable at %v, but this node speaks none of these protocols", p.name, ends)
	announced := len(d.cfg.Protocols)
	for i, proto := range d.cfg.Protocols {
		for _, e := range ends {
			if !d.cfg.speaks(proto, e.Protocol) {
				continue
			}
			announced = min(announced, i)
			conn, failed := d.connection(ctx, proto, e.Addr, p.name)
			if failed != nil {
				err = failed
				continue
			}
			d.fallsBack(p.name, i, announced, err)
			return d.introduce(ctx, p, proto, conn, e.Addr)
		}
	}
	return nil, nil, err
}

// introduce makes a link of a connection.
func (d *distribution) introduce(ctx context.Context, p *peer, proto dist.Protocol, conn net.Conn, addr string) (
	dist.Link, *admission.Place, error,
) {
	place, err := d.beginDial(p)
	if err != nil {
		conn.Close()
		return nil, nil, err
	}
	h := d.handshake(p.name, nil)
	h.Redial = func(ctx context.Context) (net.Conn, error) { return d.connection(ctx, proto, addr, p.name) }
	link, err := proto.Dial(ctx, conn, h)
	if err != nil {
		d.endDial(p)
		d.giveBack(place)
		return nil, nil, err
	}
	return link, place, nil
}

// connection makes one for a protocol.
func (d *distribution) connection(ctx context.Context, p dist.Protocol, addr string, name Atom) (net.Conn, error) {
	if c, ok := d.cfg.Transport.(dist.Chooser); ok {
		return c.DialFor(ctx, p.Name(), addr, name)
	}
	return d.cfg.Transport.Dial(ctx, addr, name)
}

// accept is the goroutine of a listener: started by startDist, ended by stop.
func (d *distribution) accept(ln *listener) {
	defer d.wg.Done()
	for {
		conn, err := ln.Accept()
		if err != nil {
			if d.ctx.Err() != nil || errors.Is(err, net.ErrClosed) {
				return
			}
			d.n.cfg.Log.Error("cannot accept connections: will retry", "protocol", ln.proto.Name(), "error", err)
			ln.dropOldest() // too many open files, or the like
			select {
			case <-d.n.env.After(acceptPause):
			case <-d.ctx.Done():
			}
			continue
		}
		ctx, end := context.WithCancelCause(d.ctx)
		a := &admission.Arrival{From: admission.SourceOf(conn.RemoteAddr()), Drop: end}
		ln.enter(a)
		d.wg.Add(1)
		d.n.env.Go(func() { d.incoming(ctx, a, conn, ln) }) // ended by its handshake's timeout at the latest
	}
}

// acceptPause is how long a listener that fails is left alone.
const acceptPause = 100 * time.Millisecond

var (
	errDropped = errors.New("dropped in favour of a newer connection: too many connections have not yet proved that they know " +
		"the cookie (limits.pending)")
	errShare = errors.New("dropped in favour of a newer connection from the same address: too many from there have not yet " +
		"proved that they know the cookie " +
		"(limits.pending_per_source)")
	errNoFiles = errors.New("dropped: this node cannot accept more connections (open files?)")
	errSlow    = errors.New("the handshake took too long")
)

// enter counts an arrival, and drops another if there is no room.
func (ln *listener) enter(a *admission.Arrival) {
	ln.mu.Lock()
	defer ln.mu.Unlock()
	switch dropped, share := ln.pending.Add(a); {
	case dropped == nil:
	case share:
		ln.dropped[1]++
		dropped.Drop(errShare)
	default:
		ln.dropped[0]++
		dropped.Drop(errDropped)
	}
}

func (ln *listener) dropOldest() {
	ln.mu.Lock()
	defer ln.mu.Unlock()
	if a := ln.pending.Oldest(); a != nil {
		ln.pending.Remove(a)
		a.Drop(errNoFiles)
	}
}

func (ln *listener) leave(a *admission.Arrival) {
	ln.mu.Lock()
	defer ln.mu.Unlock()
	ln.pending.Remove(a)
}

// incoming is the goroutine of a connection that has come in.
func (d *distribution) incoming(ctx context.Context, a *admission.Arrival, conn net.Conn, ln *listener) {
	defer d.wg.Done()
	defer a.Drop(nil)
	ctx, cancel := d.n.env.WithTimeoutCause(ctx, d.cfg.ConnectTimeout, errSlow)
	defer cancel()
	keepOpen := context.AfterFunc(ctx, func() { conn.Close() }) // whatever the protocol is waiting for
	wait := d.firstStep()
	first := d.n.env.AfterFunc(wait, func() { a.Drop(fmt.Errorf("the peer did not send its name within %v", wait)) })
	defer first.Stop()
	var c *claim
	var unfit error // what the transport knows against the peer
	h := d.handshake("", func(id wire.NodeID) (v dist.Verdict) {
		first.Stop()
		if voucher, ok := conn.(dist.Voucher); ok {
			if unfit = voucher.Vouch(id.Name); unfit != nil {
				return dist.NotAllowed
			}
		}
		c, v, unfit = d.admit(id, a.From)
		return v
	})
	proved := false
	h.Proved = func(wire.NodeID) error {
		proved = true
		ln.leave(a)
		return d.prove(ctx, c)
	}
	from := conn.RemoteAddr().String()
	link, err := ln.proto.Accept(ctx, conn, h)
	ln.leave(a)
	if err == nil && c.place == nil { // a protocol that does not ask
		if err = d.prove(ctx, c); err != nil {
			link.Close()
		}
	}
	if c != nil && c.place != nil {
		defer d.settled(c)
	}
	if !keepOpen() && err == nil {
		link.Close()
		err = context.Cause(ctx)
	}
	switch {
	case err == nil:
		d.adopt(link, c, c.place)
		return
	case c != nil:
		d.giveBack(c.place)
	}
	level := slog.LevelWarn
	switch {
	case errors.Is(err, dist.ErrResumed):
		return
	case proved && errors.Is(err, dist.ErrBusy):
		level = slog.LevelDebug // both have connected at the same time: nothing is wrong
	}
	d.n.cfg.Log.Log(ctx, level, "refused an incoming connection", "protocol", ln.proto.Name(), "from", from, "error",
		briefError(cmp.Or(unfit, err)))
}

// briefError is the beginning of the text of an error that a stranger can make longer.
func briefError(err error) string {
	text := err.Error()
	if len(text) > maxBrief {
		text = strings.ToValidUTF8(text[:maxBrief], "") + "…"
	}
	return text
}

// admissionLimits are those of connections.
func (d *distribution) admissionLimits() []LimitUse {
	all := LimitUse{Name: "pending", Max: int64(d.cfg.Cluster.Pending)}
	share := LimitUse{Name: "pending_per_source", Max: int64(d.cfg.Cluster.PendingPerSource)}
	for _, ln := range d.lns {
		ln.mu.Lock()
		all.Used, share.Used = max(all.Used, int64(ln.pending.Len())), max(share.Used, int64(ln.pending.Largest()))
		all.Refused += ln.dropped[0]
		share.Refused += ln.dropped[1]
		ln.mu.Unlock()
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	var uses []LimitUse
	for _, u := range d.links.Limits() {
		uses = append(uses, LimitUse(u))
	}
	return append(uses, all, share, LimitUse(d.dials.Limit()))
}
