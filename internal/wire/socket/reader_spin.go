//go:build linux && amd64 && !msan && !actornode_portable && !actornode_no_spin

package socket

import (
	"errors"
	"net"
	"syscall"
	"time"
)

// Spins reports whether a Reader can wait without sleeping.
const Spins = true

// Reader reads from a connection. Its Await polls for input that is expected within microseconds, instead of sleeping,
// which costs a thread switch, and on an idle machine much more. Only one goroutine at a time may use it; all reads must go
// through it.
//
// While Await polls, and until the Reader next sleeps, the kernel does not report a few
// bytes: otherwise each message would wake the thread of Go's runtime that waits for all connections, which would find that
// the message has already been read.
type Reader struct {
	conn     net.Conn
	raw      syscall.RawConn // nil if the connection does not support it
	lowatSet bool            // the kernel does not report a few bytes
	err      error           // the error of a poll, for Read

	// For polling.
	busy    bool // Await makes Read poll instead of reading
	until   time.Time
	between func()
	buf     []byte
	n       int
	came    bool
	look    func(fd uintptr)

	bytes    int // for setLowat
	setLowat func(fd uintptr)
}

// NewReader returns a Reader for a connection. It can poll TCP and Unix sockets, on Unix; for others Await returns false at
// once.
func NewReader(conn net.Conn) *Reader {
	r := &Reader{conn: conn, raw: rawConn(conn)}
	r.look = r.lookAt
	r.setLowat = func(fd uintptr) { r.lowatSet = setRcvLowat(fd, r.bytes) && r.bytes > 1 }
	return r
}

// errNothing is returned when no data arrived in time.
var errNothing = errors.New("socket: nothing has come")

// Read reads from the connection.
func (r *Reader) Read(b []byte) (n int, err error) {
	switch {
	case r.err != nil:
		err, r.err = r.err, nil
		return 0, err
	case r.busy:
		return r.watch(b)
	case r.lowatSet:
		r.until, r.between = time.Time{}, nil // a single poll
		if n, err := r.watch(b); err == nil {
			return n, nil
		}
		if r.err != nil {
			return r.Read(b)
		}
		r.bytes = 1 // otherwise the kernel would not wake this goroutine
		if err := r.raw.Control(r.setLowat); err != nil {
			return 0, err
		}
	}
	return r.conn.Read(b)
}

// Await waits for d, plus at most one call of between, and reports whether data or an error has arrived, so that the next
// read does not wait. read must call Read once. Await keeps the processor busy meanwhile; between, if not nil, is called
// after each poll without a result.
func (r *Reader) Await(d time.Duration, between func(), read func() error) (came bool) {
	switch {
	case r.raw == nil:
		return false
	case r.err != nil:
		return true
	}
	if !r.lowatSet {
		r.bytes = fewBytes
		if err := r.raw.Control(r.setLowat); err != nil { // closed
			return true
		}
	}
	r.until, r.between = time.Now().Add(d), between
	r.busy, r.came = true, false
	err := read()
	r.busy, r.between = false, nil
	return r.came || err == nil
}

// watch polls for data, which it reads into b, until the time is over. It keeps an error for the next read.
func (r *Reader) watch(b []byte) (n int, err error) {
	r.buf, r.n, r.came = b, 0, false
	if err := r.raw.Control(r.look); err != nil { // closed
		r.came, r.err = true, err
	}
	r.buf = nil
	if r.n > 0 {
		return r.n, nil
	}
	return 0, errNothing
}

// lookAt is watch for a file descriptor.
func (r *Reader) lookAt(fd uintptr) {
	for {
		last := !time.Now().Before(r.until) // between may take long
		n, err := tryRead(fd, r.buf)
		switch {
		case n > 0 || err == nil: // 0 means EOF, which a read will find again
			r.n, r.came = max(n, 0), true
			return
		case !again(err):
			r.came, r.err = true, err
			return
		}
		if last {
			return
		}
		if r.between != nil {
			r.between()
		}
	}
}
