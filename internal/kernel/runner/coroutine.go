package runner

import (
	"context"
	"runtime"
	"sync/atomic"
	"time"

	"github.com/actornode/actornode/internal/cause"
	"github.com/actornode/actornode/internal/kernel/calls"
	"github.com/actornode/actornode/internal/kernel/env"
	"github.com/actornode/actornode/internal/kernel/process"
	"github.com/actornode/actornode/internal/kernel/watch"
	"github.com/actornode/actornode/internal/mailbox/inbox"
	"github.com/actornode/actornode/internal/sched/executor"
	"github.com/actornode/actornode/internal/sched/fiber"
	"github.com/actornode/actornode/mailbox"
	"github.com/actornode/actornode/node/observe"
	"github.com/actornode/actornode/wire"
)

// Coroutine is the runner of a ProcessFunc that runs on a stage, like an Actor: its function runs on a fiber that the stage's
// worker resumes when there is work for it. When the function has to wait, it hands the stage over: to the next process, if
// that is a coroutine, too, or back to the worker. A switch costs half as much as one between goroutines, and messages on one
// stage need no atomic operation. The price: a function that blocks in anything but a Receive or a Call holds up its stage
// until the watcher notices.
type Coroutine Blocking

// Turns is the state of a coroutine in addition to its Blocking. Owned by whatever runs the process, except Answered.
type Turns struct {
	run    *fiber.Fiber  // from its first turn until its function has returned
	fiber  atomic.Uint64 // the ID of run, from its first turn on; for the watcher
	before uint64        // messages it had taken when its turn began

	left     int              // receives until it yields
	sends    int              // sends since it last yielded
	seq      uint64           // of the current timeout
	Answered atomic.Bool      // the reply has arrived
	calling  bool             // waits for a reply, not for messages
	ended    bool             // the function has returned
	lost     bool             // the stage was lost when it tried to hand it over
	expired  bool             // the current timeout has expired
	tokens   bool             // there is a trace token; left is then at most 1, which keeps Receive from its short path
	blocking bool             // in Blocking
	lastTo   *executor.Entity // the last receiver, if its turn has ended because of its sends, or nil
}

// Turn implements executor.Task. It begins with r, but another coroutine may end it: see Blocking.leave.
func (r *Coroutine) Turn(w *executor.Worker) executor.TurnResult {
	if !w.CanSwitch() {
		return executor.Refused
	}
	s, p := (*Blocking)(r), &r.Own
	co, l := s.Coroutine, process.LocalOf(w)
	if co.run == nil {
		if co.ended || p.Gone() {
			co.ended = true
			return executor.Idle
		}
		p.Fresh = false
		co.run = p.System.Fibers.Take(r)
		co.fiber.Store(co.run.ID())
		p.SetRelayable(true)
	}
	s.begin(w, l)
	l.Fiber.To(co.run)
	s = (*Blocking)(l.Current.Task().(*Coroutine)) // the coroutine that has handed the stage back
	l.Current = nil
	co = s.Coroutine
	switch {
	case co.ended:
		s.end()
		s.Process.Returned()
		s.System.Fibers.Put(l.Fiber, co.run)
		co.run = nil
		if !w.Enter() {
			return executor.Lost
		}
		s.Process.SetRelayable(false)
		return executor.Idle
	case co.lost:
		s.end()
		co.lost = false
		return executor.Lost
	}
	return s.verdict()
}

// begin and end begin and end a turn.
func (s *Blocking) begin(w *executor.Worker, l *process.Local) {
	p, co := &s.Own, s.Coroutine
	s.Worker, s.Local = w, l
	co.left, co.sends, co.before = max(p.System.Budget, p.Queue.Len()>>(p.System.Halved&63)), 0, p.Handled.Load()
	if co.tokens {
		co.left = 1
	}
	co.lastTo = nil
	l.Current = p
	p.Running.Store(true)
}

func (s *Blocking) end() {
	s.Local.Took(s.Process.Handled.Load() - s.Coroutine.before)
	s.Own.Running.Store(false)
}

