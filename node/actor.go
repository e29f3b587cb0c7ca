package node

import (
	"sync/atomic"

	"github.com/actornode/actornode/internal/bias"
	"github.com/actornode/actornode/internal/executor"
	"github.com/actornode/actornode/internal/fiber"
	"github.com/actornode/actornode/node/observe"
)

// actor is the runner of an Actor on a stage. Most processes are of this kind.
type actor proc

// Turn is part of executor.Task: it handles messages until there are none that the
// behaviour wants, or the budget is used up.
func (r *actor) Turn(w *executor.Worker) (v executor.TurnResult) {
	p := (*proc)(r)
	c := w.Local.(*Context)
	c.p = p
	ended := false
	before := p.handled.Load()
	bias.Store(&p.running, 1)
	defer func() {
		if !ended {
			v = p.broke(&c.acting, recover())
		}
		c.tally.Messages(p.handled.Load() - before)
		p.turned()
		c.p = nil
	}()
	if p.fresh {
		p.fresh = false
		if i, ok := p.behaviour.(Initializer); ok {
			w.Leave()
			if err := i.Init(c); err != nil || p.tells {
				p.born(&c.acting, err)
			}
			if !w.Enter() {
				ended = true
				return executor.Lost
			}
		}
	}
	s := w.Stage()
	for left := max(p.node.cfg.Budget, p.q.Len()/2); left > 0; left-- {
		if st := p.status.Load(); st != alive {
			if st != tokened {
				ended = true
				return executor.Idle
			}
			p.open()
		}
		msg, ok := p.q.Next()
		if !ok {
			if p.refill() {
				continue
			}
			ended = true
			return executor.Idle
		}
		behaviour := p.behaviour
		w.Leave()
		err := behaviour.Receive(c, msg)
		if err != nil {
			err = p.ends(&c.acting, err)
		}
		if !w.Enter() {
			p.mu.Lock()
			p.coldPart()
			p.mu.Unlock()
			p.cold.pending, p.cold.blocked = err, true
			if err == nil {
				before-- // that it is handled is noted in Back
			}
			ended = true
			return executor.Lost
		}
		if err == nil || err == ErrUnhandled {
			p.settle(s, err)
		} else if n := p.q.Drop(); n != nil {
			s.Recycle(n)
		}
	}
	ended = true
	return executor.Again
}

// Claim is part of executor.Task.
func (r *actor) Claim() bool { return !r.boxed && r.in.Claim() }

// Notice is part of executor.Task.
func (r *actor) CollectInbox(*executor.Stage) bool {
	p := (*proc)(r)
	p.in.TakeArmed(&p.q)
	return p.boxed || p.q.More() || p.fresh
}

// Back is part of executor.Task: the end of a turn whose handler lost its stage.
func (r *actor) FinishDetached(s *executor.Stage) bool {
	p := (*proc)(r)
	if p.cold != nil && p.cold.blocked {
		err := p.cold.pending
		p.cold.pending, p.cold.blocked = nil, false
		if !p.gone() {
			p.settle(s, err)
		}
	}
	return !p.gone() && (p.boxed || p.fresh || p.q.More() || p.in.Pending())
}

// Name is part of executor.Task.
func (r *actor) Name() string { return (*proc)(r).Name() }

// wake is part of runner.
func (r *actor) wake(a *acting) { a.inject(&r.Entity, a.w) }

// prod is part of runner. The inbox, in which nothing is put, says whether it is being woken
// already.
func (r *actor) prod(a *acting) {
	if r.in.Claim() {
		r.wake(a)
	}
}

// start is part of runner.
func (r *actor) start(a *acting, inline *executor.InlineWorker, fresh bool) {
	switch {
	case !fresh && !r.boxed: // a message will wake it
		return
	case !r.boxed && a.w != nil && a.w.Enter():
		local := r.Stage() == a.w.Stage()
		if local {
			a.w.Stage().WakeFresh(&r.Entity)
		}
		a.w.Leave()
		if !local {
			r.prod(a)
		}
	case !r.in.Claim(): // somebody has sent already
	case inline != nil:
		inline.Inject(&r.Entity)
	default:
		r.node.pool.Inject(&r.Entity, nil)
	}
}

// exited is part of runner. A handler returns by itself.
func (r *actor) exited(*acting, bool, bool) {}

// busy is part of runner.
func (r *actor) busy(a *acting) bool {
	if a.w != nil && a.w.Enter() {
		// Whoever holds the stage knows of all turns that have begun on it. One
		// may be ending elsewhere, with its stage lost; then status is looked at
		// there after running is cleared, or before: nothing is lost either way.
		idle := r.Stage() == a.w.Stage() && atomic.LoadUint32(&r.running) == 0
		if a.w.Leave(); idle {
			return false
		}
	}
	return (*proc)(r).inTurn()
}

// here is part of runner.
func (r *actor) here() bool {
	if !(*proc)(r).inTurn() {
		return false
	}
	id := r.node.pool.Goroutine(&r.Entity)
	return id != 0 && id == fiber.GoroutineID()
}

// inTurn reports whether a turn of p, which is no longer alive, goes on.
func (p *proc) inTurn() bool {
	bias.Barrier() // against turned: status is written, now running is read
	return atomic.LoadUint32(&p.running) != 0
}

// owning is part of runner.
func (r *actor) owning(a *acting, f func()) {
	if a.w.Enter() {
		f()
		a.w.Leave()
		return
	}
	r.node.pool.Borrow(r.Stage(), f)
}

// inspect is part of runner.
func (r *actor) inspect(f func()) { r.node.pool.Look(&r.Entity, func(int, bool, bool) { f() }) }

// doing is part of runner.
func (r *actor) doing() (observe.State, int) { return (*proc)(r).doing(observe.Idle) }

// doing is runner.doing for a process on a stage, with what it is when nothing is due.
func (p *proc) doing(otherwise observe.State) (observe.State, int) {
	running := atomic.LoadUint32(&p.running) != 0
	stage, queued, suspended := p.Observe()
	switch {
	case running && !suspended:
		return observe.Running, stage
	case queued:
		return observe.Scheduled, stage
	}
	return otherwise, stage
}
