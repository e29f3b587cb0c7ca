package runner

import (
	"sync"

	"github.com/actornode/actornode/internal/kernel/process"
	"github.com/actornode/actornode/internal/sched/executor"
	"github.com/actornode/actornode/node/observe"
	"github.com/actornode/actornode/sched"
)

// External is an Actor with a scheduler of its own, or a detached one: its complete runner except Run, which calls the
// behaviour.
type External struct {
	process.Process
	offStage
	Scheduler sched.Scheduler // set at spawn
	QueueMu   sync.Mutex      // guards Queue, instead of a stage
}

// Wake implements process.Runner.
func (r *External) Wake(*process.Acting) { r.Scheduler.Schedule(r.Task().(sched.Runnable)) }

// Prod implements process.Runner.
func (r *External) Prod(a *process.Acting) { r.Wake(a) }

// Start implements process.Runner.
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

// Exited implements process.Runner.
func (r *External) Exited(*process.Acting, bool, bool) {
	if d, ok := r.Scheduler.(*executor.Dedicated); ok {
		d.Stop()
	}
}

// Busy implements process.Runner.
func (r *External) Busy(*process.Acting) bool { return inTurn(&r.Process) }

// Doing implements process.Runner.
func (r *External) Doing() (observe.State, int) {
	if r.Running.Load() {
		return observe.Running, -1
	}
	return observe.Idle, -1
}

// Owning implements process.Runner.
func (r *External) Owning(_ *process.Acting, f func()) {
	b := &r.QueueMu
	b.Lock()
	f()
	b.Unlock()
}

// Inspect implements process.Runner.
func (r *External) Inspect(f func()) {
	b := &r.QueueMu
	b.Lock()
	f()
	b.Unlock()
}
