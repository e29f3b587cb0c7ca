//go:build linux && amd64 && !race && !msan && !actornode_portable && !actornode_no_spin

package wire

import (
	"errors"
	"net"
	"syscall"
	"time"
)

// Spins says that a Lookout can wait without going to sleep.
const Spins = true

// Lookout reads from a connection, and can wait for what comes over it as who expects it
// within microseconds does: without going to sleep, which takes a switch of threads, and
// on a machine that idles much more than that. It is for one goroutine at a time, through
// which all reads go.
//
// While it waits so, and until it next has to sleep, the kernel is told not to tell anyone
// of a few bytes: a thread of Go's runtime that is waiting for whatever may come would be
// woken by each message, to find that somebody has read it.
type Lookout struct {
	conn  net.Conn
	raw   syscall.RawConn // nil: the connection cannot do that
	quiet bool            // the kernel tells nobody
	err   error           // what a look has found, for Read

	// Of a look.
	busy    bool // Await has Read look instead of reading
	until   time.Time
	between func()
	buf     []byte
	n       int
	came    bool
	look    func(fd uintptr)

	bytes int // for tell
	tell  func(fd uintptr)
}

// NewLookout readies a Lookout for a connection: over TCP or a Unix socket, on Unix. Over
// others Await returns false at once.
func NewLookout(conn net.Conn) *Lookout {
	l := &Lookout{conn: conn, raw: rawConn(conn)}
	l.look = l.lookAt
	l.tell = func(fd uintptr) { l.quiet = tellFrom(fd, l.bytes) && l.bytes > 1 }
	return l
}

// errNothing says that nothing has come in time.
var errNothing = errors.New("wire: nothing has come")

// Read reads from the connection.
func (l *Lookout) Read(b []byte) (n int, err error) {
	switch {
	case l.err != nil:
		err, l.err = l.err, nil
		return 0, err
	case l.busy:
		return l.watch(b)
	case l.quiet:
		l.until, l.between = time.Time{}, nil // one look
		if n, err := l.watch(b); err == nil {
			return n, nil
		}
		if l.err != nil {
			return l.Read(b)
		}
		l.bytes = 1 // or nobody would wake this goroutine
		if err := l.raw.Control(l.tell); err != nil {
			return 0, err
		}
	}
	return l.conn.Read(b)
}

// Await waits for d, and no longer than a call of between beyond that, and reports whether
// something has come, or is wrong: then the next read does not wait. read calls Read once,
// for what it finds. Await keeps the processor busy all the while; between is called
// whenever nothing has come, unless it is nil.
func (l *Lookout) Await(d time.Duration, between func(), read func() error) (came bool) {
	switch {
	case l.raw == nil:
		return false
	case l.err != nil:
		return true
	}
	if !l.quiet {
		l.bytes = fewBytes
		if err := l.raw.Control(l.tell); err != nil { // closed
			return true
		}
	}
	l.until, l.between = time.Now().Add(d), between
	l.busy, l.came = true, false
	err := read()
	l.busy, l.between = false, nil
	return l.came || err == nil
}

// watch reads b in looks, until there is something or the time is over. What is wrong is
// kept for the read after.
func (l *Lookout) watch(b []byte) (n int, err error) {
	l.buf, l.n, l.came = b, 0, false
	if err := l.raw.Control(l.look); err != nil { // closed
		l.came, l.err = true, err
	}
	l.buf = nil
	if l.n > 0 {
		return l.n, nil
	}
	return 0, errNothing
}

// lookAt is watch with the descriptor in hand.
func (l *Lookout) lookAt(fd uintptr) {
	for {
		last := !time.Now().Before(l.until) // between may take long
		n, err := tryRead(fd, l.buf)
		switch {
		case n > 0 || err == nil: // 0: the end, which a read will find again
			l.n, l.came = max(n, 0), true
			return
		case !again(err):
			l.came, l.err = true, err
			return
		}
		if last {
			return
		}
		if l.between != nil {
			l.between()
		}
	}
}
