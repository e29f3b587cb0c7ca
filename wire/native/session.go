package native

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"net"
	"sync"
	"time"

	"github.com/actornode/actornode/internal/wire/links"
	"github.com/actornode/actornode/internal/wire/pack"
	"github.com/actornode/actornode/internal/wire/socket"
	"github.com/actornode/actornode/wire"
)

// session lets a link survive its connection. Both sides count the bytes of the frames that they send, except ticks and
// acks. The receiver acknowledges the total that it has received, and the sender keeps the bytes until then.
//
//  1. tail holds the sent bytes from base to end; the bytes before base have been acknowledged. Each byte from base on is
//     sent over each connection at most once, in order, starting at the position that the peer says it has received.
//  2. received counts the bytes of whole frames that Read has taken. Nothing is taken under an old generation, so the
//     counts in a handshake stay valid.
//  3. conn is nil from the time a connection is found broken until it is replaced; gen changes at both times.
type session struct {
	// Set once.
	link    *link
	id      sessionID
	further string // cookie of Handshake.Accept that the peer has proved; it must resume with the same one
	grace   time.Duration
	again   func(ctx context.Context, received uint64) (net.Conn, *machine, error) // nil if the peer dials
	table   *sessions                                                              // that contain this session, or nil
	writing chan struct{}                                                          // held by the goroutine that writes to conn
	done    context.Context                                                        // ends with the session
	cancel  context.CancelFunc

	mu           sync.Mutex
	cond         sync.Cond // guards all fields below
	conn         net.Conn
	gen          int
	brokenAt     time.Time // when conn broke
	why          error     // the error that broke it
	err          error     // why the session has ended
	received     uint64
	acknowledged uint64 // the part of received that the peer knows
	tail         [][]byte
	tails        links.Tails // gets the length of tail, if not nil
	told         int         // the last length that it got
	base         uint64
	end          uint64
	resend       bool   // tail must be sent over conn
	seen         uint64 // bytes received by the link at the last call of isAlive
}

const (
	// tailLimit is the maximum number of unacknowledged bytes before Flush waits.
	tailLimit = 8 << 20
	// ackEvery is the number of received bytes that triggers an ack; fewer are acknowledged with the next tick.
	ackEvery = 64 << 10
	// The pause between two attempts to reconnect.
	leastPause = 20 * time.Millisecond
	mostPause  = time.Second
)

// start starts a session over the connection of a link, and its goroutine.
func (s *session) start(conn net.Conn) {
	s.cond.L = &s.mu
	s.conn = conn
	s.writing = make(chan struct{}, 1)
	s.done, s.cancel = context.WithCancel(context.Background())
	if s.table != nil {
		s.table.add(s)
	}
	go s.keep() // ends with the session; see close
}

// keep acknowledges received data, replaces a broken connection, and gives up after the time of grace.
func (s *session) keep() {
	for {
		s.mu.Lock()
		for s.err == nil && s.conn != nil && !s.resend && s.received-s.acknowledged < ackEvery {
			s.cond.Wait()
		}
		over, broken, resend := s.err != nil, s.conn == nil, s.resend
		s.mu.Unlock()
		switch {
		case over:
			return
		case broken:
			s.repair()
		case resend:
			s.transmit(nil)
		default:
			s.ack()
		}
	}
}

// broken records that the connection of a generation is broken.
func (s *session) broken(gen int, why error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.gen == gen && s.conn != nil {
		s.breakLocked(why)
	}
}

func (s *session) breakLocked(why error) {
	_ = s.conn.Close()
	s.conn, s.brokenAt, s.why = nil, time.Now(), why
	s.gen++
	s.cond.Broadcast()
}

// finish ends the session, and reports whether this call was the first.
func (s *session) finish(err error) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.err != nil {
		return false
	}
	s.err = err
	s.gen++
	if s.conn != nil {
		_ = s.conn.Close()
	}
	s.conn, s.tail = nil, nil
	if s.tails != nil {
		s.tails.TailChanged(s.told, 0)
		s.tails = nil
	}
	s.cancel()
	if s.table != nil {
		s.table.remove(s)
	}
	s.cond.Broadcast()
	return true
}

// repair waits for a new connection, or makes one.
func (s *session) repair() {
	s.mu.Lock()
	until, why := s.brokenAt.Add(s.grace), s.why
	s.mu.Unlock()
	ctx, cancel := context.WithDeadline(s.done, until)
	defer cancel()
	if s.again != nil {
		s.redial(ctx)
	} else {
		stop := context.AfterFunc(ctx, func() { s.mu.Lock(); s.cond.Broadcast(); s.mu.Unlock() })
		defer stop()
		s.mu.Lock()
		for s.conn == nil && s.err == nil && ctx.Err() == nil {
			s.cond.Wait()
		}
		s.mu.Unlock()
	}
	s.mu.Lock()
	gone := s.conn == nil && time.Since(s.brokenAt) >= s.grace // it may have been replaced and broken again meanwhile
	s.mu.Unlock()
	if gone {
		s.finish(fmt.Errorf("%w (and no new connection replaced it within %v)", why, s.grace))
	}
}

