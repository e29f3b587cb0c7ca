package node

import (
	"context"
	"runtime"
	"sync/atomic"
	"time"

	"github.com/actornode/actornode/internal/bias"
	"github.com/actornode/actornode/internal/executor"
	"github.com/actornode/actornode/internal/fiber"
	"github.com/actornode/actornode/internal/inbox"
	"github.com/actornode/actornode/mailbox"
	"github.com/actornode/actornode/node/internal/env"
	"github.com/actornode/actornode/node/internal/trace"
	"github.com/actornode/actornode/node/observe"
)

// coroutine is the runner of a ProcessFunc that runs on a stage, like an Actor: its
// function runs on a fiber which the stage's worker lets go on when there is
// something for it and which hands the stage over when it has to wait: to the one
// whose turn is next, if that is a coroutine, too, or back to the worker. A switch
// costs half of one between goroutines, and messages on one stage need no
// atomic operation. The price: a function that blocks otherwise than in a
// Receive or a Call holds its stage up until the watcher notices.
type coroutine Process

// turns is what a coroutine has beside its Process. Owned by whoever runs the process, answered
// excepted.
type turns struct {
	run    *fiber.Fiber  // from its first turn until its function has returned
	fiber  atomic.Uint64 // the number of run, from its first turn on; for the watcher
	before uint64        // messages it had taken when its turn began

	left     int              // receives until it lets others have a turn
	sends    int              // sends until it does
	seq      uint64           // of the timeout that counts
	answered atomic.Bool      // the reply is there
	calling  bool             // waits for a reply, not for messages
	ended    bool             // the function has returned
	lost     bool             // the stage was gone when it wanted to hand it over
	expired  bool             // the timeout that counts has come
	tokens   bool             // there is a trace token
	lastTo   *executor.Entity // its turn is over for what it has sent, the last of it to this one; nil: it is not
}

// Turn is part of executor.Task. It begins with r; which one ends it is
// another question: see Process.leave.
func (r *coroutine) Turn(w *executor.Worker) executor.TurnResult {
	if !w.CanSwitch() {
		return executor.Refused
	}
	s, p := (*Process)(r), &r.own
	co, c := s.co, w.Local.(*Context)
	if co.run == nil {
		if co.ended || p.gone() {
			co.ended = true
			return executor.Idle
		}
		p.fresh = false
		co.run = p.node.fibers.Take(r)
		co.fiber.Store(co.run.ID())
		p.SetRelayable(true)
	}
	s.begin(c)
	c.home.To(co.run)
	s = c.p.process() // who has handed the stage back
	co = s.co
	switch {
	case co.ended:
		s.end()
		s.p.returned()
		s.p.node.fibers.Put(c.home, co.run)
		co.run, c.p = nil, nil
		if !w.Enter() {
			return executor.Lost
		}
		s.p.SetRelayable(false)
		return executor.Idle
	case co.lost:
		s.end()
		c.p, co.lost = nil, false
		return executor.Lost
	}
	c.p = nil
	return s.verdict()
}

// begin and end are the first and the last of a turn.
func (s *Process) begin(c *Context) {
	p, co := &s.own, s.co
	s.w, s.ctx = c.w, c
	co.left, co.sends, co.before = max(p.node.cfg.Budget, p.q.Len()/2), 0, p.handled.Load()
	co.lastTo = nil
	c.p = p
	bias.Store(&p.running, 1)
}

func (s *Process) end() {
	s.ctx.tally.Messages(s.p.handled.Load() - s.co.before)
	bias.Store(&s.own.running, 0)
}

// verdict is that of a turn. The caller holds the stage.
func (s *Process) verdict() executor.TurnResult {
	if s.due() {
		return executor.Again
	}
	return executor.Idle
}

// leave ends a turn of s, on the stage, and begins that of another coroutine if it can. Of
// the functions that it returns the one that is not nil hands the stage over, and returns, on
// the stage again, when it is s's turn or s is dead. It leaves the call to its caller, as after
// a switch the processor guesses wrong where each return goes.
func (s *Process) leave() (next func() (struct{}, bool), yield func(struct{}) bool) {
	co, c := s.co, s.ctx
	s.end()
	s.p.SetSendTarget(co.lastTo)
	to := c.home
	if t := c.w.Relay(s.verdict()); t != nil {
		s := (*Process)(t.(*coroutine))
		s.begin(c)
		to = s.co.run
	}
	return co.run.Leave(to)
}