// verdict returns the result of a turn. The caller holds the stage.
func (s *Blocking) verdict() executor.TurnResult {
	if s.Due() {
		return executor.Again
	}
	return executor.Idle
}

// leave ends a turn of s, on the stage, and begins that of another coroutine if possible. The one of the returned functions
// that is not nil hands the stage over, and returns, on the stage again, when it is s's turn or s is dead. The caller must
// call it: after a switch the processor mispredicts every return.
func (s *Blocking) leave() (next func() (struct{}, bool), yield func(struct{}) bool) {
	co, l := s.Coroutine, s.Local
	s.end()
	s.Process.SetSendTarget(co.lastTo)
	to, w := l.Fiber, s.Worker
	if t := w.Relay(s.verdict()); t != nil {
		s := (*Blocking)(t.(*Coroutine))
		s.begin(w, l)
		to = s.Coroutine.run
	}
	return co.run.Leave(to)
}

// depart is leave for callers that do not hold the stage, neither before nor after. They must call arrive afterwards.
func (s *Blocking) depart() (next func() (struct{}, bool), yield func(struct{}) bool) {
	if s.Worker.Enter() {
		return s.leave()
	}
	s.Coroutine.lost = true
	return s.Coroutine.run.Leave(s.Local.Fiber)
}

// arrive ends what depart has begun. It returns false if s is dead.
func (s *Blocking) arrive() bool {
	s.Worker.Leave()
	return !s.Process.Gone()
}

// CollectInbox implements executor.Task.
func (r *Coroutine) CollectInbox(*executor.Stage) bool {
	p := &r.Own
	p.Inbox.TakeArmed(&p.Queue)
	if p.Queued() { // possibly running, without this stage
		return true
	}
	return p.Boxed || (*Blocking)(r).Due()
}

// FinishDetached implements executor.Task.
func (r *Coroutine) FinishDetached(*executor.Stage) bool {
	r.Own.SetRelayable(r.Coroutine.run != nil) // it may have ended meanwhile
	return (*Blocking)(r).Due()
}

// Fiber implements executor.FiberTask.
func (r *Coroutine) Fiber() uint64 { return r.Coroutine.fiber.Load() }

// Claim implements executor.Task.
func (r *Coroutine) Claim() bool { return (*staged)(&r.Own).claim() }

// Name implements executor.Task.
func (r *Coroutine) Name() string { return r.Own.Name() }

// Wake implements process.Runner.
func (r *Coroutine) Wake(a *process.Acting) { (*staged)(&r.Own).wake(a) }

// Prod implements process.Runner.
func (r *Coroutine) Prod(a *process.Acting) { (*staged)(&r.Own).prod(a) }

// Start implements process.Runner.
func (r *Coroutine) Start(a *process.Acting, inline *executor.InlineWorker, fresh bool) {
	(*staged)(&r.Own).start(a, inline, fresh)
}

// Owning implements process.Runner.
func (r *Coroutine) Owning(a *process.Acting, f func()) { (*staged)(&r.Own).owning(a, f) }

// Inspect implements process.Runner.
func (r *Coroutine) Inspect(f func()) { (*staged)(&r.Own).inspect(f) }

// Doing implements process.Runner.
func (r *Coroutine) Doing() (observe.State, int) { return (*staged)(&r.Own).state(observe.Waiting) }

// Exited implements process.Runner.
func (r *Coroutine) Exited(_ *process.Acting, armed, own bool) {
	if armed && !own {
		r.System.Pool.Inject(&r.Own.Entity, nil) // to be unwound
	}
}

// Busy implements process.Runner. The function has begun if its fiber has an ID: Run checks the status after storing that,
// and here it is the other way round. Even a waiting function has not returned: it is unwound, and its deferred calls may
// take long.
func (r *Coroutine) Busy(*process.Acting) bool { return r.Coroutine.fiber.Load() != 0 }

// coSends is the number of sends that a coroutine may do before it yields: fewer than a handler, for which yielding costs a
// change of workers.
const coSends = 512

