package nodetest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"net/netip"
	"os"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/actornode/actornode/node"
	"github.com/actornode/actornode/node/discovery"
)

// window is how many bytes a connection holds in one direction before its writer waits, as a socket's buffer does.
const window = 256 << 10

// network is what is between the nodes of a Cluster. It is their discovery.Finder, and makes their dist.Transports. All that
// belongs to it is guarded by mu.
type network struct {
	mu        sync.Mutex
	lastPort  int
	endpoints map[node.Atom][]discovery.Endpoint
	listeners map[string]*listener // by address
	ways      map[ends]*way
}

// ends are the nodes at the two ends of a way.
type ends struct{ from, to node.Atom }

// way is a direction of the network.
type way struct {
	cut     bool
	delay   time.Duration
	streams map[*stream]bool // that are not broken, or closed at both ends
	changed chan struct{}    // closed when cut changes
}

func newNetwork() *network {
	return &network{endpoints: make(map[node.Atom][]discovery.Endpoint), listeners: make(map[string]*listener),
		ways: make(map[ends]*way)}
}

// wayLocked returns the way between two nodes.
func (w *network) wayLocked(from, to node.Atom) *way {
	v := w.ways[ends{from, to}]
	if v == nil {
		v = &way{streams: make(map[*stream]bool), changed: make(chan struct{})}
		w.ways[ends{from, to}] = v
	}
	return v
}

// change changes the way between two nodes.
func (w *network) change(from, to node.Atom, f func(v *way)) {
	w.mu.Lock()
	defer w.mu.Unlock()
	v := w.wayLocked(from, to)
	f(v)
	close(v.changed)
	v.changed = make(chan struct{})
	for s := range v.streams {
		s.wakeLocked()
	}
}

// reset breaks the connections between two nodes: what is on its way is lost.
func (w *network) reset(a, b node.Atom) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, v := range []*way{w.wayLocked(a, b), w.wayLocked(b, a)} {
		for s := range v.streams {
			s.breakLocked(syscall.ECONNRESET)
		}
	}
}

// Find is part of discovery.Finder.
func (w *network) Find(_ context.Context, name node.Atom) ([]discovery.Endpoint, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if all, ok := w.endpoints[name]; ok {
		return all, nil
	}
	return nil, fmt.Errorf("%w: the cluster of the test has no node %s", discovery.ErrUnknownNode, name)
}

// Announce is part of discovery.Finder.
func (w *network) Announce(_ context.Context, me discovery.Announcement) (stop func(), err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.endpoints[me.Name] = me.Endpoints
	return func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		delete(w.endpoints, me.Name)
	}, nil
}

// List is part of discovery.Lister.
func (w *network) List(context.Context) ([]node.Atom, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Sorted(maps.Keys(w.endpoints)), nil
}

// transport is the dist.Transport of a node.
type transport struct {
	*network
	of node.Atom
}

// addressLocked returns a new address of the node.
func (x transport) addressLocked() *net.TCPAddr {
	_, host, _ := strings.Cut(string(x.of), "@")
	ip := net.ParseIP(host)
	if ip == nil {
		ip = net.IPv4(127, 0, 0, 1)
	}
	x.lastPort++
	return &net.TCPAddr{IP: ip, Port: x.lastPort}
}

// Listen is part of dist.Transport.
func (x transport) Listen(context.Context, string) (net.Listener, error) {
	x.mu.Lock()
	defer x.mu.Unlock()
	l := &listener{x: x, addr: x.addressLocked(), in: make(chan net.Conn), closed: make(chan struct{})}
	x.listeners[l.addr.String()] = l
	return l, nil
}

