package native

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"github.com/actornode/actornode/internal/wire/box"
	"github.com/actornode/actornode/internal/wire/links"

	"github.com/actornode/actornode/internal/wire/pack"
	"github.com/actornode/actornode/internal/wire/socket"
	"github.com/actornode/actornode/wire"
	"github.com/actornode/actornode/wire/dist"
)

// link is a connection after the handshake.
type link struct {
	// Set once.
	local   wire.NodeID
	peer    dist.Peer
	conn    net.Conn // of a link without a session
	session *session // nil if the link ends with its connection
	check   checker

	// Owned by the reading goroutine.
	in     *reader
	input  input
	reader *socket.Reader // nil if the link has a session
	look   func() error   // for reader

	mu      sync.Mutex
	out     *writer // guarded by mu
	written uint64  // signals; guarded by mu

	// Owned by the goroutine that holds writer.
	writer  *socket.Writer
	spare   []byte      // the buffer that will replace out's
	turn    []*outgoing // long messages whose parts are being sent
	batch   batch
	scratch []byte
	broken  bool // a write has failed, perhaps within a frame

	// For all goroutines.
	sent   atomic.Uint64
	closed atomic.Bool
	said   atomic.Bool // the reason for the link's end has been sent to the peer, if possible
}

// newLink makes the link after a handshake. again reconnects; it is nil if the peer has dialed.
func (p *Protocol) newLink(conn net.Conn, m *machine, again func(context.Context, uint64) (net.Conn, *machine, error)) *link {
	flags := m.flags()
	l := &link{conn: conn, local: m.h.Local, peer: dist.Peer{
		ID:       m.theirs.id,
		Hidden:   m.theirs.flags&flagHidden != 0,
		Client:   m.theirs.flags&flagClient != 0,
		Protocol: p.Name(),
		Flags:    uint64(flags),
		Spawn:    true,
		Alias:    true,
		Monitor:  true,
		Acks:     true,
		Receipts: true,
		Addr:     addr(conn),
	}}
	limits := m.h.Limits.WithDefaults()
	l.input.conn, l.input.src = conn, conn
	l.writer = socket.NewWriter(conn)
	l.in = &reader{local: m.h.Local, peer: m.theirs.id, limit: limits.Message, partial: limits.Partial,
		streams: min(limits.Fragments, maxStreams)}
	l.in.dec = pack.Decoder{Dict: &l.in.dict, Types: p.types, Limits: termLimits(limits.Message), Strict: true}
	var tails links.Tails
	if m.h.Budget != nil {
		budget := m.h.Budget(m.theirs.id.Name)
		tails, _ = budget.(links.Tails)
		l.in.memory = links.NewAccount(budget)
	}
	l.out = &writer{local: m.h.Local, peer: m.theirs.id, limit: int(min(uint64(limits.Message), m.theirs.message)),
		partial: int(min(m.theirs.partial, 1<<62)), streams: min(int(m.theirs.open), sendStreams)}
	if flags&flagCompress != 0 {
		l.out.threshold = p.Compress
	}
	l.out.enc = pack.Encoder{Dict: &l.out.dict, Types: p.types, Foreign: p.Foreign, Former: flags&flagTypes == 0,
		Message: max(l.out.limit, maxFrame)} // the limit is that of messages in parts
	l.check = checker{enc: l.out.enc, limit: l.out.limit}
	l.check.enc.Dict = nil
	if m.session == (sessionID{}) {
		l.reader = socket.NewReader(conn)
		l.input.src = l.reader
		l.look = func() error { return l.input.fill(sizeBytes) }
	} else {
		l.out.sums, l.input.sums, l.input.silence = true, true, m.h.Silence
		l.session = &session{link: l, id: m.session, further: m.further, grace: m.grace(), again: again, tails: tails}
		if again == nil {
			l.session.table = &p.waiting
		}
		l.session.start(conn)
	}
	l.in.requests = flags&flagRequests != 0
	l.in.waits = l.in.requests && flags&flagWaits != 0
	l.out.waits = l.in.waits
	return l
}

func addr(conn net.Conn) string {
	if a := conn.RemoteAddr(); a != nil {
		return a.String()
	}
	return ""
}

func (l *link) Peer() dist.Peer { return l.peer }

// SetHost implements links.Hosted.
func (l *link) SetHost(n any) { l.in.dec.Host = n }

// Requests implements links.Requester.
func (l *link) Requests() bool { return l.in.requests }

