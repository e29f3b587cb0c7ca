package epmdserver

import (
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/netip"
	"sync"
	"syscall"
	"time"
)

// Errors of the server.
var (
	// ErrKilled means that a KILL request ended the server.
	ErrKilled = errors.New("epmd: stopped by a kill request")
	// ErrStopped means that the server was stopped.
	ErrStopped = errors.New("epmd: stopped")
	// ErrNotAllowed means that the caller may not make this request.
	ErrNotAllowed = errors.New("epmd: not allowed")
)

// Config has the limits of a server. The zero value works; the comment of each field gives its default.
type Config struct {
	Logger      *slog.Logger  // slog.Default(); errors of peers at Debug, failures of this host at Warn
	MaxConns    int           // maximum open connections, including one for each live node: 1024; more are closed at once
	MaxRemote   int           // maximum of these from other hosts: half of MaxConns
	IdleTimeout time.Duration // time from accept to the last byte of the answer: 60 s
	Relaxed     bool          // allow KILL_REQ while names are live, and STOP_REQ
}

// withDefaults returns c with its zero fields filled in, or the first error in it.
func (c Config) withDefaults() (Config, error) {
	switch {
	case min(c.MaxConns, c.MaxRemote) < 0:
		return c, errors.New("epmd: Config: a limit must not be negative")
	case c.IdleTimeout < 0:
		return c, errors.New("epmd: Config: a time must not be negative")
	}
	c.IdleTimeout = cmp.Or(c.IdleTimeout, time.Minute)
	c.MaxConns = cmp.Or(c.MaxConns, 1024)
	c.MaxRemote = cmp.Or(c.MaxRemote, (c.MaxConns+1)/2)
	if c.Logger == nil {
		c.Logger = slog.Default()
	}
	return c, nil
}

// ConflictGrace is the time that a clash of names waits for the other connection to be closed: the registration of a node
// that was restarted at once may arrive before the end of its former connection.
const ConflictGrace = 100 * time.Millisecond

// Server is an embedded port mapper. It can serve only once.
type Server struct {
	cfg Config

	mu        sync.Mutex
	cause     error         // the cause of its end, or nil
	served    bool          // Serve was called
	ending    chan struct{} // closed with the first cause
	done      chan struct{} // closed when Serve is about to return
	listeners []net.Listener
	calls     map[uint64]*call
	remote    int    // calls that are not local
	ids       uint64 // the latest caller's ID
	registry  registry
	stats     Stats
}

// Stats are a server's counters since its creation, and the current Conns, Names and Creation.
type Stats struct {
	Conns      int    // open connections
	Names      int    // live names
	Accepted   uint64 // connections
	TurnedAway uint64 // connections closed at once because of MaxConns or MaxRemote
	Refused    uint64 // registrations
	Bad        uint64 // requests without an answer: malformed, not allowed, too slow
	Creation   uint32 // the latest one given, or 0
}

// call is a connection: served by one goroutine, which owns conn's reading and
// writing.
type call struct {
	caller
	conn net.Conn
	gone chan struct{} // closed when its name, if any, is released
}

// New returns a server, or an error if cfg is invalid.
func New(cfg Config) (*Server, error) {
	cfg, err := cfg.withDefaults()
	if err != nil {
		return nil, err
	}
	return &Server{
		cfg:      cfg,
		ending:   make(chan struct{}),
		done:     make(chan struct{}),
		calls:    map[uint64]*call{},
		registry: registry{relaxed: cfg.Relaxed},
	}, nil
}

