package executor

import "github.com/actornode/actornode/sched"

// Dedicated is a scheduler that runs one task on a dedicated goroutine.
type Dedicated struct {
	kick chan sched.Runnable // capacity 1: at most one wake-up is pending
	quit chan struct{}       // closed when the task has exited
}

// NewDedicated returns a scheduler whose goroutine must be started: see Run.
func NewDedicated() *Dedicated {
	return &Dedicated{kick: make(chan sched.Runnable, 1), quit: make(chan struct{})}
}

// Schedule implements sched.Scheduler.
func (d *Dedicated) Schedule(r sched.Runnable) { d.kick <- r }

// Run is the body of the goroutine: it runs scheduled tasks until Stop is called.
func (d *Dedicated) Run() {
	for {
		select {
		case r := <-d.kick:
			for r.Run() {
			}
		case <-d.quit:
			return
		}
	}
}

// Stop ends Run. It must be called only once.
func (d *Dedicated) Stop() { close(d.quit) }
