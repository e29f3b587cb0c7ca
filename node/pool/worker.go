package pool

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync/atomic"
	"time"

	"github.com/actornode/actornode/internal/cause"
	"github.com/actornode/actornode/internal/kernel/calls"
	"github.com/actornode/actornode/internal/kernel/process"
	"github.com/actornode/actornode/mailbox"
	"github.com/actornode/actornode/node"
	"github.com/actornode/actornode/supervisor"
)

// slot is the place of a worker, and of those that follow it when it is restarted.
type slot struct {
	run  *run
	id   int // of the supervisor's child
	line *line

	// Guarded by run.mu.
	worker  *worker  // the newest; others are dead, though their handlers may still run
	pid     node.PID // of worker; zero: it has not started, or has ended
	leaves  bool     // takes no further message
	hasLeft bool     // left is closed

	left chan struct{} // closed when the worker takes none any more
}

// worker is what the process of a worker does for the pool: it receives the orders, each of which takes a message from the line.
type worker struct {
	*slot
	since atomic.Int64 // with a Deadline: when it took the message that it handles, see run.now; 0: it handles none
}

// next returns the successor of the worker of s, which is dead, or its first.
func (s *slot) next() *worker {
	w := &worker{slot: s}
	s.run.mu.Lock()
	defer s.run.mu.Unlock()
	s.wakeLocked() // the front may not know yet that the last one has ended
	s.leaveLocked()
	if s.worker != nil {
		s.run.replaced.Add(1)
	}
	s.worker, s.pid = w, node.PID{}
	return w
}

// addSlot adds a worker's place. The caller holds mu, or is the only one.
func (r *run) addSlot() *slot {
	r.last++
	s := &slot{run: r, id: r.last, left: make(chan struct{})}
	if r.o.Route.fixed {
		s.line = r.newLine()
		if r.closed.Load() {
			s.line.Close()
		}
	} else {
		s.line = (*r.lines.Load())[0]
	}
	r.slots = append(r.slots, s)
	r.setLines()
	return s
}

// spec describes the supervisor of a pool, which runs when the first child starts.
func (p *Pool) spec() supervisor.Spec {
	r := newRun(p.o)
	children := []supervisor.Child{{
		ID: "front", Restart: supervisor.Temporary, Significant: true,
		Options: node.Options{Label: "front of " + p.label(), Mailbox: (*box)(r), CopyMessages: p.o.Worker.CopyMessages},
		Start:   func(...any) (node.Actor, error) { return &front{p, r}, nil },
	}}
	for _, s := range r.slots {
		children = append(children, s.child())
	}
	if p.o.Deadline > 0 {
		children = append(children, supervisor.Child{ID: "deadline", Options: node.Options{Label: "deadline of " + p.label()},
			Start: func(...any) (node.Actor, error) { return &watch{r}, nil }})
	}
	return supervisor.Spec{Intensity: p.o.Intensity, Period: p.o.Period, AutoShutdown: supervisor.AnySignificant, Children: children}
}

// child describes the worker of s.
func (s *slot) child() supervisor.Child {
	o := &s.run.o
	return supervisor.Child{ID: s.id, Shutdown: o.Stop, Backoff: o.Backoff, Options: o.Worker,
		Start: func(...any) (node.Actor, error) {
			b := o.New()
			if _, blocks := b.(node.ProcessFunc); blocks || b == nil {
				return nil, fmt.Errorf("%w: pool: Options.New has returned %T: want an Actor (which may be Detached)", node.ErrArgument, b)
			}
			return &beginner{b, s.next()}, nil
		}}
}

// front is the process that others send to. Its mailbox is the lines, so that it handles signals only: the ends of workers.
type front struct {
	pool *Pool
	run  *run
}

// Init is part of node.Initializer.
func (f *front) Init(c *node.Context) error {
	f.run.node, f.run.front = c.Node(), c.Inside(process.Key{}).Acting().Own()
	f.run.export()
	f.run.ready.Store(true)
	f.pool.run.Store(f.run)
	if f.pool.o.Name == "" {
		return nil
	}
	return c.Node().Register(f.pool.o.Name, c.Self())
}

// joined tells the front that a worker runs.
type joined struct{ pid node.PID }

// Receive is part of node.Actor.
func (f *front) Receive(c *node.Context, msg any) error {
	switch m := msg.(type) {
	case joined:
		c.Monitor(m.pid)
	case node.Down:
		f.run.gone(m.PID)
	default:
		c.Unknown(msg)
	}
	return nil
}

