package gossip

import (
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"net"
	"net/netip"
	"os"
	"slices"
	"sync"
	"time"

	"github.com/actornode/actornode/internal/kernel/env"
	"github.com/actornode/actornode/internal/kernel/watch"
)

// streams bounds the TCP connections over which members exchange their whole state. memberlist reads a stream to its
// end before it tries a key, so any host that reaches the port could fill its memory.
//
// Invariants, whenever mu is free:
//
//  1. At most max streams are served, at most perSource of them from one source. So out always has a free slot for the
//     next one.
//  2. At most waitFactor times as many wait, unread, in order of arrival. None of them could be served.
//  3. A source is in sources while one of its streams is served or waits.
//  4. A stream ends at most timeout after it was accepted or dialled, and at most bytes are read from it.
type streams struct {
	max, perSource int
	bytes          int64
	timeout        time.Duration
	log            *slog.Logger
	out            chan net.Conn // served, but not yet taken by memberlist
	refusals       watch.Throttle[refusal]
	cuts           watch.Throttle[cutStream]

	mu      sync.Mutex
	served  map[*stream]struct{}
	dialled map[*stream]struct{}
	waiting []*stream // oldest first
	sources map[netip.Prefix]share
	closed  bool
	refused uint64 // number of streams that were not served
	cut     uint64 // number of streams that were too long or too slow
}

// share is how many streams a source has.
type share struct{ served, waiting int }

// waitFactor is how many streams may wait for each that may be served; sourceWaitFactor is the same for one source. A
// waiting stream costs a file and the kernel's buffers.
const (
	waitFactor       = 4
	sourceWaitFactor = 8
)

// logPause is the interval of the log lines on refused streams, and of those on cut streams: each has one.
const logPause = time.Second

// refusal is a stream that was refused, for the log.
type refusal struct {
	from            net.Addr
	why             string
	served, waiting int
}

// cutStream is a stream that was cut, for the log.
type cutStream struct {
	with        net.Addr
	dialledHere bool
	why         error
}

func newStreams(c *Config) *streams {
	s := &streams{
		max: c.MaxStreams, perSource: c.MaxStreamsPerSource, bytes: int64(c.MaxStreamBytes), timeout: c.StreamTimeout,
		log:     c.Log,
		out:     make(chan net.Conn, c.MaxStreams),
		served:  make(map[*stream]struct{}),
		dialled: make(map[*stream]struct{}),
		sources: make(map[netip.Prefix]share),
	}
	pace := watch.Pace{Lines: 1, Every: logPause}
	s.refusals.Init(env.Env{}, pace, s.logRefusal)
	s.cuts.Init(env.Env{}, pace, s.logCut)
	return s
}

// stream is one TCP connection. Its Close gives its place to one that waits.
type stream struct {
	net.Conn
	all     *streams
	source  netip.Prefix // not valid: dialled here
	end     time.Time
	left    int64       // bytes that may still be read; only the reader uses it
	timer   *time.Timer // while it waits; guarded by all.mu
	once    sync.Once   // gives its place back
	logOnce sync.Once   // counts it as cut
}

// admit serves an accepted connection, lets it wait, or closes it.
func (s *streams) admit(conn net.Conn) {
	st := &stream{Conn: conn, all: s, source: sourceOf(conn.RemoteAddr()), end: time.Now().Add(s.timeout), left: s.bytes}
	if why := s.place(st); why != "" {
		s.refuse(st, why)
	}
}

// place finds a place for a stream, or says why there is none.
func (s *streams) place(st *stream) (why string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	has := s.sources[st.source]
	switch {
	case s.closed:
		st.Conn.Close()
	case s.roomLocked(st.source):
		s.serveLocked(st)
	case has.waiting >= s.perSource*sourceWaitFactor:
		return "too many connections from this address (Config.MaxStreamsPerSource)"
	case len(s.waiting) >= s.max*waitFactor:
		return "too many connections (Config.MaxStreams)"
	default:
		has.waiting++
		s.sources[st.source] = has
		s.waiting = append(s.waiting, st)
		st.timer = time.AfterFunc(s.timeout, st.expire)
	}
	return ""
}

// roomLocked reports whether one more stream of a source may be served.
func (s *streams) roomLocked(source netip.Prefix) bool {
	return len(s.served) < s.max && s.sources[source].served < s.perSource
}

func (s *streams) serveLocked(st *stream) {
	st.SetDeadline(st.end)
	s.served[st] = struct{}{}
	has := s.sources[st.source]
	has.served++
	s.sources[st.source] = has
	s.out <- st // never blocks: invariant 1
}

// refuse closes a stream that is not served.
func (s *streams) refuse(st *stream, why string) {
	st.Conn.Close()
	s.mu.Lock()
	s.refused++
	e := refusal{st.RemoteAddr(), why, len(s.served), len(s.waiting)}
	s.mu.Unlock()
	s.refusals.Add(e)
}

func (s *streams) logRefusal(e refusal, not uint64) {
	s.log.Warn("gossip: refused a TCP connection", "from", e.from.String(), "reason", e.why, "served", e.served,
		"waiting", e.waiting, "not_logged", not)
}

// expire refuses a stream that was not served in time.
func (st *stream) expire() {
	s := st.all
	s.mu.Lock()
	i := slices.Index(s.waiting, st)
	if i >= 0 {
		s.unwaitLocked(i)
	}
	s.mu.Unlock()
	if i >= 0 {
		s.refuse(st, fmt.Sprintf("it was not served within %v (Config.StreamTimeout)", s.timeout))
	}
}