// redial tries to make a new connection, until ctx ends or the peer has given up.
func (s *session) redial(ctx context.Context) {
	for pause := leastPause; ctx.Err() == nil; pause = min(2*pause, mostPause) {
		s.mu.Lock()
		gen, received := s.gen, s.received
		s.mu.Unlock()
		conn, m, err := s.again(ctx, received)
		if err == nil {
			err = s.attach(conn, gen, received, m.want)
		}
		switch {
		case err == nil:
			return
		case errors.Is(err, errSession):
			s.mu.Lock()
			why := s.why
			s.mu.Unlock()
			s.finish(fmt.Errorf("%w (and then: %w)", why, err))
			return
		}
		timer := time.NewTimer(pause)
		select {
		case <-timer.C:
		case <-ctx.Done():
		}
		timer.Stop()
	}
}

// attach gives the session a connection, over which this side has announced received, and the peer has requested the bytes
// from want on.
func (s *session) attach(conn net.Conn, gen int, received, want uint64) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.err != nil || s.gen != gen || s.conn != nil:
		_ = conn.Close()
		return fmt.Errorf("native: link to %s: another connection is used instead: %w", s.link.peer.ID.Name, errSuperseded)
	case want < s.base || want > s.end:
		_ = conn.Close()
		return fmt.Errorf("native: %s asks to resume the session after byte %d, but this node keeps only bytes %d to %d: %w",
			s.link.peer.ID.Name, want, s.base, s.end, errSession)
	}
	s.trimLocked(want)
	s.conn, s.acknowledged, s.resend = conn, received, true
	s.gen++
	s.cond.Broadcast()
	return nil
}

var errSuperseded = errors.New("the resumption came too late")

func (s *session) trimLocked(to uint64) {
	n := int(to - s.base)
	s.base = to
	for n > 0 {
		if k := len(s.tail[0]); k > n {
			s.tail[0] = s.tail[0][n:]
			break
		} else {
			n -= k
		}
		s.tail[0] = nil
		s.tail = s.tail[1:]
	}
	s.tellLocked()
}

// tailStep is the change of a tail's length that is reported, so that few messages update the data shared by all sessions.
const tailStep = 64 << 10

// tellLocked reports the length of tail to tails.
func (s *session) tellLocked() {
	if now := int(s.end - s.base); s.tails != nil && (now >= s.told+tailStep || now <= s.told-tailStep) {
		s.tails.TailChanged(s.told, now)
		s.told = now
	}
}

// room returns the length of tail at which senders wait.
func (s *session) room() uint64 {
	if s.tails == nil {
		return tailLimit
	}
	return uint64(s.tails.TailRoom(tailLimit))
}

// acked records that the peer has received bytes.
func (s *session) acked(received uint64) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if received > s.end {
		return wrong("an ack of byte %d of the session, where %d have been sent", received, s.end)
	}
	if received > s.base && s.err == nil {
		s.trimLocked(received)
		s.cond.Broadcast()
	}
	return nil
}

// freeSpace waits until there is space in tail.
func (s *session) freeSpace() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	for s.err == nil && s.end-s.base > s.room() {
		s.cond.Wait()
	}
	return s.err
}

// transmit keeps pieces of frames, which must not be changed afterwards, and sends them if there is a connection. Over a
// new connection it first sends everything before them.
func (s *session) transmit(pieces [][]byte) {
	s.writing <- struct{}{}
	defer func() { <-s.writing }()
	s.mu.Lock()
	if s.err != nil {
		s.mu.Unlock()
		return
	}
	for _, p := range pieces {
		s.tail = append(s.tail, p)
		s.end += uint64(len(p))
	}
	s.tellLocked()
	conn, gen := s.conn, s.gen
	if s.resend {
		s.resend = false
		pieces = append([][]byte(nil), s.tail...)
	}
	s.mu.Unlock()
	if conn != nil {
		s.write(conn, gen, pieces)
	}
}

// write sends pieces; the caller holds writing.
func (s *session) write(conn net.Conn, gen int, pieces [][]byte) {
	b := net.Buffers(append([][]byte(nil), pieces...))
	if err := socket.SendAll(conn, b, &s.link.sent); err != nil {
		s.broken(gen, fmt.Errorf("native: to %s: %w", s.link.peer.ID.Name, err))
	}
}

// ack sends the number of received bytes to the peer.
func (s *session) ack() {
	s.writing <- struct{}{}
	defer func() { <-s.writing }()
	s.mu.Lock()
	conn, gen, received := s.conn, s.gen, s.received
	if conn == nil || s.resend {
		s.mu.Unlock()
		return
	}
	s.acknowledged = received
	s.mu.Unlock()
	b := pack.AppendUint([]byte{0, 0, opAck}, received)
	b[1] = byte(len(b) - sizeBytes)
	s.write(conn, gen, [][]byte{appendSum(b, b)})
}

