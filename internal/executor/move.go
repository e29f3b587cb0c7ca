package executor

import (
	"runtime"
	"sync"
)

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
//
// An entity has one mover at most, in movers.of, from Move to aim. Another Move meanwhile gives that mover another aim: so
// however often somebody asks, one task waits.
type mover struct {
	entity Entity
	claim  func() bool
	gone   func() bool
	e      *Entity
	over   bool // guarded by holding the stage

	to   *Stage // guarded by movers.mu, like the next
	done func(here bool)
}

// movers has the movers of a pool.
type movers struct {
	mu sync.Mutex
	of map[*Entity]*mover
}

// Moved is what Move asks of whoever knows the entity. Claim and Gone are called on its stage.
type Moved struct {
	Claim func() bool     // as Task.Claim, for whatever task
	Gone  func() bool     // the entity will have no turn any more that matters
	Done  func(here bool) // the entity has been moved, or is gone; else another Move has come between; called once
}

// Move has e moved to another stage, between two turns: as soon as its stage comes to that, which may be
// some turns later. It does not wait. Wake-ups go with e, and those that come meanwhile reach it. e should
// be pinned, lest it is moved on. A Move that is under way goes to the new stage then.
func (p *Pool) Move(e *Entity, to *Stage, m Moved) {
	p.movers.mu.Lock()
	t := p.movers.of[e]
	if t != nil {
		before := t.done
		t.to, t.done = to, m.Done
		p.movers.mu.Unlock()
		before(false)
		return
	}
	t = &mover{claim: m.Claim, gone: m.Gone, e: e, to: to, done: m.Done}
	p.startLocked(t)
	p.movers.mu.Unlock()
	p.Inject(&t.entity, nil)
}

// startLocked makes t, which is to be injected, the mover of its entity.
func (p *Pool) startLocked(t *mover) {
	t.entity.Adopt(t, t.e.stage.Load(), true)
	if p.movers.of == nil {
		p.movers.of = make(map[*Entity]*mover)
	}
	p.movers.of[t.e] = t
}

// again puts another mover in the place of m, where the entity is now.
func (p *Pool) again(m *mover) {
	p.movers.mu.Lock()
	t := &mover{claim: m.claim, gone: m.gone, e: m.e, to: m.to, done: m.done}
	p.startLocked(t)
	p.movers.mu.Unlock()
	p.Inject(&t.entity, nil)
}

// ends reports whether m has nothing to move: the entity is there already, or gone. If so, it is over.
func (m *mover) ends(p *Pool, at *Stage) bool {
	p.movers.mu.Lock()
	if !m.gone() && at != m.to {
		p.movers.mu.Unlock()
		return false
	}
	delete(p.movers.of, m.e)
	p.movers.mu.Unlock()
	m.over = true
	m.done(true)
	return true
}

// aim returns where the entity goes. No Move changes that any more.
func (m *mover) aim(p *Pool) *Stage {
	p.movers.mu.Lock()
	defer p.movers.mu.Unlock()
	delete(p.movers.of, m.e)
	return m.to
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
	case m.ends(w.pool, at):
	case at != s: // it has been moved since
		m.over = true
		w.lease.leave()
		w.pool.again(m)
		held = w.lease.enter()
	case e.is(queued):
		if s.moves == nil {
			s.moves = make(map[*Entity]*mover)
		}
		s.moves[e] = m
		e.set(moving)
	case m.claim():
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

// move moves the entity, which is not queued. The caller has the right to its next wake-up. False: the
// stage was lost.
func (m *mover) move(w *Worker) bool {
	e := m.e
	e.hasLocalSender, e.sendTarget, e.from, e.foreignWakes = false, 0, 0, 0
	to := m.aim(w.pool)
	e.stage.Store(to)
	m.over = true
	m.done(true)
	w.lease.leave()
	if to.post(e, e) {
		w.pool.ready(to, w)
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
	if !m.gone() && m.claim() {
		return m.move(w)
	}
	s.Wake(e)
	s.Wake(&m.entity)
	return true
}
