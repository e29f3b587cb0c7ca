package erldist

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"sync"
	"sync/atomic"
	"time"

	"github.com/actornode/actornode/internal/wire/erlflags"
	"github.com/actornode/actornode/internal/wire/etfcodec"
	"github.com/actornode/actornode/internal/wire/links"
	"github.com/actornode/actornode/internal/wire/socket"
	"github.com/actornode/actornode/wire"
	"github.com/actornode/actornode/wire/dist"
)

// readSize is the size of a reader's buffer: frames up to that size are not copied.
const readSize = 64<<10 + 4<<10

// link is a connection after the handshake.
type link struct {
	// Set once.
	conn net.Conn
	peer dist.Peer

	// Owned by the reading goroutine.
	reader *socket.Reader
	peek   func() error // for reader
	src    *bufio.Reader
	in     *reader
	big    []byte // for frames larger than src

	mu  sync.Mutex
	out *writer // guarded by mu
	n   uint64  // signals written; guarded by mu

	// Owned by the goroutine that holds writer.
	writer *socket.Writer
	spare  []byte // the buffer that will replace out's
	parts  net.Buffers
	heads  []byte // memory for headers

	// For all goroutines.
	received, sent atomic.Uint64
	closing        sync.Once
	closed         atomic.Bool
	closeErr       error
}

// newLink makes the link after a handshake.
func (p *Protocol) newLink(conn net.Conn, m *machine) *link {
	flags := m.flags()
	l := newLink(conn, m.h.Local, dist.Peer{
		ID:       m.peer,
		Hidden:   !m.theirs.Has(erlflags.Published),
		Client:   m.theirs.Has(erlflags.Client),
		Protocol: p.Name(),
		Flags:    uint64(flags),
		Spawn:    flags.Has(erlflags.Spawn),
		Alias:    flags&(erlflags.Alias|erlflags.AltactSig) != 0,
		Monitor:  flags.Has(monitors),
		Acks:     flags.Has(erlflags.UnlinkID),
		Addr:     addr(conn),
	}, m.h.Limits, p.Foreign)
	l.in.setValues(p.Values)
	l.out.setValues(p.Values)
	if m.h.Budget != nil {
		l.in.memory = links.NewAccount(m.h.Budget(m.peer.Name))
	}
	return l
}

func addr(conn net.Conn) string {
	if a := conn.RemoteAddr(); a != nil {
		return a.String()
	}
	return ""
}

func newLink(conn net.Conn, local wire.NodeID, peer dist.Peer, limits dist.LinkLimits, foreign func(any) (any, error)) *link {
	l := &link{conn: conn, peer: peer, writer: socket.NewWriter(conn), reader: socket.NewReader(conn)}
	flags := erlflags.Flags(peer.Flags)
	l.src = bufio.NewReaderSize(counted{l}, readSize)
	l.peek = func() error {
		_, err := l.src.Peek(1)
		return err
	}
	l.in = newReader(local.Name, peer.ID.Name, flags, limits)
	l.out = newWriter(local, peer.ID.Name, flags, limits, foreign)
	return l
}

// counted counts what is read.
type counted struct{ l *link }

func (c counted) Read(b []byte) (int, error) {
	n, err := c.l.reader.Read(b)
	c.l.received.Add(uint64(n))
	return n, err
}

func (l *link) Peer() dist.Peer { return l.peer }

// Read returns the next signal.
func (l *link) Read(f *dist.Frame) error {
	*f = dist.Frame{}
	for {
		ok, err := l.readFrame(f)
		if err != nil {
			return l.readError(err)
		}
		if ok {
			return nil
		}
	}
}

// Await implements links.BusyReader.
func (l *link) Await(d time.Duration, between func()) bool {
	return l.src.Buffered() > 0 || l.reader.Await(d, between, l.peek)
}

// More implements links.LookAhead. It does not look past ticks and fragments.
func (l *link) More() bool {
	n := l.src.Buffered()
	if n < 6 {
		return false
	}
	head, err := l.src.Peek(6)
	return err == nil && uint64(n-4) >= uint64(binary.BigEndian.Uint32(head)) &&
		(head[4] == passThrough || head[4] == etfcodec.Version && head[5] == distHeader)
}

func (l *link) readError(err error) error {
	switch {
	case l.closed.Load():
		return fmt.Errorf("erldist: link to %s: %w", l.peer.ID.Name, net.ErrClosed)
	case errors.Is(err, io.EOF):
		return fmt.Errorf("erldist: %s has closed the connection: %w", l.peer.ID.Name, io.EOF)
	}
	return fmt.Errorf("erldist: from %s: %w", l.peer.ID.Name, err)
}