// Serve answers on the listeners until ctx ends (its cause is returned), Stop is
// called (ErrStopped), a KILL request is granted (ErrKilled) or one of the
// listeners fails. Then all listeners and connections are closed, their
// goroutines have ended, and the server cannot serve again.
func (s *Server) Serve(ctx context.Context, listeners ...net.Listener) error {
	s.mu.Lock()
	if s.served {
		s.mu.Unlock()
		closeAll(listeners)
		return fmt.Errorf("%w: a server can serve only once", ErrStopped)
	}
	s.served, s.listeners = true, listeners
	if s.cause != nil { // stopped before it started
		s.endLocked(s.cause)
	}
	s.mu.Unlock()
	defer close(s.done)
	defer context.AfterFunc(ctx, func() { s.end(context.Cause(ctx)) })()
	var all sync.WaitGroup
	for _, l := range listeners {
		all.Go(func() { s.accept(l, &all) }) // ended by endLocked, awaited below
	}
	all.Wait()
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.cause
}

// Stop ends Serve and waits until it is about to return. It may be called more
// than once, and before Serve.
func (s *Server) Stop() {
	s.mu.Lock()
	s.endLocked(ErrStopped)
	served := s.served
	s.mu.Unlock()
	if served {
		<-s.done
	}
}

// Stats returns the counters.
func (s *Server) Stats() Stats {
	s.mu.Lock()
	defer s.mu.Unlock()
	stats := s.stats
	stats.Conns, stats.Names, stats.Creation = len(s.calls), len(s.registry.live), s.registry.last
	return stats
}

func (s *Server) end(cause error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.endLocked(cause)
}

// endLocked closes everything; goroutines in a system call return from it.
func (s *Server) endLocked(cause error) {
	if s.cause == nil {
		s.cause = cause
		close(s.ending)
	}
	closeAll(s.listeners)
	for _, c := range s.calls {
		_ = c.conn.Close()
	}
}

// accept takes connections from l until it fails, and starts their goroutines.
func (s *Server) accept(l net.Listener, all *sync.WaitGroup) {
	const shortest, longest = 5 * time.Millisecond, time.Second
	pause := shortest
	for {
		conn, err := l.Accept()
		if err == nil {
			pause = shortest
			if c := s.open(conn); c != nil {
				all.Go(func() { s.serve(c) }) // ended by its deadline, its peer or end
			}
			continue
		}
		if !outOfDescriptors(err) || !s.pause(pause, err) {
			s.end(fmt.Errorf("epmd: accept: %w", err))
			return
		}
		pause = min(2*pause, longest)
	}
}

// outOfDescriptors reports whether accept may succeed later, when descriptors have been closed.
func outOfDescriptors(err error) bool {
	for _, e := range []error{syscall.EMFILE, syscall.ENFILE, syscall.ENOBUFS, syscall.ENOMEM, syscall.ECONNABORTED} {
		if errors.Is(err, e) {
			return true
		}
	}
	return false
}

// pause waits for d and reports whether the server is still running.
func (s *Server) pause(d time.Duration, err error) bool {
	s.cfg.Logger.Warn("epmd: cannot accept connections: will retry", "error", err, "pause", d)
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-s.ending:
		return false
	}
}

// open registers a connection, or closes it and returns nil if there are too many.
func (s *Server) open(conn net.Conn) *call {
	s.mu.Lock()
	defer s.mu.Unlock()
	c := &call{caller{local: local(conn), port: port(conn)}, conn, make(chan struct{})}
	s.stats.Accepted++
	if s.cause != nil || len(s.calls) >= s.cfg.MaxConns || !c.local && s.remote >= s.cfg.MaxRemote {
		s.stats.TurnedAway++
		_ = conn.Close()
		return nil
	}
	if !c.local {
		s.remote++
	}
	s.ids++
	c.id = s.ids
	s.calls[c.id] = c
	return c
}

// drop ends a connection, and with it its registration.
func (s *Server) drop(c *call) {
	s.mu.Lock()
	s.registry.release(c.id)
	delete(s.calls, c.id)
	if !c.local {
		s.remote--
	}
	s.mu.Unlock()
	close(c.gone)
	_ = c.conn.Close()
}

