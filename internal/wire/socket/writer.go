package socket

import (
	"net"
	"sync"
	"syscall"
)

// Writer writes to a connection without blocking, for links that are a links.TryFlusher. The goroutine that sends to the
// connection, with the Writer or otherwise, holds its lock, and must send Rest first.
type Writer struct {
	sync.Mutex
	rest []byte // unsent rest of a Try

	raw   syscall.RawConn // nil if the connection does not support it
	write func(fd uintptr) bool
	b     []byte
	n     int // written bytes of b
}

// NewWriter returns a Writer for a connection.
func NewWriter(conn net.Conn) *Writer {
	w := &Writer{raw: rawConn(conn)}
	w.write = func(fd uintptr) bool {
		w.n = writeOnce(fd, w.b)
		return true
	}
	return w
}

// Able reports whether the connection supports non-blocking writes: TCP and Unix sockets, on Unix.
func (w *Writer) Able() bool { return w.raw != nil }

// Unsent returns the number of written bytes that the other end has not acknowledged, or 0 if unknown. Any goroutine may
// call it.
func (w *Writer) Unsent() (n int) {
	if w.raw != nil {
		_ = w.raw.Control(func(fd uintptr) { n = unsent(fd) })
	}
	return n
}

// Send writes as much of b as the connection accepts at once and returns the number of bytes, which may be 0, also after an
// error.
func (w *Writer) Send(b []byte) int {
	w.b, w.n = b, 0
	_ = w.raw.Write(w.write)
	w.b = nil
	return max(w.n, 0)
}

// Rest returns the unsent rest of a Try, which the caller must send now.
func (w *Writer) Rest() []byte {
	rest := w.rest
	w.rest = nil
	return rest
}

// tryMost is the maximum number of bytes sent by Try: more is left to Flush, which may block.
const tryMost = 64 << 10

// Try implements the Try of a links.TryFlusher: it sends the link's buffer buf, to which others append under mu, and
// replaces it by the empty buffer spare, which the holder of w's lock owns. While there are long messages it sends nothing,
// because Flush interleaves them. sent is the number of bytes sent.
func Try[L any](w *Writer, mu *sync.Mutex, buf, spare *[]byte, long *[]L) (sent int, more bool) {
	if !w.Able() || !w.TryLock() {
		return 0, true
	}
	if mu.Lock(); len(w.rest) > 0 || len(*long) > 0 || len(*buf) > tryMost {
		mu.Unlock()
		w.Unlock()
		return 0, true
	}
	b := *buf
	*buf, *spare = *spare, nil
	mu.Unlock()
	if len(b) > 0 {
		sent = w.Send(b)
		w.rest = b[sent:]
	}
	if more = len(w.rest) > 0; !more {
		w.rest, *spare = nil, b[:0]
	}
	w.Unlock()
	if more {
		return sent, true
	}
	mu.Lock() // a writer that found w locked meanwhile relies on this
	defer mu.Unlock()
	return sent, len(*buf) > 0 || len(*long) > 0
}

// rawConn returns the raw connection for non-blocking reads and writes, or nil if the connection or the platform does not
// support them.
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
