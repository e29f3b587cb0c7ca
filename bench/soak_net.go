package main

import (
	"context"
	"fmt"
	"net"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/actornode/actornode/node"
	"github.com/actornode/actornode/node/discovery"
	"github.com/actornode/actornode/wire"
	"github.com/actornode/actornode/wire/dist"
)

// soakNet is the network between the nodes of a soak: each connection goes through a
// relay, which can cut it, stop reading, or read slowly. The nodes have real sockets.
// It is a discovery.Finder.
type soakNet struct {
	mu      sync.Mutex
	places  map[node.Atom][]discovery.Endpoint // addresses of the relays of each node
	relays  map[*relay]struct{}
	number  uint64
	refuse  map[node.Atom]time.Time // connections to that node are refused until then
	dialled map[string]node.Atom    // the dialling node, by the source address of the connection
	open    map[net.Listener]struct{}
	direct  bool           // no relays
	wg      sync.WaitGroup // for all its goroutines
}

func newSoakNet() *soakNet {
	return &soakNet{places: make(map[node.Atom][]discovery.Endpoint), relays: make(map[*relay]struct{}),
		refuse:  make(map[node.Atom]time.Time),
		dialled: make(map[string]node.Atom), open: make(map[net.Listener]struct{})}
}

// Find is part of discovery.Finder.
func (w *soakNet) Find(_ context.Context, name node.Atom) ([]discovery.Endpoint, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if at, ok := w.places[name]; ok {
		return at, nil
	}
	return nil, fmt.Errorf("bench: nobody knows where %s is", name)
}

// Announce is part of discovery.Finder: it puts a relay before each endpoint of the node.
func (w *soakNet) Announce(ctx context.Context, me discovery.Announcement) (func(), error) {
	var at []discovery.Endpoint
	var open []net.Listener
	shut := func() {
		for _, l := range open {
			l.Close()
		}
	}
	for _, e := range me.Endpoints {
		if w.direct {
			at = append(at, e)
			continue
		}
		l, err := new(net.ListenConfig).Listen(ctx, "tcp", "127.0.0.1:0")
		if err != nil {
			shut()
			return nil, err
		}
		open = append(open, l)
		w.mu.Lock()
		w.open[l] = struct{}{}
		w.mu.Unlock()
		at = append(at, discovery.Endpoint{Protocol: e.Protocol, Addr: l.Addr().String()})
		w.wg.Go(func() { w.accept(l, me.Name, e.Addr) }) // until the listener is closed
	}
	w.mu.Lock()
	w.places[me.Name] = at
	w.mu.Unlock()
	return func() {
		w.mu.Lock()
		if slices.Equal(w.places[me.Name], at) {
			delete(w.places, me.Name)
		}
		w.mu.Unlock()
		shut()
	}, nil
}

// soakDialler is the transport of a node: it records the dialling node.
type soakDialler struct {
	dist.TCP
	net *soakNet
	me  node.Atom
}

// Dial is part of dist.Transport.
func (d soakDialler) Dial(ctx context.Context, addr string, peer wire.Atom) (net.Conn, error) {
	conn, err := d.TCP.Dial(ctx, addr, peer)
	if err == nil && !d.net.direct {
		d.net.mu.Lock()
		d.net.dialled[conn.LocalAddr().String()] = d.me
		d.net.mu.Unlock()
	}
	return conn, err
}

// side returns the end of a connection that belongs to a node, or -1.
func (w *soakNet) side(r *relay, name node.Atom) int {
	w.mu.Lock()
	defer w.mu.Unlock()
	switch name {
	case w.dialled[r.conns[0].RemoteAddr().String()]:
		return 0
	case r.name:
		return 1
	}
	return -1
}

func (w *soakNet) accept(l net.Listener, name node.Atom, addr string) {
	for {
		conn, err := l.Accept()
		if err != nil {
			w.mu.Lock()
			delete(w.open, l)
			w.mu.Unlock()
			return
		}
		w.wg.Go(func() { w.relay(conn.(*net.TCPConn), name, addr) }) // until one of the two ends is closed
	}
}

// relay forwards the bytes of one connection in both directions, and returns when it has ended.
func (w *soakNet) relay(from *net.TCPConn, name node.Atom, addr string) {
	w.mu.Lock()
	refused := time.Now().Before(w.refuse[name])
	w.mu.Unlock()
	var to net.Conn
	var err error
	if !refused {
		to, err = net.Dial("tcp", addr)
	}
	defer func() {
		w.mu.Lock()
		delete(w.dialled, from.RemoteAddr().String())
		w.mu.Unlock()
	}()
	if refused || err != nil {
		from.Close()
		return
	}
	r := &relay{name: name, over: make(chan struct{}), conns: [2]*net.TCPConn{from, to.(*net.TCPConn)}}
	w.mu.Lock()
	w.number++
	r.number = w.number
	w.relays[r] = struct{}{}
	w.mu.Unlock()
	var lanes sync.WaitGroup
	lanes.Go(func() { r.carry(0) })
	lanes.Go(func() { r.carry(1) })
	lanes.Wait()
	r.end(false)
	w.mu.Lock()
	delete(w.relays, r)
	w.mu.Unlock()
}

