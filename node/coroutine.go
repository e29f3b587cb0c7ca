package node

import (
	"iter"
	"sync"
	"sync/atomic"
	"time"

	"github.com/actornode/actornode/mailbox"
	"github.com/actornode/actornode/sched"
	"github.com/actornode/actornode/sched/bias"
)

// coroutine is what a Process has that runs on stages, like an Actor: its
// function is a coroutine which the stage's worker resumes when there is
// something for it and which gives the stage back when it has to wait. A switch
// costs half of one between goroutines, and messages on one stage need no
// atomic operation. The price: a function that blocks otherwise than in a
// Receive or a Call holds its stage up until the watcher notices.
//
// Owned by whoever runs the process, answered excepted.
type coroutine struct {
	run  *runner       // from its first turn until its function has returned
	c    *Context      // of the worker that resumed it; changes with every pause
	goid atomic.Uint64 // of the goroutine that the function runs on; for the watcher

	left     int         // receives until it lets others have a turn
	sends    int         // sends until it does
	seq      uint64      // of the timeout that counts
	answered atomic.Bool // the reply is there
	calling  bool        // waits for a reply, not for messages
	ended    bool        // the function has returned
	expired  bool        // the timeout that counts has come
	traces   bool        // there is a trace token
}

// runner is a coroutine of the Go runtime, which runs the functions of one
// process after the other.
type runner struct {
	resume func() (struct{}, bool)
	stop   func()
	yield  func(struct{}) bool
	s      *Self // whose function it runs
}

func newRunner() *runner {
	r := &runner{}
	r.resume, r.stop = iter.Pull(func(yield func(struct{}) bool) {
		r.yield = yield
		goid := sched.GoroutineID()
		for {
			r.s.co.goid.Store(goid)
			r.s.runCoroutine()
			if r.s = nil; !yield(struct{}{}) {
				return
			}
		}
	})
	return r
}

// maxRunners is how many runners a node keeps for processes to come.
const maxRunners = 1024

// runners are those that have nothing to run, and how many have.
type runners struct {
	mu      sync.Mutex
	idle    []*runner
	out     int64 // have a function that has not returned
	stopped bool
}

func (rs *runners) take(s *Self) *runner {
	rs.mu.Lock()
	rs.out++
	var r *runner
	if last := len(rs.idle) - 1; last >= 0 {
		r, rs.idle = rs.idle[last], rs.idle[:last]
	}
	rs.mu.Unlock()
	if r == nil {
		r = newRunner()
	}
	r.s = s
	return r
}

func (rs *runners) put(r *runner) {
	rs.mu.Lock()
	rs.out--
	keep := len(rs.idle) < maxRunners && !rs.stopped
	if keep {
		rs.idle = append(rs.idle, r)
	}
	rs.mu.Unlock()
	if !keep {
		r.stop()
	}
}

// lost says that a runner that was taken is no more.
func (rs *runners) lost() {
	rs.mu.Lock()
	rs.out--
	rs.mu.Unlock()
}

// busy returns how many functions have not returned.
func (rs *runners) busy() int64 {
	rs.mu.Lock()
	defer rs.mu.Unlock()
	return rs.out
}

// stop ends the runners that have nothing to run, and the others as soon as
// they have not.
func (rs *runners) stop() {
	rs.mu.Lock()
	idle := rs.idle
	rs.idle, rs.stopped = nil, true
	rs.mu.Unlock()
	for _, r := range idle {
		r.stop()
	}
}

// coproc is a proc whose turns resume a coroutine.
type coproc proc

// Turn is part of sched.Task.
func (cp *coproc) Turn(w *sched.Worker) sched.Verdict {
	p := (*proc)(cp)
	s := p.behaviour.(self).Self
	co := s.co
	if co.run == nil {
		if co.ended || p.gone() {
			co.ended = true
			return sched.Idle
		}
		p.fresh = false
		co.run = p.node.runners.take(s)
	}
	co.c, co.left, co.sends = w.Local.(*Context), max(p.node.cfg.Budget, p.q.Len()/2), 0
	c, before := co.c, p.handled
	c.p = p
	bias.Store(&p.running, 1)
	w.Leave()
	co.run.resume()
	c.handled(p.handled - before)
	if bias.Store(&p.running, 0); p.gone() {
		if co.ended {
			p.returned()
			p.node.runners.put(co.run)
			co.run = nil
		}
	}
	co.c.p = nil
	switch {
	case !w.Enter():
		return sched.Lost
	case s.due():
		return sched.Again
	}
	return sched.Idle
}

