package runner

import (
	"github.com/actornode/actornode/internal/kernel/process"
	"github.com/actornode/actornode/internal/sched/executor"
	"github.com/actornode/actornode/node/observe"
)

// Actor is an Actor on a stage: its complete runner except Turn, which calls the behaviour.
type Actor struct{ process.Process }

// CollectInbox implements executor.Task.
func (r *Actor) CollectInbox(*executor.Stage) bool {
	p := &r.Process
	p.Inbox.TakeArmed(&p.Queue)
	return p.Boxed || p.Queue.More() || p.Fresh
}

// FinishDetached implements executor.Task: the end of a turn whose handler lost its stage.
func (r *Actor) FinishDetached(s *executor.Stage) bool {
	p := &r.Process
	if p.Cold != nil && p.Cold.Blocked {
		err := p.Cold.Pending
		p.Cold.Pending, p.Cold.Blocked = nil, false
		if !p.Gone() {
			p.Settle(s, err)
		}
	}
	return !p.Gone() && (p.Boxed || p.Fresh || p.Queue.More() || p.Inbox.Pending())
}

// Claim implements executor.Task.
func (r *Actor) Claim() bool { return (*staged)(&r.Process).claim() }

// Start implements process.Runner.
func (r *Actor) Start(a *process.Acting, inline *executor.InlineWorker, fresh bool) {
	(*staged)(&r.Process).start(a, inline, fresh)
}

// Exited implements process.Runner. A handler returns by itself.
func (r *Actor) Exited(*process.Acting, bool, bool) {}

// Doing implements process.Runner.
func (r *Actor) Doing() (observe.State, int) { return (*staged)(&r.Process).state(observe.Idle) }

// Wake implements process.Runner.
func (r *Actor) Wake(a *process.Acting) { (*staged)(&r.Process).wake(a) }

// Prod implements process.Runner.
func (r *Actor) Prod(a *process.Acting) { (*staged)(&r.Process).prod(a) }

// Busy implements process.Runner.
func (r *Actor) Busy(a *process.Acting) bool { return (*staged)(&r.Process).busy(a) }

// Owning implements process.Runner.
func (r *Actor) Owning(a *process.Acting, f func()) { (*staged)(&r.Process).owning(a, f) }

// Inspect implements process.Runner.
func (r *Actor) Inspect(f func()) { (*staged)(&r.Process).inspect(f) }
