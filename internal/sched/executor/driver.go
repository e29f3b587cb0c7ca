package executor

import (
	"github.com/actornode/actornode/internal/sched/fiber"
	"github.com/actornode/actornode/sched"
)

// driver runs a stage instead of the pool's workers: each of its runs is a turn of the stage on a goroutine chosen by a
// user's scheduler, which acts as a worker meanwhile.
type driver struct {
	stage *Stage
	by    sched.Scheduler

	again bool // the run has left work; guarded by pool.mu
}

// NewDriven makes a stage that a user's scheduler runs, with the number -1. It is not in the pool's lists: the watcher
// ignores it. It is collected when it has no entities.
func (p *Pool) NewDriven(by sched.Scheduler) *Stage {
	s := &Stage{pool: p, index: -1, number: -1}
	s.driver = &driver{stage: s, by: by}
	return s
}

func (d *driver) schedule() { d.by.Schedule(d) }

// Run implements sched.Runnable. A goroutine that is locked to its thread cannot resume a fiber, so it has another
// goroutine run the turn, and waits.
func (d *driver) Run() (again bool) {
	s, p := d.stage, d.stage.pool
	p.mu.Lock()
	if s.state != stageQueued {
		p.mu.Unlock()
		return false
	}
	w := p.driveLocked(s)
	d.again = false
	p.mu.Unlock()
	if w.CanSwitch() {
		return d.run(w)
	}
	done := make(chan bool)
	go func() { // awaited below
		ended := false
		defer func() { done <- ended && again }()
		again = d.run(w)
		ended = true
	}()
	return <-done
}

// run runs a turn on w.
func (d *driver) run(w *Worker) (again bool) {
	p := d.stage.pool
	w.goid, w.thread = fiber.GoroutineID(), fiber.Thread{}
	defer func() { // a handler may call runtime.Goexit
		if w.stage != nil {
			w.unwound()
		}
		again = p.endDriven(w, d)
	}()
	w.run(d.stage)
	w.stage = nil
	return false
}

// dueLocked marks s, a driven stage, as queued, and reports whether it did: after the pool has ended it marks s as idle.
func (p *Pool) dueLocked(s *Stage) bool {
	if p.overLocked() {
		s.state = stageIdle
		return false
	}
	s.state = stageQueued
	p.due++
	return true
}

// driveLocked makes the calling goroutine a worker that holds s for one turn.
func (p *Pool) driveLocked(s *Stage) *Worker {
	w := p.workerLocked()
	w.inlineTurns = 1
	p.due--
	p.live++
	w.assign(s)
	return w
}

// endDriven is the end of driveLocked. It reports whether the stage has more work that its scheduler does not know of.
func (p *Pool) endDriven(w *Worker, d *driver) (again bool) {
	p.mu.Lock()
	delete(p.detached, w.lease)
	p.countLocked(w, false)
	pending := w.pendingWake
	w.stage, w.lease, w.inlineTurns, w.pendingWake, w.unfit = nil, nil, 0, false, false
	p.free = append(p.free, w)
	if pending {
		p.kickLocked()
	}
	again, d.again = d.again, false
	p.mu.Unlock()
	p.ended()
	return again
}