// gone records the end of a worker. What it should have taken is for another.
func (r *run) gone(pid node.PID) {
	r.mu.Lock()
	var of *line
	for _, s := range r.slots {
		if s.pid == pid {
			s.pid, of = node.PID{}, s.line
			s.wakeLocked()
			s.leaveLocked()
		}
	}
	r.mu.Unlock()
	if of == nil { // another worker has the place, and has begun with its line
		of = (*r.lines.Load())[0]
	}
	r.wake(of)
}

// beginner is the behaviour of a worker until its Init.
type beginner struct {
	node.Actor
	worker *worker
}

// BehaviourName is part of node.BehaviourNamer.
func (b *beginner) BehaviourName() string {
	if n, ok := b.Actor.(node.BehaviourNamer); ok {
		return n.BehaviourName()
	}
	return fmt.Sprintf("%T", b.Actor)
}

// Init is part of node.Initializer.
func (b *beginner) Init(c *node.Context) error {
	c.Become(b.Actor)
	if i, ok := b.Actor.(node.Initializer); ok {
		switch err := i.Init(c); {
		case errors.Is(err, node.ErrIgnore):
			return errIgnores
		case err != nil:
			return err
		}
	}
	if w := b.worker; w.begin(c.Self()) {
		c.Inside(process.Key{}).Signal(w.run.front.PID(), joined{c.Self()})
		c.Inside(process.Key{}).Order(c.Self(), w)
	}
	return nil
}

// errIgnores is the reason of a worker that does not start: messages would wait for it for ever.
var errIgnores = errors.New("pool: the Init of a worker has returned node.ErrIgnore: a worker must run")

// Receive is part of node.Actor: it runs in the process of the worker.
func (w *worker) Receive(c *node.Context, _ any) error {
	w.since.Store(0)
	p, _ := c.Inside(process.Key{}).Process()
	for range atATime {
		if p.Gone() {
			return nil
		}
		if !w.goesOn() {
			w.run.wake(w.line) // what the order was for
			return nil
		}
		if p.Rewind {
			break // what it has left as unhandled comes first
		}
		msg, ok := w.line.take()
		if !ok && w.rest() {
			return nil
		}
		if ok {
			if later, err := w.handle(c, msg); err != nil || later {
				return err
			}
		}
	}
	c.Inside(process.Key{}).Order(c.Self(), w)
	return process.ErrGivesWay
}

// atATime is how many messages of a line a worker handles before others have a turn, its own messages included.
const atATime = 16

// handle lets the worker handle a message. later says that the message is in the mailbox of the worker, and after it the next
// order: a request, which must be forwarded, and what the worker has left as unhandled.
func (w *worker) handle(c *node.Context, msg any) (later bool, err error) {
	in := c.Inside(process.Key{})
	if w.run.o.Deadline > 0 {
		w.since.Store(w.run.now())
	}
	if request, err := in.Forward(msg, c.Self()); err != nil {
		w.since.Store(0)
		if errors.Is(err, node.ErrExited) {
			w.line.Return(msg)
			w.run.came(w.line, mailbox.Queued)
		} else if r, _ := c.Node().AsRequest(msg); !errors.Is(err, node.ErrReplied) { // its caller has not given up
			_ = r.Fail(err)
		}
		return false, nil
	} else if !request {
		if err = c.InsideTurn(process.Key{}).Receive(msg); !isUnhandled(err) {
			w.since.Store(0)
			return false, err
		}
		_ = c.Send(c.Self(), msg) // to itself there is no error
	}
	in.Order(c.Self(), w)
	return true, nil
}

// isUnhandled reports whether a handler has left its message: it has returned ErrUnhandled, or an error that wraps it, and has
// not chosen to exit.
func isUnhandled(err error) bool {
	_, exits := err.(*calls.Exit) // as the runner has it
	return !exits && errors.Is(err, node.ErrUnhandled)
}

// begin records the process of w, which has started, unless it is dead and has a successor.
func (w *worker) begin(pid node.PID) bool {
	w.run.mu.Lock()
	defer w.run.mu.Unlock()
	if w.worker != w {
		return false
	}
	w.pid = pid
	return true
}

// goesOn reports whether w may take a message.
func (w *worker) goesOn() bool {
	w.run.mu.Lock()
	defer w.run.mu.Unlock()
	if w.worker != w {
		return false
	}
	w.leaveLocked()
	return !w.leaves
}

