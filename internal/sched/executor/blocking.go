package executor

import "time"

// Blocking calls f for a handler, without the stage, which runs its other entities on another worker. Then the handler
// waits at the end of the run queue until it has the stage again. A nested Blocking in f only calls its argument. The
// caller is outside the stage.
func (w *Worker) Blocking(f func()) {
	if w.blocking {
		f()
		return
	}
	w.Block()
	w.blocking = true
	defer func() {
		w.blocking = false
		w.Unblock()
	}()
	f()
}

// Unblock ends a Block: it waits until the handler has its stage again. It does nothing if the handler has not released the
// stage, or if the pool stops.
func (w *Worker) Unblock() {
	p := w.pool
	p.mu.Lock()
	e := p.detached[w.lease]
	if e == nil || p.stopping {
		p.mu.Unlock()
		return
	}
	delete(p.detached, w.lease)
	p.live++ // Stop does not wait for an inline worker, but must wait for this one now
	p.mu.Unlock()
	p.resume(e, w)
	<-w.wake
	p.ended()
	w.sampledAt, w.quickAt = time.Time{}, time.Time{} // these belong to another lease
}

// resume requests the stage of e for w, which waits to continue a handler of e.
func (p *Pool) resume(e *Entity, w *Worker) {
	r := &resumed{e: e, w: w}
	r.entity.Adopt(r, e.stage.Load(), true)
	p.Inject(&r.entity, nil)
}

// resumed is the task with which a handler that has released its stage requests it again: see reattach.
type resumed struct {
	entity Entity
	e      *Entity
	w      *Worker
}

// CollectInbox implements Task: it queues e, which is marked as queued, again.
func (r *resumed) CollectInbox(s *Stage) bool {
	r.e.set(suspended)
	if s.waiting == nil {
		s.waiting = make(map[*Entity]*Worker)
	}
	s.waiting[r.e] = r.w
	s.push(r.e)
	return false
}

func (r *resumed) Turn(*Worker) TurnResult    { panic("executor: a task that resumes another was run") }
func (r *resumed) FinishDetached(*Stage) bool { return false }
func (r *resumed) Claim() bool                { return false }
func (r *resumed) Name() string               { return "resume " + r.e.task.Name() }