// Read returns the next signal.
func (l *link) Read(f *dist.Frame) error {
	*f = dist.Frame{}
	for {
		b, err := l.next()
		if err == nil && len(b) > 0 {
			if l.in.short(b, f) {
				return nil
			}
			var ok bool
			if ok, err = l.in.frame(b, f); ok && err == nil {
				return nil
			}
		}
		if err != nil {
			return l.readError(err)
		}
	}
}

func (l *link) next() ([]byte, error) {
	if l.session != nil {
		return l.session.next(&l.input)
	}
	return l.input.next()
}

func (l *link) readError(err error) error {
	var v *violation
	var bye *errBye
	switch {
	case l.closed.Load():
		return l.closedError()
	case errors.As(err, &v):
		l.bye(v.code, v.Error())
	case errors.As(err, &bye) && bye.code == codeClosed:
		err = orderly{l.peer.ID.Name}
		l.over(err)
		return err
	case errors.Is(err, io.EOF) && l.session == nil:
		err = fmt.Errorf("native: the connection to %s ended without a goodbye: %w", l.peer.ID.Name, io.ErrUnexpectedEOF)
		l.over(err)
		return err
	case l.session != nil && bye == nil:
		return err // the session's error
	}
	err = fmt.Errorf("native: from %s: %w", l.peer.ID.Name, err)
	l.over(err)
	return err
}

// orderly is the error of a link that the peer has closed without an error; it is io.EOF.
type orderly struct{ peer wire.Atom }

func (e orderly) Error() string {
	return fmt.Sprintf("native: %s has closed the connection in an orderly way", e.peer)
}

func (orderly) Unwrap() error { return io.EOF }

func (l *link) closedError() error {
	return fmt.Errorf("native: link to %s: %w", l.peer.ID.Name, net.ErrClosed)
}

// over ends the session, if any.
func (l *link) over(err error) {
	if l.session != nil {
		l.session.finish(err)
	}
}

// byeTime is the timeout for sending a goodbye.
const byeTime = 100 * time.Millisecond

// bye sends the peer the reason for the link's end, if the peer is ready to read. Only the first call has an effect.
func (l *link) bye(c code, text string) {
	if l.session != nil {
		l.session.bye(goodbye(c, text))
		return
	}
	_ = l.conn.SetWriteDeadline(time.Now().Add(byeTime)) // also ends a Flush: the link is over
	l.writer.Lock()
	defer l.writer.Unlock()
	if !l.said.Swap(true) && l.sendRest() == nil && !l.broken {
		_, _ = l.conn.Write(goodbye(c, text))
	}
}

// goodbye returns the frame of bye.
func goodbye(c code, text string) []byte {
	b := appendReason([]byte{0, 0, opBye}, c, text)
	binary.BigEndian.PutUint16(b, uint16(len(b)-sizeBytes))
	return b
}

// Explain implements [links.Explainer].
func (l *link) Explain(why string) { l.bye(codeLimit, why) }

// Taken implements links.Progress. A session waits for a stalled connection to break or to continue, so it is steady only
// while data arrives.
func (l *link) Taken() (sent uint64, unsent int, steady bool) {
	if l.session != nil {
		return l.session.taken(), 0, l.session.isAlive()
	}
	return l.sent.Load(), l.writer.Unsent(), true
}

// Write encodes a signal into the buffer.
func (l *link) Write(f *dist.Frame) (buffered int, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if err = l.out.write(f); err == nil {
		l.written++
	}
	return len(l.out.buf), err
}

// More implements links.LookAhead.
func (l *link) More() bool { return l.input.more() }

// Await implements links.BusyReader.
func (l *link) Await(d time.Duration, between func()) bool {
	in := &l.input
	return in.from < in.to || l.reader != nil && l.reader.Await(d, between, l.look)
}

// Batch implements links.BatchReader, for short binaries.
func (l *link) Batch(to wire.PID, msgs []any) (n int) {
	in := &l.input
	if in.sums {
		return 0
	}
	for n < len(msgs) {
		k, taken := l.in.run(in.buf[in.from:in.to], to, msgs[n:min(len(msgs), n+box.BlockMost)])
		if k == 0 {
			break
		}
		in.from += taken
		n += k
	}
	return n
}

// Gauge implements links.Counter.
func (l *link) Gauge() (written uint64, waiting int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.written, len(l.out.buf) + l.out.left
}

// Send implements links.MessageWriter.
func (l *link) Send(from, to wire.PID, msg any) (buffered int, err error) {
	l.mu.Lock()
	if l.out.send(from, to, msg) {
		l.written++
		n := len(l.out.buf)
		l.mu.Unlock()
		return n, nil
	}
	l.mu.Unlock()
	return l.Write(&dist.Frame{Op: dist.OpSend, From: from, To: to, Payload: msg})
}

