package runner

import (
	"github.com/actornode/actornode/internal/kernel/process"
	"github.com/actornode/actornode/internal/sched/executor"
	"github.com/actornode/actornode/node/observe"
)

// staged is a process that a stage runs, an Actor or a coroutine: their common part of process.Runner.
type staged process.Process

// claim is executor.Task.Claim.
func (p *staged) claim() bool { return !p.Boxed && p.Inbox.Claim() }

// wake is process.Runner.Wake.
func (p *staged) wake(a *process.Acting) { a.Inject(&p.Entity, a.Worker) }

// prod is process.Runner.Prod. The inbox, which is empty, records whether the process is being woken already.
func (p *staged) prod(a *process.Acting) {
	if p.Inbox.Claim() {
		p.wake(a)
	}
}

// start is process.Runner.Start.
func (p *staged) start(a *process.Acting, inline *executor.InlineWorker, fresh bool) {
	switch {
	case !fresh && !p.Boxed: // a message will wake it
		return
	case !p.Boxed && a.Worker != nil && a.Worker.Enter():
		local := p.Stage() == a.Worker.Stage()
		if local {
			a.Worker.Stage().WakeFresh(&p.Entity)
		}
		a.Worker.Leave()
		if !local {
			p.prod(a)
		}
	case !p.Inbox.Claim(): // there is a message already
	case inline != nil:
		inline.Inject(&p.Entity)
	default:
		p.System.Pool.Inject(&p.Entity, nil)
	}
}

// busy is process.Runner.Busy for an Actor.
func (p *staged) busy(a *process.Acting) bool {
	if a.Worker != nil && a.Worker.Enter() {
		// The holder of the stage knows all turns that have begun on it. One may be ending elsewhere, with its stage lost; then the
		// status is checked there after Running is cleared, or before: nothing is lost either way.
		idle := p.Stage() == a.Worker.Stage() && !p.Running.Load()
		if a.Worker.Leave(); idle {
			return false
		}
	}
	return inTurn((*process.Process)(p))
}

// inTurn reports whether a turn of p, which is no longer alive, is in progress.
func inTurn(p *process.Process) bool {
	return p.Running.Load()
}

// owning is process.Runner.Owning.
func (p *staged) owning(a *process.Acting, f func()) {
	if a.Worker.Enter() {
		f()
		a.Worker.Leave()
		return
	}
	p.System.Pool.Borrow(p.Stage(), f)
}

// inspect is process.Runner.Inspect.
func (p *staged) inspect(f func()) {
	p.System.Pool.Look(&p.Entity, func(int, bool, bool) { f() })
}

// state is process.Runner.Doing for a process on a stage; otherwise is the state if nothing is due.
func (p *staged) state(otherwise observe.State) (observe.State, int) {
	running := p.Running.Load()
	stage, queued, suspended := p.Observe()
	switch {
	case running && !suspended:
		return observe.Running, stage
	case queued:
		return observe.Scheduled, stage
	}
	return otherwise, stage
}
