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
	places  map[node.Atom][]discovery.Endpoint // where the relays of each node listen
	relays  map[*relay]struct{}
	number  uint64
	refuse  map[node.Atom]time.Time // nobody gets through to that node until then
	dialled map[string]node.Atom    // which node dialled, by the address that the connection comes from
	open    map[net.Listener]struct{}
	direct  bool           // no relays
	wg      sync.WaitGroup // of all its goroutines
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

// soakDialler is the transport of a node: it notes which node has dialled.
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

// side returns which end of a connection a node is at, -1: neither.
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

// relay carries the bytes of one connection to and fro, and returns when it has ended.
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

// all returns the connections there are, the oldest first.
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

// shut lets nobody through to a node for a time.
func (w *soakNet) shut(name node.Atom, d time.Duration) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.refuse[name] = time.Now().Add(d)
}

// close ends all that is left, and waits for it.
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

// heal ends whatever holds connections up.
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

// relay is one connection: conns[0] has been dialled by a node, conns[1] leads to the
// node with the name. lanes[i] is what comes from conns[i].
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
	open   chan struct{} // nil: bytes go through; else closed when they do again
	slow   atomic.Bool
	silent atomic.Bool  // what comes is thrown away
	dead   atomic.Bool  // nothing comes any more; the other direction is to go on
	left   atomic.Int64 // bytes until the connection is cut, plus 1; 0: it is not to be cut
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

// hold makes the lane read nothing until release.
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
		case err != nil: // the other direction goes on until its end
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

// vanish closes one end and leaves the other open, on which nothing comes any more: a
// machine that has lost its power. It lasts until that node gives up.
func (r *relay) vanish(dead int) {
	for i := range r.lanes {
		r.lanes[i].silent.Store(true)
	}
	r.lanes[dead].dead.Store(true)
	r.conns[dead].SetLinger(0)
	r.conns[dead].Close()
}
