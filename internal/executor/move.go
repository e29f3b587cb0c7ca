package executor

import "runtime"

// mover is the task that moves an entity to another stage. It runs on the stage of the entity, so that
// nobody else moves that meanwhile, or has it in a turn that it ends there.
//
//	                  e is queued, in a turn or suspended
//	Turn ---------------------------------------------------> in Stage.moves, e is marked as moving
//	 |  ^                                                          |
//	 |  '--- retryMove: the turn is over, or another has ----------+
//	 |       the right to the wake-up of e                         |
//	 v                                                             v
//	moved: e is in the inject list of its new stage <--- divert: e is due, and its wake-up is claimed
type mover struct {
	entity Entity
	Moved
	e    *Entity
	to   *Stage
	over bool // guarded by holding the stage
}

// Moved is what Move asks of whoever knows the entity. The methods are called on its stage.
type Moved struct {
	Claim func() bool // as Task.Claim, for whatever task
	Gone  func() bool // the entity will have no turn any more that matters
	Done  func()      // the entity has been moved, is gone, or another Move has come between; called once
}

// Move has e moved to another stage, between two turns: as soon as its stage comes to that, which may be
// some turns later. It does not wait. Wake-ups go with e, and those that come meanwhile reach it. e should
// be pinned, lest it is moved on.
func (p *Pool) Move(e *Entity, to *Stage, m Moved) {
	t := &mover{Moved: m, e: e, to: to}
	t.entity.Adopt(t, e.stage.Load(), true)
	p.Inject(&t.entity, nil)
}

// CollectInbox is part of Task.
func (m *mover) CollectInbox(*Stage) bool { return !m.over }

// FinishDetached is part of Task.
func (m *mover) FinishDetached(*Stage) bool { return !m.over }

// Claim is part of Task.
func (m *mover) Claim() bool { return false }

// Name is part of Task.
func (m *mover) Name() string { return "move of " + m.e.task.Name() }

// Turn is part of Task.
func (m *mover) Turn(w *Worker) TurnResult {
	s, e := w.stage, m.e
	held := true
	switch at := e.stage.Load(); {
	case m.Gone() || at == m.to:
		m.done()
	case at != s: // it has been moved since
		m.over = true
		w.lease.leave()
		w.pool.Move(e, m.to, m.Moved)
		held = w.lease.enter()
	case e.is(queued):
		if s.moves == nil {
			s.moves = make(map[*Entity]*mover)
		}
		if other := s.moves[e]; other != nil {
			other.done()
		}
		s.moves[e] = m
		e.set(moving)
	case m.Moved.Claim():
		held = m.move(w)
	default: // another is about to wake e
		w.lease.leave()
		runtime.Gosched()
		if w.lease.enter() {
			return Again
		}
		return Lost
	}
	if !held {
		return Lost
	}
	return Idle
}

// done is the end of m.
func (m *mover) done() {
	m.over = true
	m.Done()
}

// move moves the entity, which is not queued. The caller has the right to its next wake-up. False: the
// stage was lost.
func (m *mover) move(w *Worker) bool {
	e := m.e
	e.hasLocalSender, e.sendTarget, e.from, e.foreignWakes = false, 0, 0, 0
	e.stage.Store(m.to)
	m.done()
	w.lease.leave()
	if m.to.post(e, e) {
		w.pool.ready(m.to, w)
	}
	return w.lease.enter()
}

// takeMove returns the mover of e, which waits for it no more; nil: there is none.
func (s *Stage) takeMove(e *Entity) *mover {
	if !e.is(moving) {
		return nil
	}
	m := s.moves[e]
	delete(s.moves, e)
	e.unset(moving)
	return m
}

// retryMove has the mover of e, if there is one, have another turn.
func (s *Stage) retryMove(e *Entity) {
	if m := s.takeMove(e); m != nil {
		s.Wake(&m.entity)
	}
}

// divert does what is due with e, which is the next of the run queue, and suspended or moving, in place of
// a turn. False: the stage has been handed over.
func (w *Worker) divert(s *Stage, e *Entity) bool {
	if e.is(suspended) {
		s.retryMove(e)
		w.pool.handOver(w, s, e)
		return false
	}
	m := s.takeMove(e)
	e.unset(queued)
	if !m.Gone() && m.Moved.Claim() {
		return m.move(w)
	}
	s.Wake(e)
	s.Wake(&m.entity)
	return true
}
