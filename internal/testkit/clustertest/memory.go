package clustertest

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"sync"
	"sync/atomic"

	"github.com/actornode/actornode/internal/wire/termof"
	"github.com/actornode/actornode/mailbox"
	"github.com/actornode/actornode/node"
	"github.com/actornode/actornode/wire"
	"github.com/actornode/actornode/wire/dist"
)

// Memory is an in-process protocol: the handshake uses the connection, frames go over channels, and nothing is encoded. The
// receiver gets the sent value itself, except for a crash, which becomes its term. A struct{} cannot be sent, as if it were
// no term. NewMemory makes one.
type Memory struct {
	mu    sync.Mutex
	pipes map[string][2]chan dist.Frame
}

// NewMemory returns a protocol for nodes that share the Memory.
func NewMemory() *Memory { return &Memory{pipes: make(map[string][2]chan dist.Frame)} }

// Name implements dist.Protocol.
func (m *Memory) Name() string { return "memory" }

// Dial implements dist.Protocol.
func (m *Memory) Dial(_ context.Context, conn net.Conn, h dist.Handshake) (dist.Link, error) {
	key := conn.LocalAddr().String()
	pipe := [2]chan dist.Frame{make(chan dist.Frame, 1024), make(chan dist.Frame, 1024)}
	m.mu.Lock()
	m.pipes[key] = pipe
	m.mu.Unlock()
	in, _ := h.Cookies(h.Peer)
	fmt.Fprintln(conn, h.Local.Name, h.Local.Creation, key, in)
	return m.link(conn, h, pipe[0], pipe[1])
}

// Accept implements dist.Protocol.
func (m *Memory) Accept(_ context.Context, conn net.Conn, h dist.Handshake) (dist.Link, error) {
	r := bufio.NewReader(conn)
	var id wire.NodeID
	var key, cookie string
	if _, err := fmt.Fscanln(r, &id.Name, &id.Creation, &key, &cookie); err != nil {
		conn.Close()
		return nil, err
	}
	verdict := h.Admit(id)
	if in, _ := h.Cookies(id.Name); in != cookie {
		verdict = dist.NotAllowed
	}
	fmt.Fprintln(conn, h.Local.Name, h.Local.Creation, verdict)
	if verdict == dist.Alive {
		insists := false
		if fmt.Fscanln(r, &insists); !insists {
			conn.Close()
			return nil, dist.ErrBusy
		}
	}
	if verdict == dist.Busy || verdict == dist.NotAllowed || verdict == dist.Full {
		conn.Close()
		return nil, errors.New("not let in")
	}
	if err := h.Proved(id); err != nil {
		conn.Close()
		return nil, err
	}
	fmt.Fprintln(conn, "welcome")
	m.mu.Lock()
	pipe := m.pipes[key]
	m.mu.Unlock()
	return &memoryLink{conn: conn, r: r, id: id, in: pipe[0], out: pipe[1], gone: make(chan struct{})}, nil
}

func (m *Memory) link(conn net.Conn, h dist.Handshake, out, in chan dist.Frame) (dist.Link, error) {
	r := bufio.NewReader(conn)
	var id wire.NodeID
	var verdict dist.Verdict
	if _, err := fmt.Fscanln(r, &id.Name, &id.Creation, &verdict); err != nil {
		conn.Close()
		return nil, err
	}
	switch verdict {
	case dist.Busy:
		conn.Close()
		return nil, dist.ErrBusy
	case dist.NotAllowed, dist.Full:
		conn.Close()
		return nil, errors.New("not let in")
	case dist.Alive:
		insists := h.Insist(id)
		if fmt.Fprintln(conn, insists); !insists {
			conn.Close()
			return nil, dist.ErrBusy
		}
	}
	var word string
	if _, err := fmt.Fscanln(r, &word); err != nil {
		conn.Close()
		return nil, fmt.Errorf("%w: not proved", dist.ErrBusy)
	}
	return &memoryLink{conn: conn, r: r, id: id, in: in, out: out, gone: make(chan struct{})}, nil
}

type memoryLink struct {
	conn    net.Conn
	r       *bufio.Reader
	id      wire.NodeID
	in, out chan dist.Frame
	once    sync.Once
	gone    chan struct{}
	watch   sync.Once
	ins     atomic.Uint64
	outs    atomic.Uint64

	mu      sync.Mutex
	waiting []dist.Frame // for Flush
	bytes   int
	long    map[node.PID]*dist.Frame // incomplete, by sender
	parts   int                      // of them
}

func (l *memoryLink) Peer() dist.Peer {
	return dist.Peer{ID: l.id, Protocol: "memory", Spawn: true, Alias: true, Monitor: true, Acks: true, Hidden: true, Receipts: true}
}

func (l *memoryLink) Read(f *dist.Frame) error {
	l.watch.Do(func() {
		go func() { // ends with the connection
			io.Copy(io.Discard, l.r)
			l.Close()
		}()
	})
	select {
	case *f = <-l.in:
		l.ins.Add(1)
		return nil
	case <-l.gone:
		select { // deliver what arrived before the end
		case *f = <-l.in:
			l.ins.Add(1)
			return nil
		default:
			return io.EOF
		}
	}
}

func (l *memoryLink) Write(f *dist.Frame) (int, error) {
	if f.Op == dist.OpSend {
		if _, ok := f.Payload.(struct{}); ok {
			return 0, &wire.EncodeError{Err: errors.New("no term")}
		}
	}
	if crash, ok := f.Payload.(*node.Crash); ok {
		f.Payload, _ = termof.Of(crash)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.long[f.From] != nil {
		return l.bytes, dist.ErrLater
	}
	if m, ok := f.Payload.(Long); ok {
		if l.long == nil {
			l.long = make(map[node.PID]*dist.Frame)
		}
		g := *f
		l.long[f.From], l.parts = &g, l.parts+int(m)
		return l.bytes + l.parts, nil
	}
	l.waiting = append(l.waiting, *f)
	l.bytes += mailbox.Size(f.Payload)
	return l.bytes + l.parts, nil
}

// Long is a message that a Memory sends in that many parts, one per flush.
type Long int

// partsLocked advances the long messages, and returns those that are complete.
func (l *memoryLink) partsLocked() (done []dist.Frame) {
	for from, f := range l.long {
		l.parts--
		if f.Payload = f.Payload.(Long) - 1; f.Payload == Long(0) {
			done = append(done, *f)
			delete(l.long, from)
		}
	}
	return done
}

func (l *memoryLink) Flush(tick bool) (left int, err error) {
	select {
	case <-l.gone:
		return 0, io.EOF
	default:
	}
	l.mu.Lock()
	frames := append(l.waiting, l.partsLocked()...)
	l.waiting, l.bytes, left = nil, 0, l.parts
	l.mu.Unlock()
	if len(frames) == 0 && tick {
		l.outs.Add(1)
	}
	for _, f := range frames {
		l.outs.Add(1)
		select {
		case l.out <- f:
		case <-l.gone:
			return 0, io.EOF
		}
	}
	return left, nil
}

func (l *memoryLink) Traffic() (in, out uint64) { return l.ins.Load(), l.outs.Load() }

func (l *memoryLink) Close() error {
	l.once.Do(func() { close(l.gone); l.conn.Close() })
	return nil
}
