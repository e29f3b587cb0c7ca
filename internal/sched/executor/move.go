package executor

import (
	"slices"
	"sync"
)

// mover is the task that moves an entity to another stage. It runs on the stage of the entity, so that no other party moves
// the entity or runs its turn meanwhile.
//
//	         e is queued, in a turn or suspended, or another party may wake it
//	Turn ---------------------------------------------------> in Stage.moves, e is marked as moving
//	 |  ^                                                          |
//	 |  '--- retryMove: the turn is over, or the wake-up ----------+
//	 |       has come                                              |
//	 v                                                             v
//	moved: e is in the inject list of its new stage <--- divert: e is due, and its wake-up is claimed
//
// So a mover's turn is wasted only if a turn or a wake-up of e follows. An entity has at most one mover, in movers.of, from
// Move to aim. A further Move changes that mover's target, so any number of calls makes only one task wait.
type mover struct {
	entity Entity
	claim  func() bool
	gone   func() bool
	e      *Entity
	over   bool // guarded by holding the stage

	// Guarded by movers.mu.
	to   *Stage
	free bool
	told []Moved // requests whose Done must be called
}

// movers has the movers of a pool. Its lock also guards whether their entities are pinned.
type movers struct {
	mu sync.Mutex
	of map[*Entity]*mover
}

// Moved has the callbacks and options of a Move. Claim and Gone are called on the entity's stage.
type Moved struct {
	Claim func() bool     // like Task.Claim
	Gone  func() bool     // reports whether the entity needs no further turns
	Free  bool            // unpin the entity after the move, unless NewStage has made the stage
	Done  func(here bool) // called once; here is false if another Move has replaced this one

	// Joins, if not nil, lets a current move keep its target, and only calls Done when that move is over, for callers that
	// only need the entity to leave. It reports whether Done is still needed.
	Joins func() bool
}

// Move moves e to another stage between two turns, as soon as its stage can, which may be some turns later. It does not
// wait. Wake-ups move with e, and none are lost. e is pinned from now on, so that it is not moved again. A current Move
// changes its target to the new stage. If that is closed when e leaves its own stage, e goes to an open one.
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

// tell calls Done of each request.
func tell(all []Moved, here bool) {
	for _, m := range all {
		m.Done(here)
	}
}

// startLocked makes t, which will be injected, the mover of its entity.
func (p *Pool) startLocked(t *mover) {
	t.entity.Adopt(t, t.e.stage.Load(), true)
	if p.movers.of == nil {
		p.movers.of = make(map[*Entity]*mover)
	}
	p.movers.of[t.e] = t
}

// again replaces m by another mover on the entity's current stage.
func (p *Pool) again(m *mover) {
	p.movers.mu.Lock()
	t := &mover{claim: m.claim, gone: m.gone, e: m.e, to: m.to, free: m.free, told: m.told}
	p.startLocked(t)
	p.movers.mu.Unlock()
	p.Inject(&t.entity, nil)
}

// ends reports whether m has nothing to move, because the entity is already there or gone. If so, m is over.
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

// aim returns the final target of the entity; no Move changes it after that.
func (m *mover) aim(p *Pool) *Stage {
	p.movers.mu.Lock()
	defer p.movers.mu.Unlock()
	if m.to.IsClosed() {
		m.to = p.Spread()
	}
	m.settleLocked(p)
	return m.to
}

// settleLocked ends m's right to determine where the entity goes, and whether it stays there.
func (m *mover) settleLocked(p *Pool) {
	delete(p.movers.of, m.e)
	if m.free && !m.to.IsOwn() {
		m.e.Unpin()
	} else {
		m.e.Pin() // it may have been unpinned meanwhile
	}
}

// CollectInbox implements Task.
func (m *mover) CollectInbox(*Stage) bool { return !m.over }

// FinishDetached implements Task.
func (m *mover) FinishDetached(*Stage) bool { return !m.over }

// Claim implements Task.
func (m *mover) Claim() bool { return false }

// Name implements Task.
func (m *mover) Name() string { return "move of " + m.e.task.Name() }

// Turn implements Task.
func (m *mover) Turn(w *Worker) TurnResult {
	s, e := w.stage, m.e
	switch at := e.stage.Load(); {
	case m.ends(w.pool, at):
		return Idle
	case at != s: // it has been moved meanwhile
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

// idleOrLost returns Idle if the stage is still held, else Lost.
func idleOrLost(held bool) TurnResult {
	if held {
		return Idle
	}
	return Lost
}

// move moves the entity, which is not queued. The caller has the right to its next wake-up. It returns false if the stage
// was lost.
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
	if to.IsClosed() { // after aim's check: the scan that empties the stage may have missed e
		w.pool.Move(e, w.pool.Spread(), Moved{Claim: m.claim, Gone: m.gone, Free: m.free,
			Joins: func() bool { return false }, Done: func(bool) {}})
	}
	return w.lease.enter()
}

// takeMove removes and returns the mover that waits for e, or nil.
func (s *Stage) takeMove(e *Entity) *mover {
	if !e.is(moving) {
		return nil
	}
	m := s.moves[e]
	delete(s.moves, e)
	e.unset(moving)
	return m
}

// retryMove gives the mover of e, if any, another turn.
func (s *Stage) retryMove(e *Entity) {
	if m := s.takeMove(e); m != nil {
		s.Wake(&m.entity)
	}
}

// divert handles e, the next in the run queue, which is suspended or moving, instead of running a turn. It returns false if
// the stage was handed over.
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
