package executor

import "time"

// Blocking calls f for a handler, without the stage: the others of the stage have their turns, on another
// worker. Then the handler waits until it has the stage again, as the last of those that are due. In f
// Blocking only calls its argument. The caller is outside the stage.
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

// Unblock ends what Block has begun: it waits until the handler has its stage again. It does
// nothing if the handler has not given it up, or if the pool stops.
func (w *Worker) Unblock() {
	p := w.pool
	p.mu.Lock()
	e := p.detached[w.lease]
	if e == nil || p.stopping {
		p.mu.Unlock()
		return
	}
	delete(p.detached, w.lease)
	p.live++ // an inline worker is none of those that Stop waits for, but now it needs one of them
	p.mu.Unlock()
	p.resume(e, w)
	<-w.wake
	p.ended()
	w.sampledAt, w.quickAt = time.Time{}, time.Time{} // of another lease
}

// resume has w, which goes on with a handler of e but waits for now, get the stage of e when that is due.
func (p *Pool) resume(e *Entity, w *Worker) {
	r := &resumed{e: e, w: w}
	r.entity.Adopt(r, e.stage.Load(), true)
	p.Inject(&r.entity, nil)
}

// resumed is the task by which a handler that has given up its stage asks for it again: see reattach.
type resumed struct {
	entity Entity
	e      *Entity
	w      *Worker
}

// CollectInbox is part of Task: e, which is marked as queued, is queued again.
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
