//go:build linux && amd64 && !msan && !actornode_portable && !actornode_no_spin

package socket

import (
	"errors"
	"net"
	"syscall"
	"time"
)

// Spins reports whether a Reader can wait without going to sleep.
const Spins = true

// Reader reads from a connection. Its Await polls for input that is expected within
// microseconds, in place of a sleep, which takes a switch of threads, and on an idle
// machine much more than that. It is for one goroutine at a time; all reads go through it.
//
// While Await polls, and until the Reader next sleeps, the kernel does not report a few
// bytes: each message would wake the thread of Go's runtime that waits for all
// connections, which would find that the message has been read.
type Reader struct {
	conn     net.Conn
	raw      syscall.RawConn // nil: the connection cannot do that
	lowatSet bool            // the kernel does not report a few bytes
	err      error           // what a look has found, for Read

	// Of a look.
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

// NewReader readies a Reader for a connection: over TCP or a Unix socket, on Unix. Over
// others Await returns false at once.
func NewReader(conn net.Conn) *Reader {
	r := &Reader{conn: conn, raw: rawConn(conn)}
	r.look = r.lookAt
	r.setLowat = func(fd uintptr) { r.lowatSet = setRcvLowat(fd, r.bytes) && r.bytes > 1 }
	return r
}

// errNothing is returned when nothing has come in time.
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
		r.until, r.between = time.Time{}, nil // one look
		if n, err := r.watch(b); err == nil {
			return n, nil
		}
		if r.err != nil {
			return r.Read(b)
		}
		r.bytes = 1 // else the kernel would not wake this goroutine
		if err := r.raw.Control(r.setLowat); err != nil {
			return 0, err
		}
	}
	return r.conn.Read(b)
}

// Await waits for d, and no longer than a call of between beyond that, and reports whether
// something has come, or is wrong: then the next read does not wait. read calls Read once,
// for what it finds. Await keeps the processor busy all the while; between is called
// whenever nothing has come, unless it is nil.
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

// watch reads b in looks, until there is something or the time is over. What is wrong is
// kept for the read after.
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

// lookAt is watch with the descriptor in hand.
func (r *Reader) lookAt(fd uintptr) {
	for {
		last := !time.Now().Before(r.until) // between may take long
		n, err := tryRead(fd, r.buf)
		switch {
		case n > 0 || err == nil: // 0: the end, which a read will find again
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