// depart is leave for callers that do not hold the stage, before or after. They call
// arrive afterwards.
func (s *Process) depart() (next func() (struct{}, bool), yield func(struct{}) bool) {
	if s.w.Enter() {
		return s.leave()
	}
	s.co.lost = true
	return s.co.run.Leave(s.ctx.home)
}

// arrive is the end of what depart begins. False: s is dead.
func (s *Process) arrive() bool {
	s.w.Leave()
	return !s.p.gone()
}

// Notice is part of executor.Task.
func (r *coroutine) CollectInbox(*executor.Stage) bool {
	p := &r.own
	p.in.TakeArmed(&p.q)
	if p.Queued() { // perhaps running, without this stage
		return true
	}
	return p.boxed || (*Process)(r).due()
}

// Back is part of executor.Task.
func (r *coroutine) FinishDetached(*executor.Stage) bool {
	r.own.SetRelayable(r.co.run != nil) // it may have ended on the way
	return (*Process)(r).due()
}

// Fiber is part of executor.FiberTask.
func (r *coroutine) Fiber() uint64 { return r.co.fiber.Load() }

// Claim is part of executor.Task.
func (r *coroutine) Claim() bool { return r.actor().Claim() }

// Name is part of executor.Task.
func (r *coroutine) Name() string { return r.own.Name() }

// actor returns r as what it has in common with an Actor: where it runs.
func (r *coroutine) actor() *actor { return (*actor)(&r.own) }

// wake is part of runner.
func (r *coroutine) wake(a *acting) { r.actor().wake(a) }

// prod is part of runner.
func (r *coroutine) prod(a *acting) { r.actor().prod(a) }

// start is part of runner.
func (r *coroutine) start(a *acting, inline *executor.InlineWorker, fresh bool) {
	r.actor().start(a, inline, fresh)
}

// owning is part of runner.
func (r *coroutine) owning(a *acting, f func()) { r.actor().owning(a, f) }

// inspect is part of runner.
func (r *coroutine) inspect(f func()) { r.actor().inspect(f) }

// doing is part of runner.
func (r *coroutine) doing() (observe.State, int) { return r.own.doing(observe.Waiting) }

// exited is part of runner.
func (r *coroutine) exited(_ *acting, armed, own bool) {
	if armed && !own {
		r.node.pool.Inject(&r.own.Entity, nil) // to be unwound
	}
}

// busy is part of runner. The function has begun if its fiber has a number: Run looks at
// status after that is stored, and here it is the other way round. Even one that waits has not
// returned: it is unwound, and its deferred calls may take long.
func (r *coroutine) busy(*acting) bool { return r.co.fiber.Load() != 0 }

// here is part of runner.
func (r *coroutine) here() bool { return fiber.Runs(r.co.fiber.Load()) }

// coSends is how many sends a coroutine may do before others have a turn: fewer than a
// handler, which it costs a change of workers to give way, may do before it does.
const coSends = 512

// What stands in the mailbox of a coroutine without being a message; see also trace.Carried. Each
// ends a wait.
type (
	timedOut struct{ seq uint64 } // the timeout of a receive has come: turns.seq says of which
	replied  struct{}             // the call that the coroutine waits for has been answered
)

// ordinary reports whether msg, from the mailbox of a coroutine, is a message as it was sent.
func ordinary(msg any) bool {
	switch msg.(type) {
	case timedOut, replied, *trace.Carried:
		return false
	}
	return true
}

// nudge gives the coroutine of p a timedOut or a replied, past whatever bounds its mailbox.
func (p *proc) nudge(a *acting, why any) {
	if p.in.Push(&inbox.Node{Msg: why}) == mailbox.Wake {
		a.inject(&p.Entity, nil)
	}
}

// Run is part of fiber.Job: the function of the process.
func (r *coroutine) Run() {
	s := (*Process)(r)
	defer s.co.run.Unlock()
	s.w.Leave()
	ended := false
	defer func() {
		s.co.ended = true
		cause := recover() // nil: the function has returned, or runtime.Goexit
		if ended || cause == nil && s.p.gone() {
			return
		}
		s.p.exit(&s.acting, panicked(cause))
	}()
	if !s.p.gone() {
		err := s.fn(s)
		ended = true
		s.p.exit(&s.acting, reasonOf(err))
	}
	ended = true
}

