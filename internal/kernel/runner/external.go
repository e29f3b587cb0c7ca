package runner

import (
	"sync/atomic"

	"github.com/actornode/actornode/internal/kernel/process"
	"github.com/actornode/actornode/internal/sched/bias"
	"github.com/actornode/actornode/internal/sched/executor"
	"github.com/actornode/actornode/internal/sched/fiber"
	"github.com/actornode/actornode/node/observe"
	"github.com/actornode/actornode/sched"
)

// External is an Actor that a scheduler of its own runs, or that is detached: all of its runner but
// Run, which calls the behaviour.
type External struct {
	process.Process
	offStage
	Scheduler sched.Scheduler // set at spawn
	Bias      bias.Owned      // guards Queue, in place of a stage
}

// Wake is part of process.Runner.
func (r *External) Wake(*process.Acting) { r.Scheduler.Schedule(r.Task().(sched.Runnable)) }

// Prod is part of process.Runner.
func (r *External) Prod(a *process.Acting) { r.Wake(a) }

// Start is part of process.Runner.
func (r *External) Start(a *process.Acting, _ *executor.InlineWorker, _ bool) {
	if d, ok := r.Scheduler.(*executor.Dedicated); ok {
		r.System.Functions.Add(1)
		r.System.Env.Go(func() { // of a detached actor: ended by its exit, waited for by Node.Stop
			defer r.System.Functions.Add(-1)
			d.Run()
		})
	}
	r.Wake(a)
}

// Exited is part of process.Runner.
func (r *External) Exited(*process.Acting, bool, bool) {
	if d, ok := r.Scheduler.(*executor.Dedicated); ok {
		d.Stop()
	}
}

// Busy is part of process.Runner.
func (r *External) Busy(*process.Acting) bool { return inTurn(&r.Process) }

// Here is part of process.Runner.
func (r *External) Here() bool { return fiber.Marked(&r.Process) }

// Doing is part of process.Runner.
func (r *External) Doing() (observe.State, int) {
	if atomic.LoadUint32(&r.Running) != 0 {
		return observe.Running, -1
	}
	return observe.Idle, -1
}

// Owning is part of process.Runner.
func (r *External) Owning(_ *process.Acting, f func()) {
	b := &r.Bias
	b.Enter()
	f()
	b.Leave()
}

// Inspect is part of process.Runner.
func (r *External) Inspect(f func()) {
	b := &r.Bias
	b.Lock()
	f()
	b.Unlock()
}