// tick sends a tick and the number of received bytes to the peer.
func (s *session) tick() {
	s.mu.Lock()
	due := s.received > s.acknowledged
	s.mu.Unlock()
	if due {
		s.ack()
		return
	}
	s.writing <- struct{}{}
	defer func() { <-s.writing }()
	s.mu.Lock()
	conn, gen, resend := s.conn, s.gen, s.resend
	s.mu.Unlock()
	if conn != nil && !resend {
		s.write(conn, gen, [][]byte{tickFrame[:]})
	}
}

// bye sends the reason for the session's end to the peer, if the connection accepts it.
func (s *session) bye(frame []byte) {
	s.mu.Lock()
	conn := s.conn
	s.mu.Unlock()
	if conn == nil {
		return
	}
	_ = conn.SetWriteDeadline(time.Now().Add(byeTime)) // ends any other write
	s.writing <- struct{}{}
	defer func() { <-s.writing }()
	s.mu.Lock()
	whole := s.conn == conn // otherwise a write has failed, perhaps within a frame
	s.mu.Unlock()
	if whole {
		_, _ = conn.Write(appendSum(frame, frame))
	}
}

// taken returns the number of bytes that the peer has acknowledged.
func (s *session) taken() uint64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.base
}

// isAlive reports whether there is a connection that has received data since the last call.
func (s *session) isAlive() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	in := s.link.input.received.Load()
	came := in != s.seen
	s.seen = in
	return came && s.conn != nil && !s.resend
}

// next returns the next frame, across changes of the connection.
func (s *session) next(in *input) ([]byte, error) {
	for {
		s.mu.Lock()
		for s.err == nil && s.conn == nil {
			s.cond.Wait()
		}
		if s.err != nil {
			s.mu.Unlock()
			return nil, s.err
		}
		if in.gen != s.gen {
			in.conn, in.src, in.gen, in.from, in.to = s.conn, s.conn, s.gen, 0, 0
		}
		b, ok, err := s.takeLocked(in)
		gen := s.gen
		s.mu.Unlock()
		if err == nil && !ok {
			err = in.fill(in.need())
		}
		if err != nil {
			s.broken(gen, fmt.Errorf("native: from %s: %w", s.link.peer.ID.Name, err))
			continue
		}
		if !ok {
			continue
		}
		if len(b) == 0 || b[0]&opMask != opAck {
			return b, nil
		}
		if err := s.onAck(b); err != nil {
			return nil, err
		}
	}
}

// takeLocked takes the next frame from the received data, if it is complete.
func (s *session) takeLocked(in *input) (b []byte, ok bool, err error) {
	have, need := in.to-in.from, in.need()
	if have < sizeBytes || have < need {
		return nil, false, nil
	}
	b = in.buf[in.from : in.from+need]
	in.from += need
	if need == sizeBytes {
		return nil, true, nil // a tick
	}
	body := b[:need-sumSize]
	if got := binary.BigEndian.Uint32(b[need-sumSize:]); got != sumOf([][]byte{body}) {
		return nil, false, errDamaged
	}
	if op := body[sizeBytes] & opMask; op != opAck && op != opBye {
		s.received += uint64(need)
		if s.received-s.acknowledged >= ackEvery {
			s.cond.Broadcast()
		}
	}
	return body[sizeBytes:], true, nil
}

var errDamaged = errors.New("a frame with a wrong checksum: it was damaged on the way")

func (s *session) onAck(b []byte) error {
	n, rest, err := pack.Uint(b[1:])
	if err != nil || len(rest) > 0 || b[0] != opAck {
		return wrong("an invalid ack: % x", b[:min(len(b), 12)])
	}
	return s.acked(n)
}

// sessions are the links that peers may resume, by ID.
type sessions struct {
	mu sync.Mutex
	m  map[sessionID]*session // guarded by mu
}

func (t *sessions) add(s *session) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.m == nil {
		t.m = make(map[sessionID]*session)
	}
	t.m[s.id] = s
}

func (t *sessions) remove(s *session) {
	t.mu.Lock()
	defer t.mu.Unlock()
	delete(t.m, s.id)
}

// claim is a session that a peer is resuming, during the handshake.
type claim struct {
	session  *session
	gen      int
	received uint64
}

// find is called when the peer has authenticated. It ends the previous connection, if this side has not noticed its end
// yet.
func (t *sessions) find(c *claim, local, peer wire.NodeID, id sessionID, further string) (received uint64, ok bool) {
	t.mu.Lock()
	s := t.m[id]
	t.mu.Unlock()
	if s == nil || s.link.peer.ID != peer || s.link.local != local || s.further != further {
		return 0, false
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.err != nil {
		return 0, false
	}
	if s.conn != nil {
		s.breakLocked(fmt.Errorf("native: %s found the connection broken", peer.Name))
	}
	*c = claim{s, s.gen, s.received}
	return s.received, true
}