// Entries in the mailbox of a coroutine that are not messages; see also watch.Carried. Each ends a wait.
type (
	timedOut struct{ seq uint64 } // the timeout of a receive has expired, if seq is Turns.seq
	replied  struct{}             // the call that the coroutine waits for has been answered
)

// Ordinary reports whether msg, from the mailbox of a coroutine, is a message as it was sent.
func Ordinary(msg any) bool {
	switch msg.(type) {
	case timedOut, replied, *watch.Carried:
		return false
	}
	return true
}

// nudge puts why, a timedOut or a replied, into the mailbox of the coroutine p, past any bound.
func nudge(p *process.Process, a *process.Acting, why any) {
	if p.Inbox.Push(&inbox.Node{Msg: why}) == mailbox.Wake {
		a.Inject(&p.Entity, nil)
	}
}

// Run implements fiber.Job: it runs the function of the process.
func (r *Coroutine) Run() {
	s := (*Blocking)(r)
	defer s.Coroutine.run.Unlock()
	s.Worker.Leave()
	ended := false
	defer func() {
		s.Coroutine.ended = true
		cause := recover() // nil: the function has returned, or runtime.Goexit
		if ended || cause == nil && s.Process.Gone() {
			return
		}
		s.Process.Exit(&s.Acting, s.System.Host.Panicked(cause))
	}()
	if !s.Process.Gone() {
		err := s.body.Run(s)
		ended = true
		s.Process.Exit(&s.Acting, s.System.Host.ReasonOf(err))
	}
	ended = true
}

// Next implements fiber.Job.
func (r *Coroutine) Next() *fiber.Fiber { return r.Local.Fiber }

// ExpectToken makes the next receive look for tokens. The process has got one otherwise than with a message.
func (r *Coroutine) ExpectToken() {
	co := r.Coroutine
	co.tokens, co.left = true, min(co.left, 1)
}

// Due reports whether there is a reason for another turn. The caller holds the stage.
func (s *Blocking) Due() bool {
	p, co := &s.Own, s.Coroutine
	if co.ended {
		return false
	}
	switch {
	case p.Fresh || p.Gone() || co.left <= 0:
		return true
	case co.calling:
		return co.Answered.Load()
	}
	return p.Queue.More() || p.Boxed && p.Cold.Box.Len() > p.Queue.Len() || p.Inbox.Pending()
}