// Dial is part of dist.Transport. While one of the two directions is cut it waits.
func (x transport) Dial(ctx context.Context, addr string, peer node.Atom) (net.Conn, error) {
	for {
		x.mu.Lock()
		there, back := x.wayLocked(x.of, peer), x.wayLocked(peer, x.of)
		l := x.listeners[addr]
		open, changed := !there.cut && !back.cut, there.changed
		if !there.cut {
			changed = back.changed
		}
		var here, other *conn
		if open && l != nil {
			here, other = x.connectLocked(l, there, back)
		}
		x.mu.Unlock()
		switch {
		case !open:
			select {
			case <-changed:
				continue
			case <-ctx.Done():
				return nil, ctx.Err()
			}
		case l == nil:
			at, _ := netip.ParseAddrPort(addr)
			return nil, &net.OpError{Op: "dial", Net: "tcp", Addr: net.TCPAddrFromAddrPort(at), Err: syscall.ECONNREFUSED}
		}
		select {
		case l.in <- other:
			return here, nil
		case <-l.closed:
			here.Close()
			other.Close()
			return nil, &net.OpError{Op: "dial", Net: "tcp", Addr: l.addr, Err: syscall.ECONNREFUSED}
		case <-ctx.Done():
			here.Close()
			other.Close()
			return nil, ctx.Err()
		}
	}
}

// connectLocked returns the two ends of a connection.
func (x transport) connectLocked(l *listener, there, back *way) (here, other *conn) {
	from := x.addressLocked()
	out := &stream{way: there, changed: make(chan struct{})}
	in := &stream{way: back, changed: make(chan struct{})}
	there.streams[out], back.streams[in] = true, true
	return &conn{n: x.network, in: in, out: out, local: from, remote: l.addr, writing: make(chan struct{}, 1)},
		&conn{n: x.network, in: out, out: in, local: l.addr, remote: from, writing: make(chan struct{}, 1)}
}

// listener is a net.Listener.
type listener struct {
	x      transport
	addr   *net.TCPAddr
	in     chan net.Conn
	closed chan struct{}
	once   sync.Once
}

func (l *listener) Accept() (net.Conn, error) {
	select {
	case c := <-l.in:
		return c, nil
	case <-l.closed:
		return nil, net.ErrClosed
	}
}

func (l *listener) Close() error {
	l.once.Do(func() {
		close(l.closed)
		l.x.mu.Lock()
		defer l.x.mu.Unlock()
		delete(l.x.listeners, l.addr.String())
	})
	return nil
}

func (l *listener) Addr() net.Addr { return l.addr }

// stream is one direction of a connection. It is guarded by the lock of its network.
type stream struct {
	way     *way
	chunks  []chunk // on their way, in order
	size    int     // bytes in chunks
	over    bool    // the writer has closed it: the last chunk is the end
	deaf    bool    // the reader has closed it
	broken  error   // both ends get it at once
	changed chan struct{}
}

// chunk is what a Write has sent.
type chunk struct {
	b   []byte // empty: the end
	due time.Time
}

// wakeLocked makes those who wait for a change look again.
func (s *stream) wakeLocked() {
	close(s.changed)
	s.changed = make(chan struct{})
}

func (s *stream) breakLocked(err error) {
	if s.broken == nil {
		s.broken = err
		delete(s.way.streams, s)
		s.wakeLocked()
	}
}

// sendLocked adds a chunk.
func (s *stream) sendLocked(b []byte) {
	due := time.Now().Add(s.way.delay)
	if n := len(s.chunks); n > 0 && due.Before(s.chunks[n-1].due) {
		due = s.chunks[n-1].due // it does not overtake
	}
	s.chunks = append(s.chunks, chunk{b, due})
	s.size += len(b)
	s.wakeLocked()
}

// takeLocked takes bytes that have arrived. If there are none, wait is how long it takes until there may be some; 0: until
// the stream changes.
func (s *stream) takeLocked(b []byte) (n int, wait time.Duration, err error) {
	if s.broken != nil {
		return 0, 0, s.broken
	}
	if s.way.cut || len(s.chunks) == 0 {
		return 0, 0, nil
	}
	first := &s.chunks[0]
	if wait = time.Until(first.due); wait > 0 {
		return 0, wait, nil
	}
	if len(first.b) == 0 { // it stays: each Read finds it
		return 0, 0, io.EOF
	}
	n = copy(b, first.b)
	if first.b = first.b[n:]; len(first.b) == 0 {
		s.chunks = s.chunks[1:]
	}
	s.size -= n
	s.wakeLocked()
	return n, 0, nil
}

