package pool

import (
	"context"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/actornode/actornode/internal/kernel/process"
	"github.com/actornode/actornode/internal/mailbox/inbox"
	"github.com/actornode/actornode/internal/mailbox/ring"
	"github.com/actornode/actornode/mailbox"
	"github.com/actornode/actornode/node"
	"github.com/actornode/actornode/node/deadletter"
)

// A line holds the messages that wait for one worker, or for all.
type line struct {
	*inbox.Bounded
	idles   atomic.Int32 // how many of its workers are idle
	idle    []*slot      // these; guarded by run.mu
	retired atomic.Bool  // its worker has left: what comes goes to the other lines
}

// take removes the oldest message. Several workers may call it at once.
func (l *line) take() (msg any, ok bool) {
	if msg, ok = l.Pop(); ok {
		l.Done()
	}
	return msg, ok
}

// run is what the processes of a pool share, from the start of its supervisor to its end.
type run struct {
	o      Options
	node   *node.Node // like front, set before others know the front
	front  *process.Process
	lines  atomic.Pointer[[]*line]
	turn   atomic.Uint64 // RoundRobin
	ready  atomic.Bool   // node and front are set
	closed atomic.Bool   // the front has ended; set with mu
	ended  chan struct{} // closed then
	begun  time.Time

	refused, replaced *atomic.Uint64 // counters of the node, for metrics; set with node

	mu      sync.Mutex
	slots   []*slot
	signals ring.Ring[any] // to the front
	armed   bool           // the next signal wakes it
	last    int            // number of the newest slot
}

func newRun(o Options) *run {
	r := &run{o: o, begun: time.Now(), ended: make(chan struct{})}
	dropped := r.o.Bounds.Dropped
	r.o.Bounds.Dropped = func(_ node.PID, msg any) {
		r.refused.Add(1)
		sys := r.front.System
		sys.DeadLetter(deadletter.Letter{Cause: deadletter.MailboxFull, To: r.front.PID(), Message: msg})
		sys.Host.Unanswered(msg, node.ErrDropped, false)
		if dropped != nil {
			dropped(r.front.PID(), msg)
		}
	}
	r.lines.Store(new([]*line))
	if !o.Route.fixed {
		r.lines.Store(&[]*line{r.newLine()})
	}
	for range o.Workers {
		r.addSlot()
	}
	return r
}

func (r *run) newLine() *line { return &line{Bounded: inbox.NewBounded(r.o.Bounds)} }

// choose returns the line for a message.
func (r *run) choose(msg any) *line {
	all := *r.lines.Load()
	switch {
	case !r.o.Route.fixed:
		return all[0]
	case r.o.Route.hash == nil:
		return all[(r.turn.Add(1)-1)%uint64(len(all))]
	}
	return all[r.hash(msg)%uint64(len(all))]
}

// hash calls the user's function.
func (r *run) hash(msg any) (h uint64) {
	if q, ok := r.node.AsRequest(msg); ok {
		msg = q.Body
	}
	defer func() {
		if v := recover(); v != nil {
			h = 0
			r.node.Log().Error("the hash of a pool's Route has panicked", "pool", r.front.PID().String(), "panic", v)
		}
	}()
	return r.o.Route.hash(msg)
}

// box is the mailbox of the front. What senders push goes into the lines; only signals are for the front.
type box run

var (
	_ mailbox.Forcer = (*box)(nil)
	_ mailbox.Waiter = (*box)(nil)
)

// Push is part of mailbox.Box.
func (b *box) Push(msg any) mailbox.Result {
	if !b.ready.Load() {
		return mailbox.Closed // the front has not even its name
	}
	l := (*run)(b).choose(msg)
	return (*run)(b).came(l, l.Push(msg))
}

// PushWait is part of mailbox.Waiter.
func (b *box) PushWait(ctx context.Context, msg any) (mailbox.Result, error) {
	l := (*run)(b).choose(msg)
	res, err := l.PushWait(ctx, msg)
	return (*run)(b).came(l, res), err
}

