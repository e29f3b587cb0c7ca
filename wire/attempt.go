package wire

import (
	"net"
	"syscall"
)

// Attempt writes to a connection without waiting for it, for links that are [Prompt].
// It belongs to one goroutine at a time: that which may write.
type Attempt struct {
	raw   syscall.RawConn // nil: the connection cannot do that
	write func(fd uintptr) bool
	b     []byte
	n     int // of b, written
}

// NewAttempt readies an Attempt for a connection.
func NewAttempt(conn net.Conn) *Attempt {
	a := new(Attempt)
	switch conn := conn.(type) {
	case *net.TCPConn:
		a.raw, _ = conn.SyscallConn()
	case *net.UnixConn:
		a.raw, _ = conn.SyscallConn()
	}
	a.write = func(fd uintptr) bool {
		a.n, _ = syscall.Write(int(fd), a.b) // what is wrong, the next write finds
		return true
	}
	return a
}

// Able reports whether there is any sense in trying: over TCP or a Unix socket.
func (a *Attempt) Able() bool { return a.raw != nil }

// Send writes what the connection takes of b at once and returns how many bytes that
// is: none, perhaps, nor where something is wrong.
func (a *Attempt) Send(b []byte) int {
	a.b, a.n = b, 0
	_ = a.raw.Write(a.write)
	a.b = nil
	return max(a.n, 0)
}
