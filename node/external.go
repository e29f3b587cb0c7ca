package node

import (
	"sync/atomic"

	"github.com/actornode/actornode/internal/bias"
	"github.com/actornode/actornode/internal/executor"
	"github.com/actornode/actornode/internal/fiber"
	"github.com/actornode/actornode/node/observe"
)

// external is the runner of an Actor that a scheduler of its own runs, or that is detached.
type external proc

// Run is part of sched.Runnable: a turn of an actor that a scheduler of its own
// runs. It answers whether there is more to do.
func (r *external) Run() (again bool) { return r.turn(fiber.MarkOf((*proc)(r))) }

// turn is Run, with what here looks for.
//
//go:noinline
func (r *external) turn(fiber.Mark) (again bool) {
	p := (*proc)(r)
	c := &Context{}
	c.acting = acting{node: p.node, p: p, ctx: c}
	ended := false
	before := p.handled.Load()
	bias.Store(&p.running, 1)
	defer func() {
		if !ended {
			p.broke(&c.acting, recover())
			again = false
		}
		p.node.tally.Messages(p.handled.Load() - before)
		p.turned()
		c.p = nil
	}()
	if p.fresh {
		p.fresh = false
		if i, ok := p.behaviour.(Initializer); ok {
			if err := i.Init(c); err != nil || p.tells {
				p.born(&c.acting, err)
			}
		}
	}
	b := &p.cold.bias
	b.Enter()
	again = true
	for left := max(p.node.cfg.Budget, p.q.Len()/2); left > 0; {
		if st := p.status.Load(); st != alive {
			if st != tokened {
				break
			}
			p.open()
		}
		msg, ok := p.q.Next()
		if !ok {
			if p.refill() || !p.intake().arm() {
				continue
			}
			again = false
			break
		}
		left--
		b.Leave()
		err := p.behaviour.Receive(c, msg)
		if err != nil {
			err = p.ends(&c.acting, err)
		}
		b.Enter()
		if err == nil || err == ErrUnhandled {
			p.settle(nil, err)
		}
	}
	b.Leave()
	ended = true
	return again && !p.gone()
}

// wake is part of runner.
func (r *external) wake(*acting) { r.cold.scheduler.Schedule(r) }

// prod is part of runner.
func (r *external) prod(a *acting) { r.wake(a) }

// start is part of runner.
func (r *external) start(a *acting, _ *executor.InlineWorker, _ bool) {
	if d, ok := r.cold.scheduler.(*executor.Dedicated); ok {
		r.node.functions.Add(1)
		r.node.env.Go(func() { // of a detached actor: ended by its exit, waited for by Node.Stop
			defer r.node.functions.Add(-1)
			d.Run()
		})
	}
	r.wake(a)
}

// exited is part of runner.
func (r *external) exited(*acting, bool, bool) {
	if d, ok := r.cold.scheduler.(*executor.Dedicated); ok {
		d.Stop()
	}
}

// busy is part of runner.
func (r *external) busy(*acting) bool { return (*proc)(r).inTurn() }

// here is part of runner.
func (r *external) here() bool { return fiber.Marked((*proc)(r)) }

// doing is part of runner.
func (r *external) doing() (observe.State, int) {
	if atomic.LoadUint32(&r.running) != 0 {
		return observe.Running, -1
	}
	return observe.Idle, -1
}

// owning is part of runner.
func (r *external) owning(_ *acting, f func()) {
	b := &r.cold.bias
	b.Enter()
	f()
	b.Leave()
}

// inspect is part of runner.
func (r *external) inspect(f func()) {
	b := &r.cold.bias
	b.Lock()
	f()
	b.Unlock()
}