// leaveLocked says that the worker takes no message any more, if it is to leave.
func (s *slot) leaveLocked() {
	if s.leaves && !s.hasLeft {
		s.hasLeft = true
		close(s.left)
	}
}

// rest makes w idle, unless a message has come.
func (w *worker) rest() bool {
	r := w.run
	r.mu.Lock()
	defer r.mu.Unlock()
	if w.worker != w || w.pid.IsZero() {
		return true // it is dead
	}
	w.line.idle = append(w.line.idle, w.slot)
	w.line.idles.Add(1)
	if w.line.Len() == 0 && !w.leaves {
		return true
	}
	w.wakeLocked()
	return false
}

// resize changes the number of workers. One at a time calls it.
func (r *run) resize(ctx context.Context, from node.Caller, workers int) error {
	sup := r.supervisor()
	for {
		r.mu.Lock()
		n := len(r.slots)
		var s *slot
		if n < workers {
			s = r.addSlot()
		} else if n > workers {
			s = r.slots[n-1]
		}
		r.mu.Unlock()
		var err error
		switch {
		case n == workers:
			return nil
		case n < workers:
			if _, err = supervisor.StartChild(ctx, from, sup, s.child()); err != nil {
				r.leave(s)
				_ = r.remove(ctx, from, sup, s) // a start that has failed has left no child; one that goes on has
			}
		default:
			err = r.end(ctx, from, sup, s)
		}
		if err != nil {
			return err
		}
	}
}

// supervisor returns the process that has spawned the front.
func (r *run) supervisor() node.PID {
	p := r.front
	return p.System.Origin.PID(p.Parent - 1)
}

// end ends the worker of s, when it has handled what it has taken, and its place.
func (r *run) end(ctx context.Context, from node.Caller, sup node.PID, s *slot) error {
	r.leave(s)
	select {
	case <-s.left:
	case <-r.ended:
		return ErrNoWorkers
	case <-ctx.Done():
		if r.stay(s) {
			return cause.Of(ctx)
		}
	}
	return r.remove(ctx, from, sup, s)
}

// leave tells the worker of s to leave. What waits in a line of its own goes to the others.
func (r *run) leave(s *slot) {
	r.mu.Lock()
	s.leaves = true
	if s.wakeLocked() || s.pid.IsZero() { // it has taken nothing
		s.leaveLocked()
	}
	r.setLines()
	r.mu.Unlock()
	if r.o.Route.fixed {
		s.line.retired.Store(true)
		r.reroute(s.line)
	}
	r.wake(s.line)
}

// stay takes leave back. False: the worker has left already.
func (r *run) stay(s *slot) bool {
	r.mu.Lock()
	stays := !s.hasLeft
	if stays {
		s.leaves = false
		s.line.retired.Store(false)
		r.setLines()
	}
	r.mu.Unlock()
	r.wake(s.line)
	return stays
}

// remove removes a place whose worker has left, or could not be started, even if ctx has ended.
func (r *run) remove(ctx context.Context, from node.Caller, sup node.PID, s *slot) error {
	r.mu.Lock()
	r.slots = slices.DeleteFunc(r.slots, func(o *slot) bool { return o == s })
	r.setLines()
	r.mu.Unlock()
	ctx = context.WithoutCancel(ctx)
	if err := supervisor.TerminateChild(ctx, from, sup, s.id); err != nil {
		return err
	}
	return supervisor.DeleteChild(ctx, from, sup, s.id)
}

// now is the time since the start of the pool in nanoseconds, and never 0.
func (r *run) now() int64 { return int64(time.Since(r.begun)) | 1 }

// watch kills workers at the Deadline.
type watch struct{ *run }

// Init is part of node.Initializer.
func (w *watch) Init(c *node.Context) error {
	_, err := c.SendInterval(max(w.o.Deadline/8, time.Millisecond), c.Self(), w)
	return err
}

// Receive is part of node.Actor.
//
//actornode:blocks the lock is held for a moment
func (w *watch) Receive(c *node.Context, _ any) error {
	w.mu.Lock()
	var late []node.PID
	for _, s := range w.slots {
		if s.pid.IsZero() {
			continue
		}
		if since := s.worker.since.Load(); since != 0 && w.now()-since > int64(w.o.Deadline) {
			late = append(late, s.pid)
		}
	}
	w.mu.Unlock()
	for _, pid := range late {
		c.Log().Error("a worker of a pool is killed: it has handled one message for longer than Deadline",
			"worker", pid.String(), "deadline", w.o.Deadline)
		c.Exit(pid, node.Kill)
	}
	return nil
}
