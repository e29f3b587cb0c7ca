package health

import (
	"context"
	"net"
	"net/http"
	"slices"
	"sync"
	"sync/atomic"
)

// connections is a listener with at most "most" open connections. To admit another one, it closes the connection that has
// been idle for the longest; if none is idle, the oldest one that has not sent its whole request. While requests are being
// handled on all of them, the next connection waits, and those behind it wait in the backlog of the system.
type connections struct {
	net.Listener
	freed chan struct{} // capacity 1: a slot may be free
	done  chan struct{}
	stop  sync.Once

	dropped atomic.Uint64 // closed in favour of new ones

	mu      sync.Mutex
	most    int
	open    int
	all     []*connection // in the order of their last change of phase
	waiting bool          // Accept waits for an idle connection
}

func limit(ln net.Listener, most int) *connections {
	return &connections{Listener: ln, most: most, freed: make(chan struct{}, 1), done: make(chan struct{})}
}

// phase is what a connection is doing.
type phase uint8

const (
	asking    phase = iota // the request is incomplete
	answering              // a handler runs, or its output is being sent
	idle                   // between requests
)

// connection is a connection of a [connections].
type connection struct {
	net.Conn
	of     *connections
	closed sync.Once
	phase  phase // guarded by of.mu
}

// Accept is part of net.Listener.
func (l *connections) Accept() (net.Conn, error) {
	conn, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	for !l.take() {
		l.makeRoom()
		select {
		case <-l.freed:
		case <-l.done:
			conn.Close()
			return nil, net.ErrClosed
		}
	}
	c := &connection{Conn: conn, of: l}
	l.mu.Lock()
	l.waiting = false
	l.all = append(l.all, c)
	l.mu.Unlock()
	return c, nil
}

// take takes a slot, and reports whether one was free.
func (l *connections) take() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.open >= l.most {
		return false
	}
	l.open++
	return true
}

// setMost changes most. If more connections are open, the next one to arrive closes connections that have no request in
// progress, until a slot is free.
func (l *connections) setMost(most int) {
	l.mu.Lock()
	l.most = most
	l.mu.Unlock()
	l.free()
}

// free makes Accept check for a free slot.
func (l *connections) free() {
	select {
	case l.freed <- struct{}{}:
	default: // already signalled
	}
}

// Close is part of net.Listener.
func (l *connections) Close() error {
	l.stop.Do(func() { close(l.done) })
	return l.Listener.Close()
}

// makeRoom closes a connection without a request in progress. If there is none, the next one to become idle is closed.
func (l *connections) makeRoom() {
	l.mu.Lock()
	var victim *connection
	for _, c := range l.all {
		if c.phase == idle || c.phase == asking && victim == nil {
			if victim = c; c.phase == idle {
				break
			}
		}
	}
	l.waiting = victim == nil
	if victim != nil {
		l.remove(victim) // with mu held: no request can start on it any more
	}
	l.mu.Unlock()
	l.drop(victim)
}

// drop closes a connection that was removed from all; c may be nil.
func (l *connections) drop(c *connection) {
	if c != nil {
		l.dropped.Add(1)
		c.Close()
	}
}

// Close is part of net.Conn.
func (c *connection) Close() error {
	c.closed.Do(func() {
		c.of.mu.Lock()
		c.of.remove(c)
		c.of.open--
		c.of.mu.Unlock()
		c.of.free()
	})
	return c.Conn.Close()
}

// remove removes c from all. mu is held.
func (l *connections) remove(c *connection) (there bool) {
	for i, k := range l.all {
		if k == c {
			l.all = append(l.all[:i], l.all[i+1:]...)
			return true
		}
	}
	return false
}

// enter changes the phase of c. It returns false if c is being closed in favour of a new connection.
func (c *connection) enter(p phase) bool {
	l := c.of
	l.mu.Lock()
	if c.phase == p {
		there := slices.Contains(l.all, c)
		l.mu.Unlock()
		return there
	}
	if !l.remove(c) {
		l.mu.Unlock()
		return false
	}
	c.phase = p
	if p == idle && l.waiting {
		l.waiting = false
		l.mu.Unlock()
		l.drop(c)
		return false
	}
	l.all = append(l.all, c)
	l.mu.Unlock()
	return true
}

// connectionKey is the key of a request's connection in its context.
type connectionKey struct{}

// install makes s report the phases of its connections.
func install(s *http.Server) {
	next := s.Handler
	s.ConnContext = func(ctx context.Context, conn net.Conn) context.Context {
		return context.WithValue(ctx, connectionKey{}, conn)
	}
	s.ConnState = func(conn net.Conn, state http.ConnState) {
		if c, ok := conn.(*connection); ok && state == http.StateIdle {
			c.enter(idle)
		} else if ok && state == http.StateActive {
			c.enter(asking)
		}
	}
	s.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		// The connection stays in the phase answering until it is idle or closed.
		if c, ok := r.Context().Value(connectionKey{}).(*connection); ok && !c.enter(answering) {
			panic(http.ErrAbortHandler) // or more requests would run than there are connections
		}
		next.ServeHTTP(w, r)
	})
}