// Notice is part of sched.Task.
func (cp *coproc) Notice(*sched.Stage) bool {
	p := (*proc)(cp)
	p.in.TakeArmed(&p.q)
	if p.Queued() { // perhaps running, without this stage
		return true
	}
	return p.boxed || p.behaviour.(self).due()
}

// Back is part of sched.Task.
func (cp *coproc) Back(*sched.Stage) bool { return cp.behaviour.(self).due() }

// Goroutine is part of sched.Elsewhere.
func (cp *coproc) Goroutine() uint64 {
	return cp.behaviour.(self).co.goid.Load()
}

// Claim is part of sched.Task.
func (cp *coproc) Claim() bool { return (*proc)(cp).Claim() }

// Name is part of sched.Task.
func (cp *coproc) Name() string { return (*proc)(cp).Name() }

// coSends is how many sends a coroutine may do before others have a turn: fewer than a
// handler, which it costs a change of workers to give way, may do before it yields.
const coSends = 512

// tick is in a mailbox without being a message: it wakes a coroutine, for a timeout
// has come (seq) or a reply (0), or holds a message that came with a trace token.
type tick struct {
	seq  uint64
	with *carried
}

// nudge gives the coroutine of p a tick, past whatever bounds its mailbox.
func (p *proc) nudge(t tick) {
	if p.in.Push(&mailbox.Node{Msg: t}) == mailbox.Wake {
		p.node.pool.Inject(&p.Entity, nil)
	}
}

// unwinding is the panic that ends the function of a coroutine that is dead.
type unwinding struct{}

func (s *Self) runCoroutine() {
	ended := false
	defer func() {
		s.co.ended = true
		cause := recover()
		if _, dead := cause.(unwinding); ended || dead {
			return
		}
		s.p.exit(s.co.c, Panicked(cause))
		if cause == nil { // runtime.Goexit: it ends the runner, and the worker's turn with it
			s.p.returned()
			s.p.node.runners.lost()
		}
	}()
	if !s.p.gone() {
		err := s.fn(s)
		ended = true
		s.p.exit(s.co.c, reasonOf(err))
	}
	ended = true
}

// due reports whether there is a reason to resume the coroutine. The caller
// holds the stage.
func (s *Self) due() bool {
	p, co := s.p, s.co
	if co.ended {
		return false
	}
	if p.fresh || p.gone() || co.left <= 0 || co.answered.Load() {
		return true
	}
	return !co.calling && (p.q.More() || p.boxed && p.cold.box.Len() > p.q.Len() || p.in.Pending())
}

// pause gives the stage back until there is something to look at.
func (s *Self) pause() {
	s.co.run.yield(struct{}{})
	if s.p.gone() {
		panic(unwinding{})
	}
}

// drop removes the message of p that is next.
func (co *coroutine) drop(p *proc) {
	if n := p.q.Drop(); n != nil {
		co.c.w.Stage().Recycle(n)
	}
}

// receiveCo is receive for a coroutine.
func (s *Self) receiveCo(match func(any) bool, d time.Duration) (any, error) {
	if d < 0 {
		return nil, ErrBadTimeout
	}
	p, co := s.p, s.co
	if co.left--; co.left <= 0 {
		s.pause()
	}
	var timer *time.Timer
	s.enter()
	p.q.Rewind()
	for {
		for msg, ok := p.q.Next(); ok; msg, ok = p.q.Next() {
			var with *carried
			if t, ok := msg.(tick); ok && t.with != nil {
				with, msg = t.with, t.with.msg
			} else if ok {
				co.expired = co.expired || t.seq == co.seq
				co.drop(p)
				continue
			}
			if match != nil {
				co.c.w.Leave()
				ok := match(msg)
				s.enter()
				if !ok {
					p.q.Skip()
					continue
				}
			}
			p.settle(co.c.w.Stage(), nil)
			if co.traces || with != nil {
				co.traces = p.received(with)
				co.left = 1 // so that the next message is looked at here, too
			}
			co.c.w.Leave()
			if timer != nil {
				timer.Stop()
			}
			return msg, nil
		}
		if p.refill() {
			continue
		}
		co.c.w.Leave()
		switch {
		case p.gone():
			panic(unwinding{})
		case d == 0 || timer != nil && co.expired:
			return nil, ErrTimeout
		case timer == nil && d != Infinity:
			co.seq++
			co.expired = false
			t := tick{seq: co.seq}
			timer = time.AfterFunc(d, func() { p.nudge(t) })
		}
		s.pause()
		s.enter()
	}
}

// enter takes the stage, waiting for it if it was lost.
func (s *Self) enter() {
	for !s.co.c.w.Enter() {
		s.co.left = 0 // there is a reason to resume
		s.pause()
	}
}
