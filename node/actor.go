package node

import (
	"github.com/actornode/actornode/internal/kernel/process"
	"github.com/actornode/actornode/internal/sched/executor"

	"github.com/actornode/actornode/internal/kernel/runner"
)

// actor is an Actor on a stage, and its runner. Most processes are of this kind.
type actor struct {
	runner.Actor
	behaviour Actor
}

// Turn is part of executor.Task: it handles messages until there are none that the
// behaviour wants, or the budget is used up.
func (r *actor) Turn(w *executor.Worker) (v executor.TurnResult) {
	p := &r.Process
	c := (*Context)(w.Local.(*workerContext))
	c.own.Process, c.behaviour = p, &r.behaviour
	ended := false
	before := p.Handled.Load()
	p.Running.Store(true)
	defer func() {
		if !ended {
			v = p.Broke(&c.own, recover())
		}
		c.local.Took(p.Handled.Load() - before)
		p.TurnOver()
		c.own.Process, c.behaviour = &p.System.Over, nil
	}()
	if p.Fresh {
		p.Fresh = false
		if i, ok := r.behaviour.(Initializer); ok && !p.Gone() {
			w.Leave()
			if err := i.Init(c); err != nil || p.Tells {
				born(p, &c.own, err)
			}
			if !w.Enter() {
				ended = true
				return executor.Lost
			}
		}
	}
	s := w.Stage()
	for left := max(p.System.Budget, p.Queue.Len()>>(p.System.Halved&63)); left > 0; left-- {
		behaviour := r.behaviour
		if !p.Plain() {
			if p.Gone() {
				ended = true
				return executor.Idle
			}
			p.OpenNext()
			msg, _ := p.Queue.Next()
			if o, ok := msg.(order); ok {
				behaviour = o.to
			}
		}
		msg, ok := p.Queue.Next()
		if !ok {
			if p.Refill() {
				continue
			}
			ended = true
			return executor.Idle
		}
		w.Leave()
		err := behaviour.Receive(c, msg)
		switch {
		case err == nil:
		case err == process.ErrGivesWay:
			err, left = nil, 1
		default:
			err = runner.EndWith(p, &c.own, err)
		}
		if !w.Enter() {
			p.Mu.Lock()
			p.ColdPart()
			p.Mu.Unlock()
			p.Cold.Pending, p.Cold.Blocked = err, true
			if err == nil {
				before-- // FinishDetached counts it as handled
			}
			ended = true
			return executor.Lost
		}
		if err == nil || err == ErrUnhandled {
			p.Settle(s, err)
		} else if n := p.Queue.Drop(); n != nil {
			s.Recycle(n)
		}
	}
	ended = true
	return executor.Again
}

// order is a message to an Actor that to receives instead of its behaviour.
type order struct{ to Actor }

// A becomer is a behaviour that is told when it, or one that it wraps, becomes the Actor's.
type becomer interface {
	Became(k process.Key, c *Context, b Actor)
}

// become replaces the behaviour of an Actor; push keeps the old one below the new.
func (c *Context) become(b Actor, push bool) {
	p := c.own.Own()
	if nothing(b) {
		p.Exit(&c.own, &Crash{Reason: errNilBehaviour})
		return
	}
	p.Mu.Lock() // Info reads the behaviour
	if push {
		k := p.ColdPart()
		k.Stack = append(k.Stack, *c.behaviour)
	}
	*c.behaviour = b
	if p.Cold != nil {
		p.Cold.Left = nil
	}
	p.Mu.Unlock()
	p.Rewind = true
	if t, ok := behaviourOf(p).(becomer); ok {
		t.Became(process.Key{}, c, b)
	}
}
