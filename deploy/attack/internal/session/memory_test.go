package session

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"sync"
	"syscall"
	"time"

	"github.com/actornode/actornode/node/discovery"
	"github.com/actornode/actornode/wire"
)

// network is a dist.Transport and a discovery.Finder in memory. In a bubble of testing/synctest a goroutine that waits
// for it waits durably, so that synctest.Wait returns when everything that was sent has been handled.
type network struct {
	mu        sync.Mutex
	listeners map[string]*listener // by protocol, in the order of Listen: native, erlang
	ports     int
	how       map[wire.Atom]answer // to the node's own dials
	dialled   []dial               // accepted by answer
}

// answer is the result of a connection that the node makes to a peer.
type answer int

const (
	refuses answer = iota // at once
	hangs                 // until the node gives up
	takes                 // the fuzzer plays the dialled side
)

type dial struct {
	peer wire.Atom
	end  *end
}

// Find implements discovery.Finder.
func (w *network) Find(_ context.Context, name wire.Atom) ([]discovery.Endpoint, error) {
	return []discovery.Endpoint{{Protocol: "erlang", Addr: "127.0.0.1:1"}}, nil
}

// Announce implements discovery.Finder.
func (w *network) Announce(context.Context, discovery.Announcement) (func(), error) {
	return func() {}, nil
}

// Dial implements dist.Transport: the node dials a peer.
func (w *network) Dial(ctx context.Context, _ string, peer wire.Atom) (net.Conn, error) {
	w.mu.Lock()
	how := w.how[peer]
	w.mu.Unlock()
	switch how {
	case hangs:
		<-ctx.Done()
		return nil, ctx.Err()
	case takes:
		ours, theirs := pipe()
		w.mu.Lock()
		w.dialled = append(w.dialled, dial{peer, ours})
		w.mu.Unlock()
		return theirs, nil
	}
	return nil, syscall.ECONNREFUSED
}

// Listen implements dist.Transport.
func (w *network) Listen(_ context.Context, _ string) (net.Listener, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.ports++
	l := &listener{addr: addr(fmt.Sprint("127.0.0.1:", w.ports)), come: make(chan net.Conn), closed: make(chan struct{})}
	if w.listeners == nil {
		w.listeners = make(map[string]*listener)
	}
	w.listeners[[]string{"native", "erlang"}[w.ports-1]] = l
	return l, nil
}

type listener struct {
	addr   addr
	come   chan net.Conn
	closed chan struct{}
	once   sync.Once
}

func (l *listener) Accept() (net.Conn, error) {
	select {
	case c := <-l.come:
		return c, nil
	case <-l.closed:
		return nil, net.ErrClosed
	}
}

func (l *listener) Close() error   { l.once.Do(func() { close(l.closed) }); return nil }
func (l *listener) Addr() net.Addr { return l.addr }

type addr string

func (a addr) Network() string { return "tcp" }
func (a addr) String() string  { return string(a) }

// half is one direction of a connection.
type half struct {
	mu     sync.Mutex
	cond   sync.Cond
	b      []byte
	limit  int   // of b, for Write; the fuzzer's sends have none
	err    error // for readers, after b; nil: more may come
	broken error // for writers
}

// end is one end of a connection.
type end struct {
	in, out *half
	source  addr
	mu      sync.Mutex
	until   [2]time.Time // deadlines of reads and writes
}

const pipeLimit = 256 << 10

func pipe() (ours, theirs *end) {
	a, b := &half{limit: pipeLimit}, &half{limit: pipeLimit}
	a.cond.L, b.cond.L = &a.mu, &b.mu
	return &end{in: a, out: b}, &end{in: b, out: a, source: "127.0.0.1:7"}
}

func (e *end) deadline(which int) (late bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	return !e.until[which].IsZero() && !time.Now().Before(e.until[which])
}

func (e *end) Read(p []byte) (int, error) {
	h := e.in
	h.mu.Lock()
	defer h.mu.Unlock()
	for {
		switch {
		case e.deadline(0):
			return 0, os.ErrDeadlineExceeded
		case h.err != nil && h.err != io.EOF:
			return 0, h.err
		case len(h.b) > 0:
			n := copy(p, h.b)
			h.b = h.b[n:]
			h.cond.Broadcast()
			return n, nil
		case h.err != nil:
			return 0, h.err
		case len(p) == 0:
			return 0, nil
		}
		h.cond.Wait()
	}
}

func (e *end) Write(p []byte) (n int, err error) {
	h := e.out
	h.mu.Lock()
	defer h.mu.Unlock()
	for {
		switch {
		case h.broken != nil:
			return n, h.broken
		case e.deadline(1):
			return n, os.ErrDeadlineExceeded
		}
		k := min(len(p), h.limit-len(h.b))
		if k > 0 {
			h.b = append(h.b, p[:k]...)
			n += k
			p = p[k:]
			h.cond.Broadcast()
		}
		if len(p) == 0 {
			return n, nil
		}
		if k <= 0 {
			h.cond.Wait()
		}
	}
}

// finish says that no more bytes come, and that nobody reads.
func (h *half) finish(read, write error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.err == nil {
		h.err = read
	}
	if h.broken == nil {
		h.broken = write
	}
	h.cond.Broadcast()
}

func (e *end) Close() error {
	e.out.finish(io.EOF, net.ErrClosed)
	e.in.finish(net.ErrClosed, syscall.EPIPE)
	return nil
}

// reset is a Close that the other end sees at once; bytes under way are lost.
func (e *end) reset() {
	e.out.finish(syscall.ECONNRESET, net.ErrClosed)
	e.in.finish(net.ErrClosed, syscall.ECONNRESET)
}

// closeWrite is half a Close.
func (e *end) closeWrite() { e.out.finish(io.EOF, net.ErrClosed) }

// send does what Write does, without a limit.
func (e *end) send(b []byte) {
	e.out.mu.Lock()
	defer e.out.mu.Unlock()
	if e.out.err == nil {
		e.out.b = append(e.out.b, b...)
		e.out.cond.Broadcast()
	}
}

// take reads without waiting. over: no more bytes will come.
func (e *end) take(b []byte) (_ []byte, over bool) {
	e.in.mu.Lock()
	defer e.in.mu.Unlock()
	if len(e.in.b) > 0 {
		b = append(b, e.in.b...)
		e.in.b = nil
		e.in.cond.Broadcast()
	}
	return b, e.in.err != nil
}

// over reports whether no more bytes will come, apart from those that are there.
func (e *end) over() bool {
	e.in.mu.Lock()
	defer e.in.mu.Unlock()
	return e.in.err != nil
}

func (e *end) SetDeadline(t time.Time) error {
	return errors.Join(e.SetReadDeadline(t), e.SetWriteDeadline(t))
}

func (e *end) SetReadDeadline(t time.Time) error  { e.set(0, e.in, t); return nil }
func (e *end) SetWriteDeadline(t time.Time) error { e.set(1, e.out, t); return nil }

func (e *end) set(which int, h *half, t time.Time) {
	e.mu.Lock()
	e.until[which] = t
	e.mu.Unlock()
	wake := func() { h.mu.Lock(); h.cond.Broadcast(); h.mu.Unlock() }
	if d := time.Until(t); !t.IsZero() && d > 0 {
		time.AfterFunc(d, wake)
	} else {
		wake()
	}
}

func (e *end) LocalAddr() net.Addr  { return e.source }
func (e *end) RemoteAddr() net.Addr { return e.source }