// SendBytes implements links.MessageWriter.
func (l *link) SendBytes(from, to wire.PID, b []byte) (buffered int, taken bool) {
	l.mu.Lock()
	if taken = l.out.sendBytes(from, to, b); taken {
		l.written++
	}
	buffered = len(l.out.buf)
	l.mu.Unlock()
	return buffered, taken
}

// keptSize is the maximum size of a buffer that is kept for later messages.
const keptSize = 2 << 20

// Flush sends the buffer, and a part of each long message.
func (l *link) Flush(tick bool) (left int, err error) {
	l.writer.Lock()
	defer l.writer.Unlock()
	if l.session != nil {
		if err := l.session.freeSpace(); err != nil {
			return 0, err
		}
	} else if l.closed.Load() {
		return 0, l.closedError() // nothing may follow a goodbye
	}
	if err := l.sendRest(); err != nil {
		return 0, err
	}
	l.mu.Lock()
	l.out.start()
	buf := l.out.buf
	l.out.buf, l.spare = l.spare, nil
	l.turn = append(l.turn[:0], l.out.long...)
	l.mu.Unlock()

	switch {
	case l.session != nil:
		l.keepAndSend(buf, tick)
		buf = nil
	case len(l.turn) > 0:
		err = l.sendParts(buf)
	case len(buf) > 0:
		err = l.send(buf)
	case tick:
		err = l.send(tickFrame[:])
		buf = nil // low traffic: release the memory
	}
	if cap(buf) <= keptSize {
		l.spare = buf[:0]
	}
	if len(l.turn) == 0 {
		return 0, err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.out.done(l.turn)
	clear(l.turn)
	return l.out.left, err
}

var tickFrame [sizeBytes]byte

// keepAndSend sends on a link with a session, which keeps the sent data.
func (l *link) keepAndSend(buf []byte, tick bool) {
	var b batch
	b.add(buf)
	l.out.parts(l.turn, &b)
	switch {
	case len(b.pieces) > 0:
		l.session.transmit(b.pieces)
	case tick:
		l.session.tick()
	}
}

// sendParts sends buf and a part of each message of turn.
func (l *link) sendParts(buf []byte) error {
	b := &l.batch
	b.size = 0
	b.pieces = b.pieces[:0]
	b.add(buf)
	l.out.parts(l.turn, b)
	defer func() { clear(b.pieces[:cap(b.pieces)]) }()
	switch l.conn.(type) {
	case *net.TCPConn, *net.UnixConn: // supports writing several buffers
		return l.sendError(socket.SendAll(l.conn, b.pieces, &l.sent))
	}
	l.scratch = l.scratch[:0]
	for _, p := range b.pieces {
		l.scratch = append(l.scratch, p...)
	}
	err := l.send(l.scratch)
	if cap(l.scratch) > keptSize {
		l.scratch = nil
	}
	return err
}

func (l *link) send(b []byte) error { return l.sendError(socket.Send(l.conn, b, &l.sent)) }

func (l *link) sendError(err error) error {
	if err == nil {
		return nil
	}
	l.broken = true
	if l.closed.Load() {
		err = net.ErrClosed
	}
	return fmt.Errorf("native: to %s: %w", l.peer.ID.Name, err)
}

// Traffic returns the number of bytes received and sent.
func (l *link) Traffic() (in, out uint64) { return l.input.received.Load(), l.sent.Load() }

// Close ends the link. It sends the peer a goodbye without an error, unless one with a reason was sent.
func (l *link) Close() error {
	if l.closed.Swap(true) {
		return nil
	}
	l.in.memory.Close()
	if l.session != nil {
		l.bye(codeClosed, "closed")
		l.session.finish(l.closedError())
		return nil
	}
	if l.lockWriter() { // otherwise a write is in progress, which the peer blocks
		_ = l.conn.SetWriteDeadline(time.Now().Add(byeTime))
		whole := !l.broken && len(l.writer.Rest()) == 0
		l.writer.Unlock()
		if whole && !l.said.Swap(true) { // nothing is written after this: see Flush
			_, _ = l.conn.Write(goodbye(codeClosed, "closed"))
		}
	}
	return l.conn.Close()
}

// lockTime is how long a write in progress is waited for before the goodbye.
const lockTime = 10 * time.Millisecond

// lockWriter locks the writer, unless a write takes longer than lockTime.
func (l *link) lockWriter() bool {
	until := time.Now().Add(lockTime)
	for i := 0; !l.writer.TryLock(); i++ {
		switch {
		case i < 100: // most writes end at once
			runtime.Gosched()
		case time.Now().After(until):
			return false
		default:
			time.Sleep(time.Millisecond)
		}
	}
	return true
}