// pause gives the stage to others until there is something to check.
func (s *Blocking) pause() {
	if s.Coroutine.run.Locked() {
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

// yield is pause for a coroutine that need not wait: one that is locked to its thread continues.
func (s *Blocking) yield() {
	if !s.Coroutine.run.Locked() {
		s.pause()
	}
}

// refuse panics, because a coroutine tried to wait while it is locked to its thread.
func (s *Blocking) refuse() {
	if s.Process.Gone() {
		runtime.Goexit()
	}
	panic(process.ErrThreadLocked)
}

// drop removes the next message of s, a coroutine.
func (s *Blocking) drop() {
	if n := s.Own.Queue.Drop(); n != nil {
		s.Worker.Stage().Recycle(n)
	}
}

// receive is Blocking.receive.
func (r *Coroutine) receive(match func(any) bool, d time.Duration, from begin) (any, error) {
	if d < 0 {
		return nil, process.ErrBadTimeout
	}
	s, p, co := (*Blocking)(r), &r.Own, r.Coroutine
	if co.left--; co.left <= 0 {
		s.yield()
	}
	var timer env.Timer
	waits := false
	s.enter()
	s.seek(from)
	for {
		for msg, ok := p.Queue.Next(); ok; msg, ok = p.Queue.Next() {
			var with *watch.Carried
			switch m := msg.(type) {
			case timedOut:
				co.expired = co.expired || m.seq == co.seq
				s.drop()
				continue
			case replied:
				s.drop()
				continue
			case *watch.Carried:
				with, msg = m, m.Msg
			}
			if match != nil {
				s.Worker.Leave()
				ok := match(msg)
				s.enter()
				if !ok {
					p.Queue.Skip()
					continue
				}
			}
			p.Settle(s.Worker.Stage(), nil)
			if co.tokens || with != nil {
				co.tokens = p.Cold.Token.Take(with)
				co.left = 1 // so that the next message takes this path, too: see Turns.tokens
			}
			s.Worker.Leave()
			if timer != nil {
				timer.Stop()
			}
			return msg, nil
		}
		if p.Refill() {
			continue
		}
		s.Worker.Leave()
		switch {
		case p.Gone():
			runtime.Goexit()
		case d == 0 || timer != nil && co.expired:
			return nil, process.ErrTimeout
		case timer == nil && d != Infinity:
			s.prepare().begin()
			co.seq++
			co.expired = false
			over := timedOut{co.seq}
			timer = p.System.Env.AfterFunc(d, func() { nudge(p, &p.System.Plain, over) })
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
func (s *Blocking) enter() {
	for !s.Worker.Enter() {
		s.Coroutine.left = 0 // makes Due report true
		s.pause()
	}
}

// Deliver implements process.Blocker.
func (r *Coroutine) Deliver(to *process.Process, msg any) error {
	co := r.Coroutine
	if co.sends++; co.sends >= coSends {
		co.left, co.lastTo, co.sends = 0, &to.Entity, 0
		(*Blocking)(r).yield()
	}
	return to.Deliver(&r.Acting, msg)
}

// Await implements process.Blocker.
func (r *Coroutine) Await(ctx context.Context, t process.Ticket, k calls.WaitKind, on wire.Dest) (any, error) {
	s, co := (*Blocking)(r), r.Coroutine
	s.waitsFor(k, on, t)
	if ctx.Done() != nil && ctx != s.waits.ctx {
		stop := context.AfterFunc(ctx, func() { t.Settle(&s.System.Plain, nil, cause.Of(ctx)) })
		defer stop()
	}
	co.calling = true
	for {
		co.Answered.Store(false)
		if t.Done() {
			break
		}
		if co.run.Locked() {
			co.calling = false
			t.Settle(&s.Acting, nil, process.ErrThreadLocked)
			s.refuse()
		}
		if next, yield := s.depart(); next != nil {
			next()
		} else {
			yield(struct{}{})
		}
		if !s.arrive() {
			t.Settle(&s.Acting, nil, process.ErrExited)
			runtime.Goexit()
		}
	}
	co.calling = false
	return t.Call.Take()
}

// Blocking calls f, on behalf of the function of r, without the stage. Then the function waits for its next turn. Within f,
// Blocking only calls its argument.
func (r *Coroutine) Blocking(f func()) {
	s, co := (*Blocking)(r), r.Coroutine
	if co.blocking {
		f()
		return
	}
	s.Worker.Block()
	co.blocking = true
	defer func() { co.blocking = false }()
	f()
	if s.Process.Gone() {
		runtime.Goexit()
	}
	if !co.run.Locked() {
		s.enter()
		s.Worker.Leave()
	}
}

// Promise implements process.Blocker.
func (r *Coroutine) Promise() *process.Call { return (*Blocking)(r).promise() }

// Context implements process.Blocker.
func (r *Coroutine) Context() context.Context { return (*Blocking)(r).context() }

// Unwind implements process.Blocker.
func (r *Coroutine) Unwind() { (*Blocking)(r).unwind() }

// WaitLocked implements process.Blocker.
func (r *Coroutine) WaitLocked(st observe.State) observe.Wait { return (*Blocking)(r).waitLocked(st) }

// Answered implements process.Blocker.
func (r *Coroutine) Answered(a *process.Acting) {
	r.Coroutine.Answered.Store(true)
	if a.Worker != nil && a.Worker.Enter() {
		near := r.Own.Stage() == a.Worker.Stage()
		if near {
			a.Worker.Stage().Wake(&r.Own.Entity)
		}
		if a.Worker.Leave(); near {
			return
		}
	}
	nudge(&r.Own, a, replied{})
}
