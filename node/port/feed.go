package port

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
	"time"

	"github.com/actornode/actornode/node"
)

// ErrFrame says that a message is larger than Config.Frame.
var ErrFrame = errors.New("port: the message is larger than Config.Frame allows")

var errOver = errors.New("port: the program no longer reads its input")

// stdin is the program's stdin, to which we write: an *os.File.
type stdin interface {
	io.WriteCloser
	SetWriteDeadline(t time.Time) error
}

// writeQueue is what goes to a program: bytes that wait for its stdin.
//
// Invariants:
//
//  1. waiting and flying together are below limit, or were before the last add.
//  2. If full has returned true, notify is called once when half of limit is free.
type writeQueue struct {
	limit, frame int
	stall        time.Duration
	notify       func(event any)

	mu      sync.Mutex
	more    sync.Cond
	waiting []byte // not yet with the writer
	writing int    // bytes with the writer
	wanted  bool   // the actor waits for free space
	last    bool   // close stdin when all is written
	over    bool   // write nothing more
	out     uint64 // frames added
}

func newWriteQueue(cfg *Config, notify func(any)) *writeQueue {
	f := &writeQueue{limit: cfg.Queue, frame: cfg.Frame, stall: cfg.Stall, notify: notify}
	f.more.L = &f.mu
	return f
}

// add appends a frame, whose bytes write appends. It does not wait: see full. An
// error leaves f as it was.
func (f *writeQueue) add(write func([]byte) ([]byte, error)) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.over || f.last {
		return errOver
	}
	at := len(f.waiting)
	b, err := write(append(f.waiting, make([]byte, header)...))
	if err != nil {
		return err
	}
	n := len(b) - at - header
	if n > f.frame {
		return fmt.Errorf("%w: %d bytes; %d are allowed", ErrFrame, n, f.frame)
	}
	binary.BigEndian.PutUint32(b[at:], uint32(n))
	f.waiting = b
	f.out++
	f.more.Signal()
	return nil
}

// full reports whether no more should be added; if so, notify will be called with queueHasSpace.
func (f *writeQueue) full() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	full := len(f.waiting)+f.writing >= f.limit
	f.wanted = f.wanted || full
	return full
}

// stats returns how many frames have been added and how many bytes wait.
func (f *writeQueue) stats() (frames uint64, waiting int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.out, len(f.waiting) + f.writing
}

// finish closes the stdin when all that waits has been written.
func (f *writeQueue) finish() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.last = true
	f.more.Signal()
}

// drop ends the writer, whatever waits.
func (f *writeQueue) drop(w stdin) {
	f.mu.Lock()
	f.over = true
	f.more.Signal()
	f.mu.Unlock()
	w.Close() // ends a write that waits
}

// run writes what is added to w and closes it in the end. It returns after finish or drop, or
// when it cannot go on, which it reports to notify.
func (f *writeQueue) run(w stdin) {
	defer w.Close()
	var b []byte
	for {
		if b = f.next(b); b == nil {
			return
		}
		for rest := b; len(rest) > 0; {
			n, err := f.write(w, rest[:min(step, len(rest))])
			rest = rest[n:]
			if f.written(n) {
				f.notify(queueHasSpace{})
			}
			if err != nil {
				f.broken(err)
				return
			}
		}
	}
}

// next waits for bytes to write; nil: there will be none. It takes back the previous buffer.
func (f *writeQueue) next(old []byte) []byte {
	f.mu.Lock()
	defer f.mu.Unlock()
	for len(f.waiting) == 0 && !f.last && !f.over {
		f.more.Wait()
	}
	if f.over || len(f.waiting) == 0 {
		return nil
	}
	b := f.waiting
	if cap(old) > keepCapacity {
		old = nil
	}
	f.waiting, f.writing = old[:0], len(b)
	return b
}

// written counts n bytes that have been written, and reports whether there is now space
// that the actor waits for.
func (f *writeQueue) written(n int) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.writing -= n
	there := f.wanted && 2*(len(f.waiting)+f.writing) <= f.limit
	f.wanted = f.wanted && !there
	return there
}

var errStalled = errors.New("port: no frame read yet")

// write writes b, or a part of it. It fails with errStalled if the other side reads
// nothing for too long.
func (f *writeQueue) write(w stdin, b []byte) (int, error) {
	if f.stall != node.Infinity {
		if err := w.SetWriteDeadline(time.Now().Add(f.stall)); err != nil {
			return 0, err
		}
	}
	n, err := w.Write(b)
	if errors.Is(err, os.ErrDeadlineExceeded) {
		if err = nil; n == 0 {
			err = errStalled
		}
	}
	return n, err
}

// broken ends the writer because of an error.
func (f *writeQueue) broken(err error) {
	f.mu.Lock()
	over := f.over
	f.over, f.waiting, f.writing = true, nil, 0
	f.mu.Unlock()
	switch {
	case over:
	case err == errStalled:
		f.notify(stalled{})
	default:
		f.notify(closed{stdinClosed})
	}
}
