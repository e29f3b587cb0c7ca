package wire

import (
	"net"
	"syscall"
	"time"
)

// Lookout waits for what comes over a connection as who expects it within microseconds
// does: without going to sleep, which takes a switch of threads, and on a machine that
// idles much more than that. It is for one goroutine.
type Lookout struct {
	raw   syscall.RawConn // nil: the connection cannot do that
	until time.Time
	came  bool
	look  func(fd uintptr)

	between func()
}

// NewLookout readies a Lookout for a connection: over TCP or a Unix socket, on Unix. Over
// others Await returns false at once.
func NewLookout(conn net.Conn) *Lookout {
	l := &Lookout{raw: rawConn(conn)}
	l.look = func(fd uintptr) { l.came = lookUntil(fd, l.until, l.between) }
	return l
}

// Await waits for d, at most, and reports whether something has come, or is wrong: then
// a read does not wait. It keeps the processor busy all the while; between is called
// whenever nothing has come, unless it is nil.
func (l *Lookout) Await(d time.Duration, between func()) (came bool) {
	if l.raw == nil {
		return false
	}
	l.until, l.came, l.between = time.Now().Add(d), false, between
	if err := l.raw.Control(l.look); err != nil { // closed
		return true
	}
	return l.came
}

// rawConn returns what there is below a connection; nil: something else.
func rawConn(conn net.Conn) (raw syscall.RawConn) {
	switch conn := conn.(type) {
	case *net.TCPConn:
		raw, _ = conn.SyscallConn()
	case *net.UnixConn:
		raw, _ = conn.SyscallConn()
	}
	return raw
}