// readFrame reads a frame.
func (l *link) readFrame(f *dist.Frame) (ok bool, err error) {
	head, err := l.src.Peek(4)
	if err != nil {
		if len(head) > 0 && errors.Is(err, io.EOF) {
			err = io.ErrUnexpectedEOF
		}
		return false, err
	}
	size := binary.BigEndian.Uint32(head)
	if uint64(size) > uint64(l.in.limits.Message)+frameExtra {
		return false, fmt.Errorf("a frame of %d bytes; at most %d are allowed", size, l.in.limits.Message)
	}
	n := 4 + int(size)
	if n > l.src.Size() {
		_, _ = l.src.Discard(4)
		return l.readLarge(f, n-4)
	}
	b, err := l.src.Peek(n)
	if err != nil {
		if errors.Is(err, io.EOF) {
			err = io.ErrUnexpectedEOF
		}
		return false, err
	}
	ok, err = l.in.frame(b[4:], f)
	_, _ = l.src.Discard(n)
	return ok, err
}

// frameExtra is the maximum overhead of a frame: a header with the maximum number of atoms of the maximum length.
const frameExtra = fragmentHead + 1 + 128 + 255*(3+4*wire.MaxAtomRunes)

// readLarge reads a frame of n bytes into new memory, which it allocates as the bytes arrive.
func (l *link) readLarge(f *dist.Frame, n int) (ok bool, err error) {
	b := l.big[:0]
	taken := 0
	defer func() { l.in.memory.Give(taken) }()
	for len(b) < n {
		more := min(n-len(b), max(len(b), 1<<20))
		if !l.in.memory.Take(more) {
			return false, errMemory(len(b) + more)
		}
		taken += more
		b = growBy(b, more)
		part := b[len(b) : len(b)+more]
		if _, err := io.ReadFull(l.src, part); err != nil {
			if errors.Is(err, io.EOF) {
				err = io.ErrUnexpectedEOF
			}
			return false, err
		}
		b = b[:len(b)+more]
	}
	ok, err = l.in.frame(b, f)
	if l.big = b; cap(b) > keptSize {
		l.big = nil
	}
	return ok, err
}

// Write encodes a signal into the buffer.
func (l *link) Write(f *dist.Frame) (buffered int, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if err = l.out.write(f); err == nil {
		l.n++
	}
	return len(l.out.buf), err
}

// Gauge implements links.Counter.
func (l *link) Gauge() (written uint64, waiting int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.n, len(l.out.buf) + l.out.left()
}

var tick [4]byte

// Flush sends the buffer and a fragment of each long message, or a tick.
func (l *link) Flush(idle bool) (left int, err error) {
	l.writer.Lock()
	defer l.writer.Unlock()
	l.parts = l.parts[:0]
	if rest := l.writer.Rest(); len(rest) > 0 {
		l.parts = append(l.parts, rest)
	}
	l.mu.Lock()
	b := l.out.buf
	l.out.buf, l.spare = l.spare, nil
	if len(b) > 0 {
		l.parts = append(l.parts, b)
	}
	if len(l.out.long) > 0 {
		l.parts, l.heads = l.out.advance(l.parts, l.heads)
		left = l.out.left()
	}
	l.mu.Unlock()
	if len(l.parts) == 0 && idle {
		l.parts = append(l.parts, tick[:])
	}
	err = l.send()
	if cap(b) <= keptSize {
		l.spare = b[:0]
	}
	return left, err
}

// send sends parts.
func (l *link) send() (err error) {
	switch len(l.parts) {
	case 0:
		return nil
	case 1:
		err = socket.Send(l.conn, l.parts[0], &l.sent)
	default:
		err = socket.SendAll(l.conn, l.parts, &l.sent)
	}
	clear(l.parts)
	switch {
	case err == nil:
		return nil
	case l.closed.Load():
		err = net.ErrClosed
	}
	return fmt.Errorf("erldist: to %s: %w", l.peer.ID.Name, err)
}

// Try implements links.TryFlusher.
func (l *link) Try() (more bool) {
	n, more := socket.Try(l.writer, &l.mu, &l.out.buf, &l.spare, &l.out.long)
	l.sent.Add(uint64(n))
	return more
}

// Traffic returns the number of bytes received and sent.
func (l *link) Traffic() (in, out uint64) { return l.received.Load(), l.sent.Load() }

// Taken implements links.Progress.
func (l *link) Taken() (sent uint64, unsent int, steady bool) {
	return l.sent.Load(), l.writer.Unsent(), true
}

// Close ends the link.
func (l *link) Close() error {
	l.closing.Do(func() {
		l.closed.Store(true)
		l.in.memory.Close()
		l.closeErr = l.conn.Close()
	})
	return l.closeErr
}
