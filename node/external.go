package node

import (
	"github.com/actornode/actornode/internal/kernel/process"
	"github.com/actornode/actornode/internal/kernel/runner"
	"github.com/actornode/actornode/internal/sched/fiber"
)

// external is an Actor that is detached, or that its own scheduler runs, and its runner.
type external struct {
	runner.External
	behaviour Actor
}

// Run is part of sched.Runnable: a turn of an actor that its own scheduler runs. It reports whether there is more to
// do.
func (r *external) Run() (again bool) { return r.turn(fiber.MarkOf(&r.Process)) }

// turn is Run, with what External.Here looks for.
//
//go:noinline
func (r *external) turn(fiber.Mark) (again bool) {
	p := &r.Process
	c := newContext(p.System)
	c.own.Process, c.behaviour = p, &r.behaviour
	ended := false
	before := p.Handled.Load()
	p.Running.Store(true)
	defer func() {
		if !ended {
			p.Broke(&c.own, recover())
			again = false
		}
		p.System.Tally.Messages(p.Handled.Load() - before)
		p.TurnOver()
		c.own.Process, c.behaviour = &p.System.Over, nil
	}()
	if p.Fresh {
		p.Fresh = false
		if i, ok := r.behaviour.(Initializer); ok && !p.Gone() {
			if err := i.Init(c); err != nil || p.Tells {
				born(p, &c.own, err)
			}
		}
	}
	b := &r.QueueMu
	b.Lock()
	again = true
	for left := max(p.System.Budget, p.Queue.Len()>>(p.System.Halved&63)); left > 0; {
		behaviour := r.behaviour
		if !p.Plain() {
			if p.Gone() {
				break
			}
			p.OpenNext()
			msg, _ := p.Queue.Next()
			if o, ok := msg.(order); ok {
				behaviour = o.to
			}
		}
		msg, ok := p.Queue.Next()
		if !ok {
			if p.Refill() || !p.Intake().Arm() {
				continue
			}
			again = false
			break
		}
		left--
		b.Unlock()
		err := behaviour.Receive(c, msg)
		switch {
		case err == nil:
		case err == process.ErrGivesWay:
			err, left = nil, 0
		default:
			err = runner.EndWith(p, &c.own, err)
		}
		b.Lock()
		if err == nil || err == ErrUnhandled {
			p.Settle(nil, err)
		}
	}
	b.Unlock()
	ended = true
	return again && !p.Gone()
}