// putLocked takes over as much of b as there is space for.
func (s *stream) putLocked(b []byte) (n int, err error) {
	switch {
	case s.broken != nil:
		return 0, s.broken
	case s.over:
		return 0, syscall.EPIPE
	case s.deaf && !s.way.cut:
		return 0, syscall.ECONNRESET
	}
	if n = min(len(b), window-s.size); n > 0 {
		s.sendLocked(bytes.Clone(b[:n]))
	}
	return n, nil
}

// endLocked ends what is written to s.
func (s *stream) endLocked() {
	if !s.over {
		s.over = true
		s.sendLocked(nil)
	}
}

// conn is one end of a connection. What is not set once is guarded by the lock of its network.
type conn struct {
	n             *network
	in, out       *stream
	local, remote *net.TCPAddr
	writing       chan struct{} // holds one while a Write goes on: its bytes stay together

	closed          bool
	readBy, writeBy time.Time // deadlines
}

func (c *conn) LocalAddr() net.Addr  { return c.local }
func (c *conn) RemoteAddr() net.Addr { return c.remote }

// Read is part of net.Conn.
func (c *conn) Read(b []byte) (int, error) {
	for {
		c.n.mu.Lock()
		err := c.blockedLocked(c.readBy)
		n, wait, changed := 0, time.Duration(0), c.in.changed
		if err == nil && len(b) > 0 {
			n, wait, err = c.in.takeLocked(b)
		}
		by := c.readBy
		c.n.mu.Unlock()
		if err != nil || n > 0 || len(b) == 0 {
			return n, err
		}
		await(changed, wait, by)
	}
}

// Write is part of net.Conn.
func (c *conn) Write(b []byte) (written int, err error) {
	c.writing <- struct{}{}
	defer func() { <-c.writing }()
	for {
		c.n.mu.Lock()
		n, changed := 0, c.out.changed
		if err = c.blockedLocked(c.writeBy); err == nil {
			n, err = c.out.putLocked(b[written:])
		}
		by := c.writeBy
		c.n.mu.Unlock()
		if written += n; err != nil || written == len(b) {
			return written, err
		}
		if n == 0 {
			await(changed, 0, by)
		}
	}
}

// blockedLocked returns why an operation with a deadline cannot go on.
func (c *conn) blockedLocked(by time.Time) error {
	switch {
	case c.closed:
		return net.ErrClosed
	case !by.IsZero() && time.Until(by) <= 0:
		return os.ErrDeadlineExceeded
	}
	return nil
}

// await waits for changed; wait, unless 0; or by, unless zero.
func await(changed <-chan struct{}, wait time.Duration, by time.Time) {
	if !by.IsZero() {
		if left := max(time.Until(by), 1); wait == 0 || left < wait {
			wait = left
		}
	}
	if wait == 0 {
		<-changed
		return
	}
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-changed:
	case <-timer.C:
	}
}

// CloseWrite ends what is written; Read goes on.
func (c *conn) CloseWrite() error {
	c.n.mu.Lock()
	defer c.n.mu.Unlock()
	c.out.endLocked()
	return nil
}

// Close is part of net.Conn.
func (c *conn) Close() error {
	c.n.mu.Lock()
	defer c.n.mu.Unlock()
	if c.closed {
		return net.ErrClosed
	}
	c.closed, c.in.deaf = true, true
	c.out.endLocked()
	c.in.wakeLocked()
	for _, s := range []*stream{c.in, c.out} {
		if s.over && s.deaf {
			delete(s.way.streams, s)
		}
	}
	return nil
}

// SetDeadline is part of net.Conn.
func (c *conn) SetDeadline(t time.Time) error {
	return errors.Join(c.SetReadDeadline(t), c.SetWriteDeadline(t))
}

// SetReadDeadline is part of net.Conn.
func (c *conn) SetReadDeadline(t time.Time) error { return c.set(&c.readBy, t, c.in) }

// SetWriteDeadline is part of net.Conn.
func (c *conn) SetWriteDeadline(t time.Time) error { return c.set(&c.writeBy, t, c.out) }

func (c *conn) set(by *time.Time, t time.Time, s *stream) error {
	c.n.mu.Lock()
	defer c.n.mu.Unlock()
	if c.closed {
		return net.ErrClosed
	}
	*by = t
	s.wakeLocked()
	return nil
}
