package executor

import "github.com/actornode/actornode/sched"

// Dedicated is a scheduler for one task, which runs on a goroutine of its own.
type Dedicated struct {
	kick chan sched.Runnable // capacity 1: at most one wake-up is owed
	quit chan struct{}       // closed when the task has exited
}

// NewDedicated returns a scheduler whose goroutine is still to be started: see Run.
func NewDedicated() *Dedicated {
	return &Dedicated{kick: make(chan sched.Runnable, 1), quit: make(chan struct{})}
}

// Schedule is part of sched.Scheduler.
func (d *Dedicated) Schedule(r sched.Runnable) { d.kick <- r }

// Run is the goroutine: it runs what has been scheduled until Stop is called.
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

// Stop ends Run. It is called once.
func (d *Dedicated) Stop() { close(d.quit) }
