package executor

import (
	"slices"
	"sync"
)

// mover is the task that moves an entity to another stage. It runs on the stage of the entity, so that
// nobody else moves that meanwhile, or has it in a turn that it ends there.
//
//	         e is queued, in a turn or suspended, or another has the right to its wake-up
//	Turn ---------------------------------------------------> in Stage.moves, e is marked as moving
//	 |  ^                                                          |
//	 |  '--- retryMove: the turn is over, or the wake-up ----------+
//	 |       has come                                              |
//	 v                                                             v
//	moved: e is in the inject list of its new stage <--- divert: e is due, and its wake-up is claimed
//
// So a mover has no turn in vain but those that a turn or a wake-up of e follows. An entity has one mover at most, in
// movers.of, from Move to aim. Another Move meanwhile gives that mover another aim: so however often somebody asks, one
// task waits.
type mover struct {
	entity Entity
	claim  func() bool
	gone   func() bool
	e      *Entity
	over   bool // guarded by holding the stage

	// Guarded by movers.mu.
	to   *Stage
	free bool
	told []Moved // whose Done is to be called
}

// movers has the movers of a pool. Its lock also guards which of their entities are pinned.
type movers struct {
	mu sync.Mutex
	of map[*Entity]*mover
}

// Moved is what Move asks of whoever knows the entity. Claim and Gone are called on its stage.
type Moved struct {
	Claim func() bool     // as Task.Claim, for whatever task
	Gone  func() bool     // the entity will have no turn any more that matters
	Free  bool            // the entity is pinned no more when it is there, unless the stage is one that NewStage has made
	Done  func(here bool) // the entity has been moved, or is gone; else another Move has come between; called once

	// Joins, if it is not nil, has a move that is under way go on, to where it goes, and only calls Done when that is over: it
	// is for those who only want the entity to leave. It says whether Done is still of use.
	Joins func() bool
}

// Move has e moved to another stage, between two turns: as soon as its stage comes to that, which may be
// some turns later. It does not wait. Wake-ups go with e, and those that come meanwhile reach it. e is pinned from
// now on, lest it is moved on. A Move that is under way goes to the new stage then. If that has been closed when
// e leaves its own, e goes to one that is not.
func (p *Pool) Move(e *Entity, to *Stage, m Moved) {
	p.movers.mu.Lock()
	e.Pin()
	t := p.movers.of[e]
	if t != nil && m.Joins != nil {
		t.told = slices.DeleteFunc(t.told, func(m Moved) bool { return m.Joins != nil && !m.Joins() })
		t.told = append(t.told, m)
		p.movers.mu.Unlock()
		return
	}
	if t != nil {
		before := t.told
		t.to, t.free, t.told = to, m.Free, []Moved{m}
		p.movers.mu.Unlock()
		tell(before, false)
		return
	}
	t = &mover{claim: m.Claim, gone: m.Gone, e: e, to: to, free: m.Free, told: []Moved{m}}
	p.startLocked(t)
	p.movers.mu.Unlock()
	p.Inject(&t.entity, nil)
}

// tell calls Done of all.
func tell(all []Moved, here bool) {
	for _, m := range all {
		m.Done(here)
	}
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
	t := &mover{claim: m.claim, gone: m.gone, e: m.e, to: m.to, free: m.free, told: m.told}
	p.startLocked(t)
	p.movers.mu.Unlock()
	p.Inject(&t.entity, nil)
}

// ends reports whether m has nothing to move: the entity is there already, or gone. If so, it is over.
func (m *mover) ends(p *Pool, at *Stage) bool {
	p.movers.mu.Lock()
	if !m.gone() && (at != m.to || at.IsClosed()) {
		p.movers.mu.Unlock()
		return false
	}
	m.settleLocked(p)
	p.movers.mu.Unlock()
	m.over = true
	tell(m.told, true)
	return true
}

// aim returns where the entity goes. No Move changes that any more.
func (m *mover) aim(p *Pool) *Stage {
	p.movers.mu.Lock()
	defer p.movers.mu.Unlock()
	if m.to.IsClosed() {
		m.to = p.Spread()
	}
	m.settleLocked(p)
	return m.to
}

// settleLocked ends m's right to say where the entity goes, and whether it stays there.
func (m *mover) settleLocked(p *Pool) {
	delete(p.movers.of, m.e)
	if m.free && !m.to.IsOwn() {
		m.e.Unpin()
	} else {
		m.e.Pin() // it may have been unpinned since
	}
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
	switch at := e.stage.Load(); {
	case m.ends(w.pool, at):
		return Idle
	case at != s: // it has been moved since
		m.over = true
		w.lease.leave()
		w.pool.again(m)
		return idleOrLost(w.lease.enter())
	case !e.is(queued) && m.claim():
		return idleOrLost(m.move(w))
	}
	if s.moves == nil {
		s.moves = make(map[*Entity]*mover)
	}
	s.moves[e] = m
	e.set(moving)
	return Idle
}

// idleOrLost is the result of a turn that holds its stage, or does not.
func idleOrLost(held bool) TurnResult {
	if held {
		return Idle
	}
	return Lost
}

// move moves the entity, which is not queued. The caller has the right to its next wake-up. False: the
// stage was lost.
func (m *mover) move(w *Worker) bool {
	e := m.e
	e.hasLocalSender, e.sendTarget, e.from, e.foreignWakes = false, 0, 0, 0
	to := m.aim(w.pool)
	e.stage.Store(to)
	m.over = true
	tell(m.told, true)
	w.lease.leave()
	if to.post(e, e) {
		w.pool.ready(to, w)
	}
	if to.IsClosed() { // since aim has looked: whoever moves all from there may have looked before e was there
		w.pool.Move(e, w.pool.Spread(), Moved{Claim: m.claim, Gone: m.gone, Free: m.free,
			Joins: func() bool { return false }, Done: func(bool) {}})
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
