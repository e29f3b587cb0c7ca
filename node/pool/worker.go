package pool

import (
	"errors"
	"slices"
	"sync/atomic"
	"time"

	"github.com/actornode/actornode/internal/kernel/process"
	"github.com/actornode/actornode/internal/mailbox/ring"
	"github.com/actornode/actornode/mailbox"
	"github.com/actornode/actornode/node"
)

// worker is the behaviour of a worker's process, around that of the user.
type worker struct {
	inner node.Actor
	q     *queue
	s     *slot

	since atomic.Int64  // with a Deadline: when it began with the pool's message that it handles, see now; 0: with none
	taken atomic.Uint32 // what it has done with the message that it took last

	// The process only, or the front if taken says returned.
	task task
	left bool // it has left the message as unhandled

	// Guarded by the lock of the queue.
	p      *process.Process // nil: it has not started yet
	own    ring.Ring[any]   // messages that others have sent to the worker itself
	busy   bool             // with it
	armed  bool             // the next message wakes the process
	listed bool             // in idle
	told   bool             // that it is over
	closed bool
}

// The states of taken.
const (
	waiting  uint32 = iota // the worker has not begun with it
	begun                  // it has, or has none
	returned               // it was killed before that: another handles the message
)

// task is the message of the pool that a worker has taken, for its Receive. There is one at a time.
type task struct{ msg any }

// over is the message to a worker that may end: its slot leaves and has nothing to do any more.
type over struct{}

// joined tells the front that a worker runs.
type joined struct {
	w   *worker
	pid node.PID
}

func (q *queue) newWorker(s *slot, b node.Actor) *worker {
	w := &worker{inner: b, q: q, s: s}
	w.taken.Store(begun)
	return w
}

// box is the mailbox of a worker: its own messages, and then those of the pool.
type box worker

// Fit is called by the supervisor.
func (w *worker) Fit(_ process.Key, o *node.Options) { o.Mailbox = (*box)(w) }

// Push is part of mailbox.Box.
func (b *box) Push(msg any) mailbox.Result {
	b.q.mu.Lock()
	defer b.q.mu.Unlock()
	if b.closed {
		return mailbox.Closed
	}
	b.own.Push(msg)
	if (*worker)(b).disarm() {
		return mailbox.Wake
	}
	return mailbox.Queued
}

// Force is part of mailbox.Forcer.
func (b *box) Force(msg any) mailbox.Result { return b.Push(msg) }

// Pop is part of mailbox.Box.
func (b *box) Pop() (any, bool) {
	q := b.q
	q.mu.Lock()
	defer q.mu.Unlock()
	b.busy = b.left
	if b.own.Len() > 0 {
		return b.own.Shift(), true
	}
	if !b.closed && !b.busy && !(b.s.leaves && q.shared != nil) {
		if msg, ok := q.source(b.s).pop(); ok {
			b.busy, b.task.msg = true, msg
			b.taken.Store(waiting)
			return &b.task, true
		}
		b.task.msg = nil
	}
	if b.s.leaves && !b.told && !q.over(b.s).IsZero() {
		b.told = true
		return over{}, true
	}
	if b.armed = !b.closed; b.armed && q.shared != nil && !b.listed && !b.busy {
		b.listed = true
		q.idle = append(q.idle, (*worker)(b))
	}
	return nil, false
}

// Done is part of mailbox.Box.
func (b *box) Done() {}

// Len is part of mailbox.Box.
func (b *box) Len() int {
	b.q.mu.Lock()
	defer b.q.mu.Unlock()
	n := b.own.Len()
	if b.busy {
		n++
	}
	return n
}

// Close is part of mailbox.Box: the process has ended.
func (b *box) Close() {
	b.q.mu.Lock()
	defer b.q.mu.Unlock()
	b.closed, b.armed, b.busy, b.own = true, false, false, ring.Ring[any]{}
	if b.listed {
		b.listed = false
		b.q.idle = slices.DeleteFunc(b.q.idle, func(w *worker) bool { return w == (*worker)(b) })
	}
}

// disarm reports whether the caller must wake w, which may be nil. The caller has the lock.
func (w *worker) disarm() bool {
	if w == nil || !w.armed {
		return false
	}
	w.armed = false
	return true
}

// wake wakes w, if it is not nil.
func (w *worker) wake(a *process.Acting) {
	if w != nil {
		w.p.Runner().Prod(a)
	}
}

// Behaviour returns what the node treats as the behaviour of the process.
func (w *worker) Behaviour() node.Actor { return w.inner }

// Init is part of node.Initializer.
func (w *worker) Init(c *node.Context) (err error) {
	p := c.Inside(process.Key{}).Acting().Own()
	w.q.mu.Lock()
	w.p, w.s.worker = p, w
	w.q.mu.Unlock()
	if i, ok := w.inner.(node.Initializer); ok {
		was := c.InsideTurn(process.Key{}).Slot(&w.inner)
		err = i.Init(c)
		c.InsideTurn(process.Key{}).Slot(was)
	}
	switch {
	case errors.Is(err, node.ErrIgnore):
		return errIgnores
	case err == nil || err == node.ErrPending:
		w.q.mu.Lock()
		w.s.running++
		w.q.mu.Unlock()
		c.Inside(process.Key{}).Signal(w.q.self(), joined{w, c.Self()})
	}
	return err
}

// errIgnores is the reason of a worker that does not start: messages would wait for it for ever.
var errIgnores = errors.New("pool: the Init of a worker has returned node.ErrIgnore: a worker must run")

// Receive is part of node.Actor.
func (w *worker) Receive(c *node.Context, msg any) error {
	switch m := msg.(type) {
	case *task:
		return w.work(c, m)
	case over:
		w.q.left()
		return nil
	}
	return w.receive(c, msg)
}

func (w *worker) receive(c *node.Context, msg any) error {
	was := c.InsideTurn(process.Key{}).Slot(&w.inner)
	err := w.inner.Receive(c, msg)
	c.InsideTurn(process.Key{}).Slot(was)
	return err
}

// work handles a message of the pool.
func (w *worker) work(c *node.Context, t *task) error {
	if !w.left {
		if !w.taken.CompareAndSwap(waiting, begun) {
			return nil // the process is dead
		}
		if r, msg, ok := c.Inside(process.Key{}).Request(t.msg); ok {
			switch err := c.Inside(process.Key{}).Adopt(r, w.q.front); {
			case errors.Is(err, node.ErrReplied):
				return nil // its caller has given up
			case err != nil: // the process is dead
				w.q.putBack(w.s, w.task.msg)
				return nil
			}
			t.msg = msg
		}
	}
	if w.q.o.Deadline > 0 {
		w.since.Store(w.q.now())
		defer w.since.Store(0)
	}
	err := w.receive(c, t.msg)
	w.left = err == node.ErrUnhandled
	return err
}

// ended is called when the process has ended: a message that it has not begun with is put back. One that it has begun with is
// lost, and a caller is told.
func (w *worker) ended() {
	if w.taken.CompareAndSwap(waiting, returned) {
		w.q.putBack(w.s, w.task.msg)
	}
	w.q.ended(w.s)
}

// now is the time since the start of the pool in nanoseconds, and never 0.
func (q *queue) now() int64 { return int64(time.Since(q.begun)) | 1 }