// unwaitLocked removes the i-th waiting stream.
func (s *streams) unwaitLocked(i int) *stream {
	st := s.waiting[i]
	s.waiting = slices.Delete(s.waiting, i, i+1)
	st.timer.Stop()
	has := s.sources[st.source]
	has.waiting--
	s.keepLocked(st.source, has)
	return st
}

func (s *streams) keepLocked(source netip.Prefix, has share) {
	if s.sources[source] = has; has == (share{}) {
		delete(s.sources, source)
	}
}

// release gives the place of a stream to the first that waits for it.
func (s *streams) release(st *stream) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !st.source.IsValid() {
		delete(s.dialled, st)
		return
	}
	delete(s.served, st)
	has := s.sources[st.source]
	has.served--
	s.keepLocked(st.source, has)
	for i, next := range s.waiting {
		if s.roomLocked(next.source) {
			s.serveLocked(s.unwaitLocked(i))
			return
		}
	}
}

// outgoing bounds a connection that this member has dialled.
func (s *streams) outgoing(conn net.Conn, end time.Time) (net.Conn, error) {
	st := &stream{Conn: conn, all: s, end: end, left: s.bytes}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		conn.Close()
		return nil, net.ErrClosed
	}
	s.dialled[st] = struct{}{}
	return st, st.SetDeadline(end)
}

// close ends all streams and admits no more. It logs what is not logged yet.
func (s *streams) close() {
	s.mu.Lock()
	s.closed = true
	for len(s.waiting) > 0 {
		s.unwaitLocked(0).Conn.Close()
	}
	for st := range maps.Keys(s.served) {
		st.Conn.Close() // the goroutine that reads it gives its place back
	}
	for st := range maps.Keys(s.dialled) {
		st.Conn.Close()
	}
	s.mu.Unlock()
	s.refusals.Close()
	s.cuts.Close()
	for {
		select {
		case conn := <-s.out: // memberlist no longer takes it
			conn.Close()
		default:
			return
		}
	}
}

// stats adds the current figures to a Stats.
func (s *streams) stats(to *Stats) {
	s.mu.Lock()
	defer s.mu.Unlock()
	to.Streams, to.StreamsWaiting, to.StreamsLimit = len(s.served), len(s.waiting), s.max
	to.StreamsRefused, to.StreamsCut = s.refused, s.cut
}

// Read is part of net.Conn. It fails after Config.MaxStreamBytes.
func (st *stream) Read(p []byte) (int, error) {
	if st.left <= 0 {
		err := fmt.Errorf("gossip: the stream is longer than %d bytes (Config.MaxStreamBytes)", st.all.bytes)
		st.countCut(err)
		return 0, err
	}
	n, err := st.Conn.Read(p[:min(int64(len(p)), st.left)])
	st.left -= int64(n)
	if errors.Is(err, os.ErrDeadlineExceeded) {
		st.countCut(err)
	}
	return n, err
}

// Write is part of net.Conn.
func (st *stream) Write(p []byte) (int, error) {
	n, err := st.Conn.Write(p)
	if errors.Is(err, os.ErrDeadlineExceeded) {
		st.countCut(err)
	}
	return n, err
}

// countCut counts a stream that is too long or too slow, once.
func (st *stream) countCut(why error) {
	st.logOnce.Do(func() {
		s := st.all
		s.mu.Lock()
		s.cut++
		s.mu.Unlock()
		s.cuts.Add(cutStream{st.RemoteAddr(), !st.source.IsValid(), why})
	})
}

func (s *streams) logCut(e cutStream, not uint64) {
	s.log.Warn("gossip: closed a TCP connection that was too long or too slow", "with", e.with.String(),
		"dialled_here", e.dialledHere, "error", e.why, "not_logged", not)
}

// SetDeadline is part of net.Conn. No deadline is later than the end of the stream.
func (st *stream) SetDeadline(t time.Time) error { return st.Conn.SetDeadline(st.clamp(t)) }

// SetReadDeadline is part of net.Conn.
func (st *stream) SetReadDeadline(t time.Time) error { return st.Conn.SetReadDeadline(st.clamp(t)) }

// SetWriteDeadline is part of net.Conn.
func (st *stream) SetWriteDeadline(t time.Time) error { return st.Conn.SetWriteDeadline(st.clamp(t)) }

func (st *stream) clamp(t time.Time) time.Time {
	if t.IsZero() || t.After(st.end) {
		return st.end
	}
	return t
}

// Close is part of net.Conn.
func (st *stream) Close() error {
	err := st.Conn.Close()
	st.once.Do(func() { st.all.release(st) })
	return err
}

// sourceOf returns the source that a stream counts for: an IPv4 address, or the first 64 bits of an IPv6 address, which
// a host cannot choose at will.
func sourceOf(addr net.Addr) netip.Prefix {
	var ip netip.Addr
	if tcp, ok := addr.(*net.TCPAddr); ok {
		ip = tcp.AddrPort().Addr().Unmap().WithZone("")
	}
	bits := 32
	switch {
	case !ip.IsValid():
		ip, bits = netip.IPv6Unspecified(), 0
	case ip.Is6():
		bits = 64
	}
	p, _ := ip.Prefix(bits)
	return p
}