// serve reads the request of c, answers it, and waits for the end of a connection that must be kept.
func (s *Server) serve(c *call) {
	defer s.drop(c)
	_ = c.conn.SetDeadline(time.Now().Add(s.cfg.IdleTimeout))
	body, err := readRequest(c.conn)
	if err != nil {
		s.bad(c, err)
		return
	}
	r := s.decide(c, body)
	if r.err != nil {
		s.bad(c, r.err)
		return
	}
	if _, err := c.conn.Write(r.answer); err != nil {
		s.cfg.Logger.Debug("epmd: cannot send an answer", "to", c.conn.RemoteAddr(), "error", err)
		return
	}
	switch r.then {
	case closeConn:
	case die:
		s.end(ErrKilled)
	case keep:
		_ = c.conn.SetDeadline(time.Time{})
		fallthrough
	case refused: // the deadline stays
		_, _ = c.conn.Read(make([]byte, 1)) // any byte ends the registration, like the end of the connection
	}
}

// decide calls the registry, twice if the holder of the name may be about to leave, and closes the connection of a node
// evicted by STOP.
func (s *Server) decide(c *call, body []byte) decision {
	r, rival := s.decideOnce(c, body)
	if rival != nil {
		grace := time.NewTimer(ConflictGrace)
		select {
		case <-rival.gone:
			r, _ = s.decideOnce(c, body)
		case <-grace.C:
		}
		grace.Stop()
	}
	if r.then == refused {
		s.mu.Lock()
		s.stats.Refused++
		s.mu.Unlock()
	}
	return r
}

func (s *Server) decideOnce(c *call, body []byte) (r decision, rival *call) {
	s.mu.Lock()
	defer s.mu.Unlock()
	r = s.registry.decide(c.caller, body, time.Now())
	if evicted := s.calls[r.evict]; evicted != nil {
		_ = evicted.conn.Close()
	}
	return r, s.calls[r.rival]
}

func (s *Server) bad(c *call, err error) {
	s.mu.Lock()
	s.stats.Bad++
	s.mu.Unlock()
	s.cfg.Logger.Debug("epmd: a request got no answer", "to", c.conn.RemoteAddr(), "error", err)
}

// readRequest reads a request and returns its body. Like OTP's port mapper, it refuses lengths of 0 and of more than
// MaxRequest, and bytes after the request in the same segment.
func readRequest(r io.Reader) ([]byte, error) {
	const head = 2
	buf := make([]byte, head+MaxRequest)
	for got, want := 0, 0; ; {
		n, err := r.Read(buf[got:])
		got += n
		if want == 0 && got >= head {
			length := int(binary.BigEndian.Uint16(buf))
			if length == 0 || length > MaxRequest {
				return nil, fmt.Errorf("%w: a request of %d bytes", ErrMalformed, length)
			}
			want = head + length
			buf = buf[:max(want, got)]
		}
		switch {
		case want > 0 && got > want:
			return nil, fmt.Errorf("%w: %d unexpected bytes after the request", ErrMalformed, got-want)
		case want > 0 && got == want:
			return buf[head:want], nil
		case err != nil:
			return nil, fmt.Errorf("%w: %w", ErrShort, err)
		}
	}
}

// local reports whether conn comes from this host: from a loopback address, or from its own destination address. Unix
// sockets and pipes are local; other networks count as remote.
func local(conn net.Conn) bool {
	from, ok := addrOf(conn.RemoteAddr())
	if !ok {
		n := conn.RemoteAddr().Network()
		return n == "unix" || n == "pipe"
	}
	to, ok := addrOf(conn.LocalAddr())
	return from.Addr().IsLoopback() || ok && from.Addr() == to.Addr()
}

// port returns the local port of conn, or 0.
func port(conn net.Conn) uint16 {
	a, _ := addrOf(conn.LocalAddr())
	return a.Port()
}

func addrOf(a net.Addr) (netip.AddrPort, bool) {
	ap, err := netip.ParseAddrPort(a.String())
	return netip.AddrPortFrom(ap.Addr().Unmap(), ap.Port()), err == nil
}

func closeAll(listeners []net.Listener) {
	for _, l := range listeners {
		_ = l.Close()
	}
}