// Next is part of fiber.Job.
func (r *coroutine) Next() *fiber.Fiber { return r.ctx.home }

// due reports whether there is a reason for another turn. The caller holds the stage.
func (s *Process) due() bool {
	p, co := &s.own, s.co
	if co.ended {
		return false
	}
	switch {
	case p.fresh || p.gone() || co.left <= 0:
		return true
	case co.calling:
		return co.answered.Load()
	}
	return p.q.More() || p.boxed && p.cold.box.Len() > p.q.Len() || p.in.Pending()
}

// pause lets others have the stage until there is something to look at.
func (s *Process) pause() {
	if s.co.run.Locked() {
		s.refuse()
	}
	if next, yield := s.depart(); next != nil {
		next()
	} else {
		yield(struct{}{})
	}
	if !s.arrive() {
		runtime.Goexit()
	}
}

// yield is pause for a coroutine that need not wait: one that is locked to its thread goes on.
func (s *Process) yield() {
	if !s.co.run.Locked() {
		s.pause()
	}
}

// refuse ends, by a panic, the attempt of a coroutine to wait while it is locked to its thread.
func (s *Process) refuse() {
	if s.p.gone() {
		runtime.Goexit()
	}
	panic(ErrThreadLocked)
}

// drop removes the message of s, a coroutine, that is next.
func (s *Process) drop() {
	if n := s.own.q.Drop(); n != nil {
		s.w.Stage().Recycle(n)
	}
}

// receive is Process.receive.
func (r *coroutine) receive(match func(any) bool, d time.Duration) (any, error) {
	if d < 0 {
		return nil, ErrBadTimeout
	}
	s, p, co := (*Process)(r), &r.own, r.co
	if co.left--; co.left <= 0 {
		s.yield()
	}
	var timer env.Timer
	waits := false
	s.enter()
	p.q.Rewind()
	for {
		for msg, ok := p.q.Next(); ok; msg, ok = p.q.Next() {
			var with *trace.Carried
			switch m := msg.(type) {
			case timedOut:
				co.expired = co.expired || m.seq == co.seq
				s.drop()
				continue
			case replied:
				s.drop()
				continue
			case *trace.Carried:
				with, msg = m, m.Msg
			}
			if match != nil {
				s.w.Leave()
				ok := match(msg)
				s.enter()
				if !ok {
					p.q.Skip()
					continue
				}
			}
			p.settle(s.w.Stage(), nil)
			if co.tokens || with != nil {
				co.tokens = p.cold.token.Take(with)
				co.left = 1 // so that the next message is looked at here, too
			}
			s.w.Leave()
			if timer != nil {
				timer.Stop()
			}
			return msg, nil
		}
		if p.refill() {
			continue
		}
		s.w.Leave()
		switch {
		case p.gone():
			runtime.Goexit()
		case d == 0 || timer != nil && co.expired:
			return nil, ErrTimeout
		case timer == nil && d != Infinity:
			co.seq++
			co.expired = false
			over := timedOut{co.seq}
			timer = p.node.env.AfterFunc(d, func() { p.nudge(&p.node.acting, over) })
		}
		if !waits {
			waits = true
			s.waitsSince()
		}
		s.pause()
		s.enter()
	}
}

// enter takes the stage, waiting for it if it was lost.
func (s *Process) enter() {
	for !s.w.Enter() {
		s.co.left = 0 // there is a reason to resume
		s.pause()
	}
}

// deliver is the end of a send of r.
func (r *coroutine) deliver(to *proc, msg any) error {
	co := r.co
	if co.sends++; co.sends >= coSends {
		co.left, co.lastTo, co.sends = 0, &to.Entity, 0
		(*Process)(r).yield()
	}
	return to.deliver(&r.acting, msg)
}

// await is part of waiter.
func (r *coroutine) await(ctx context.Context, t ticket) (any, error) {
	return t.parkCo(ctx, (*Process)(r))
}

// answered is part of waiter.
func (r *coroutine) answered(a *acting) {
	r.co.answered.Store(true)
	if a.w != nil && a.w.Enter() {
		near := r.own.Stage() == a.w.Stage()
		if near {
			a.w.Stage().Wake(&r.own.Entity)
		}
		if a.w.Leave(); near {
			return
		}
	}
	r.own.nudge(a, replied{})
}