// all returns the open connections, the oldest first.
func (w *soakNet) all() []*relay {
	w.mu.Lock()
	defer w.mu.Unlock()
	all := make([]*relay, 0, len(w.relays))
	for r := range w.relays {
		all = append(all, r)
	}
	slices.SortFunc(all, func(a, b *relay) int { return int(a.number) - int(b.number) })
	return all
}

// shut refuses connections to a node for a time.
func (w *soakNet) shut(name node.Atom, d time.Duration) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.refuse[name] = time.Now().Add(d)
}

// close ends all connections and goroutines, and waits for them.
func (w *soakNet) close() {
	w.mu.Lock()
	for l := range w.open {
		l.Close()
	}
	w.mu.Unlock()
	for _, r := range w.all() {
		r.end(true)
	}
	w.wg.Wait()
}

// heal ends all disturbances of connections.
func (w *soakNet) heal() {
	w.mu.Lock()
	clear(w.refuse)
	w.mu.Unlock()
	for _, r := range w.all() {
		for i := range r.lanes {
			r.lanes[i].release()
		}
	}
}

// relay is one connection: conns[0] was dialled by a node, conns[1] leads to the node name. lanes[i] forwards the bytes
// read from conns[i].
type relay struct {
	name   node.Atom
	number uint64
	conns  [2]*net.TCPConn
	lanes  [2]lane
	over   chan struct{} // closed by end
	once   sync.Once
}

// lane is one direction of a relay.
type lane struct {
	mu     sync.Mutex
	open   chan struct{} // nil if not held; else closed when bytes flow again
	slow   atomic.Bool
	silent atomic.Bool  // input is discarded
	dead   atomic.Bool  // no more input; the other direction continues
	left   atomic.Int64 // bytes until the connection is cut, plus 1; 0: no cut
}

const (
	slowBytes = 4 << 10
	slowPause = 2 * time.Millisecond
)

func (l *lane) gate() <-chan struct{} {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.open
}

// hold stops the lane from reading until release.
func (l *lane) hold() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.open == nil {
		l.open = make(chan struct{})
	}
}

func (l *lane) release() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.slow.Store(false)
	l.left.Store(0)
	if l.open != nil {
		close(l.open)
		l.open = nil
	}
}

// carry is the goroutine of a lane.
func (r *relay) carry(i int) {
	from, to, l := r.conns[i], r.conns[1-i], &r.lanes[i]
	buf := make([]byte, 64<<10)
	for {
		if gate := l.gate(); gate != nil {
			select {
			case <-gate:
			case <-r.over:
				return
			}
		}
		part := buf
		if l.slow.Load() {
			part = buf[:slowBytes]
			select {
			case <-time.After(slowPause):
			case <-r.over:
				return
			}
		}
		n, err := from.Read(part)
		cut := false
		if l.left.Load() > 0 && n > 0 {
			if left := l.left.Add(-int64(n)); left <= 1 {
				n, cut = max(0, n+int(left)-1), true
			}
		}
		if n > 0 && !l.silent.Load() {
			if _, err := to.Write(part[:n]); err != nil && !l.silent.Load() {
				r.end(false)
				return
			}
		}
		switch {
		case cut:
			r.end(true)
			return
		case err != nil && l.dead.Load():
			return
		case err != nil && l.silent.Load():
			r.end(false)
			return
		case err != nil: // the other direction continues until its end
			if to.CloseWrite() != nil {
				r.end(false)
			}
			return
		}
	}
}

// end closes both ends; with reset, the nodes see an error rather than the end of a stream.
func (r *relay) end(reset bool) {
	r.once.Do(func() {
		close(r.over)
		for _, c := range r.conns {
			if reset {
				c.SetLinger(0)
			}
			c.Close()
		}
	})
}

// vanish closes one end and leaves the other open but silent, like a machine that has lost power. It lasts until the other
// node gives up.
func (r *relay) vanish(dead int) {
	for i := range r.lanes {
		r.lanes[i].silent.Store(true)
	}
	r.lanes[dead].dead.Store(true)
	r.conns[dead].SetLinger(0)
	r.conns[dead].Close()
}
