package wire

import (
	"net"
	"sync"
	"syscall"
)

// Attempt writes to a connection without waiting for it, for links that are [Prompt].
// Whoever sends to the connection, by it or otherwise, holds its lock, and sends what
// Rest returns first.
type Attempt struct {
	sync.Mutex
	rest []byte // of what Try has begun to send

	raw   syscall.RawConn // nil: the connection cannot do that
	write func(fd uintptr) bool
	b     []byte
	n     int // of b, written
}

// NewAttempt readies an Attempt for a connection.
func NewAttempt(conn net.Conn) *Attempt {
	a := &Attempt{raw: rawConn(conn)}
	a.write = func(fd uintptr) bool {
		a.n = writeOnce(fd, a.b)
		return true
	}
	return a
}

// Able reports whether there is any sense in trying: over TCP or a Unix socket, on
// Unix.
func (a *Attempt) Able() bool { return a.raw != nil }

// Unsent returns how many bytes the kernel holds of what has been written and the other
// end has not taken; 0 where that is not known. Any goroutine may call it.
func (a *Attempt) Unsent() (n int) {
	if a.raw != nil {
		_ = a.raw.Control(func(fd uintptr) { n = unsent(fd) })
	}
	return n
}

// Send writes what the connection takes of b at once and returns how many bytes that
// is: none, perhaps, nor where something is wrong.
func (a *Attempt) Send(b []byte) int {
	a.b, a.n = b, 0
	_ = a.raw.Write(a.write)
	a.b = nil
	return max(a.n, 0)
}

// Rest returns what Try has begun to send, which is the caller's to send now.
func (a *Attempt) Rest() []byte {
	rest := a.rest
	a.rest = nil
	return rest
}

// tryMost is how many bytes are sent by Try, at most: more is the business of those
// who may wait.
const tryMost = 64 << 10

// Try is the Try of a [Prompt] link: it sends what the link holds, buf, to the end of
// which others add under mu, and puts room in its place: spare, which whoever has the
// lock of a owns. As long as there are long messages it sends nothing: they have their
// turns. sent is the number of bytes that have gone.
func Try[L any](a *Attempt, mu *sync.Mutex, buf, spare *[]byte, long *[]L) (sent int, more bool) {
	if !a.Able() || !a.TryLock() {
		return 0, true
	}
	if mu.Lock(); len(a.rest) > 0 || len(*long) > 0 || len(*buf) > tryMost {
		mu.Unlock()
		a.Unlock()
		return 0, true
	}
	b := *buf
	*buf, *spare = *spare, nil
	mu.Unlock()
	if len(b) > 0 {
		sent = a.Send(b)
		a.rest = b[sent:]
	}
	if more = len(a.rest) > 0; !more {
		a.rest, *spare = nil, b[:0]
	}
	a.Unlock()
	if more {
		return sent, true
	}
	mu.Lock() // who came meanwhile, and found a locked, relies on this look
	defer mu.Unlock()
	return sent, len(*buf) > 0 || len(*long) > 0
}

// rawConn returns what there is below a connection, for reads and writes that do not wait;
// nil: something else, or this system has none.
func rawConn(conn net.Conn) (raw syscall.RawConn) {
	if !canTry {
		return nil
	}
	switch conn := conn.(type) {
	case *net.TCPConn:
		raw, _ = conn.SyscallConn()
	case *net.UnixConn:
		raw, _ = conn.SyscallConn()
	}
	return raw
}
