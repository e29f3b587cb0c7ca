package socket

import (
	"net"
	"sync"
	"syscall"
)

// Writer writes to a connection without waiting for it, for links that are
// links.TryFlusher. The goroutine that sends to the connection, by the Writer or otherwise,
// holds its lock, and sends what Rest returns first.
type Writer struct {
	sync.Mutex
	rest []byte // of what Try has begun to send

	raw   syscall.RawConn // nil: the connection cannot do that
	write func(fd uintptr) bool
	b     []byte
	n     int // of b, written
}

// NewWriter readies a Writer for a connection.
func NewWriter(conn net.Conn) *Writer {
	w := &Writer{raw: rawConn(conn)}
	w.write = func(fd uintptr) bool {
		w.n = writeOnce(fd, w.b)
		return true
	}
	return w
}

// Able reports whether there is any sense in trying: over TCP or a Unix socket, on
// Unix.
func (w *Writer) Able() bool { return w.raw != nil }

// Unsent returns how many bytes the kernel holds of what has been written and the other
// end has not taken; 0 where that is not known. Any goroutine may call it.
func (w *Writer) Unsent() (n int) {
	if w.raw != nil {
		_ = w.raw.Control(func(fd uintptr) { n = unsent(fd) })
	}
	return n
}

// Send writes what the connection takes of b at once and returns how many bytes that
// is: none, perhaps, nor where something is wrong.
func (w *Writer) Send(b []byte) int {
	w.b, w.n = b, 0
	_ = w.raw.Write(w.write)
	w.b = nil
	return max(w.n, 0)
}

// Rest returns what Try has begun to send, which is the caller's to send now.
func (w *Writer) Rest() []byte {
	rest := w.rest
	w.rest = nil
	return rest
}

// tryMost is how many bytes are sent by Try, at most: more is for a Flush, which
// may wait.
const tryMost = 64 << 10

// Try is the Try of a links.TryFlusher link: it sends what the link holds, buf, to the end of
// which others add under mu, and puts an empty buffer in its place: spare, which the holder of
// w's lock owns. As long as there are long messages it sends nothing: they have their
// turns. sent is the number of bytes that have gone.
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
	mu.Lock() // a writer that came meanwhile and found w locked relies on this
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