// Blocks is part of mailbox.Waiter.
func (b *box) Blocks() bool { return b.o.Bounds.Policy == mailbox.Block }

// came follows a push into a line, and wakes a worker. The front has nothing to do with it.
func (r *run) came(l *line, res mailbox.Result) mailbox.Result {
	if res != mailbox.Queued && res != mailbox.Wake {
		if res == mailbox.Full {
			r.refused.Add(1)
		}
		return res
	}
	if l.retired.Load() {
		r.reroute(l)
	} else {
		r.wake(l)
	}
	return mailbox.Queued
}

// wake gives an idle worker of a line an order, if a message waits there.
func (r *run) wake(l *line) {
	for l.idles.Load() > 0 && l.Len() > 0 {
		pid, w := r.takeIdle(l)
		if w == nil || r.node.Inside(process.Key{}).Order(pid, w) {
			return
		}
	}
}

// takeIdle returns a worker of a line that was idle, or nil.
func (r *run) takeIdle(l *line) (node.PID, *worker) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(l.idle) == 0 {
		return node.PID{}, nil
	}
	at := len(l.idle) - 1 // if all are busy with messages of their own, which are no concern of the line
	for i, s := range slices.Backward(l.idle) {
		if p := r.front.System.Lookup(s.pid); p != nil && !p.Running.Load() {
			at = i
			break
		}
	}
	s := l.idle[at]
	l.idle = slices.Delete(l.idle, at, at+1)
	l.idles.Add(-1)
	return s.pid, s.worker
}

// reroute moves what is in a retired line to the others, past their bounds.
func (r *run) reroute(l *line) {
	for l.retired.Load() {
		msg, ok := l.take()
		if !ok {
			return
		}
		to := r.choose(msg)
		r.came(to, to.Force(msg))
	}
	r.wake(l)
}

// Force is part of mailbox.Forcer: msg is a signal.
func (b *box) Force(msg any) mailbox.Result {
	b.mu.Lock()
	defer b.mu.Unlock()
	switch {
	case b.closed.Load():
		return mailbox.Closed
	case b.armed:
		b.armed = false
		b.signals.Push(msg)
		return mailbox.Wake
	}
	b.signals.Push(msg)
	return mailbox.Queued
}

// Pop is part of mailbox.Box.
func (b *box) Pop() (any, bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.armed = b.signals.Len() == 0; b.armed {
		return nil, false
	}
	return b.signals.Shift(), true
}

// Done is part of mailbox.Box.
func (b *box) Done() {}

// Len is part of mailbox.Box.
func (b *box) Len() (n int) {
	for _, l := range *b.lines.Load() {
		n += l.Len()
	}
	return n
}

// Close is part of mailbox.Box: the front has ended.
func (b *box) Close() {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.closed.Swap(true) {
		return
	}
	close(b.ended)
	for _, l := range *b.lines.Load() {
		l.Close()
	}
}

// idle returns how many workers are idle.
func (r *run) idle() (n int) {
	for _, l := range *r.lines.Load() {
		n += int(l.idles.Load())
	}
	return n
}

// workers returns those that run.
func (r *run) workers() (all []node.PID) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, s := range r.slots {
		if !s.pid.IsZero() && r.node.IsAlive(s.pid) {
			all = append(all, s.pid)
		}
	}
	return all
}

// setLines replaces the lines of a fixed route by those of its slots. The caller holds mu, or is the only one.
func (r *run) setLines() {
	if !r.o.Route.fixed {
		return
	}
	var all []*line
	for _, s := range r.slots {
		if !s.leaves {
			all = append(all, s.line)
		}
	}
	r.lines.Store(&all)
}

// wakeLocked takes s out of the idle ones of its line, and reports whether it was one.
func (s *slot) wakeLocked() bool {
	i := slices.Index(s.line.idle, s)
	if i < 0 {
		return false
	}
	s.line.idle = slices.Delete(s.line.idle, i, i+1)
	s.line.idles.Add(-1)
	return true
}
