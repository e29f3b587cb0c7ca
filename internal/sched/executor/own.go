package executor

import (
	"iter"
	"slices"
)

// FirstOwn is the least number of a stage that NewStage has made.
const FirstOwn = 1 << 16

// MaxStages is how many stages entities can be spread over, and how many NewStage makes that are open
// at a time.
const MaxStages = 1<<16 - 2

// Stages returns the number of stages that entities are spread over.
func (p *Pool) Stages() int { return len(*p.spreadOver.Load()) }

// Stage returns stage k of those; nil: there is none.
func (p *Pool) Stage(k int) *Stage {
	if stages := *p.spreadOver.Load(); k >= 0 && k < len(stages) {
		return stages[k]
	}
	return nil
}

// target returns the stage with a number as entities have it, that is plus 1; nil: none is spread over.
func (p *Pool) target(k uint16) *Stage { return p.Stage(int(k) - 1) }

// all yields all stages that may be held. The caller holds p.mu.
func (p *Pool) all() iter.Seq[*Stage] {
	return func(yield func(*Stage) bool) {
		for _, some := range [...][]*Stage{p.stages, p.own} {
			for _, s := range some {
				if !yield(s) {
					return
				}
			}
		}
	}
}

// SetStages has entities be spread over n stages, 1 to MaxStages, from now on. Those on stages that are
// none of them any more stay: whoever knows them moves them, see Move. The stages go on until then, and
// are used again when there are to be more.
func (p *Pool) SetStages(n int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	stages := slices.Clone(p.stages)
	for i := len(stages); i < n; i++ {
		stages = append(stages, &Stage{pool: p, index: i, number: int32(i)})
	}
	for i, s := range stages {
		s.closed.Store(i >= n)
	}
	first := stages[:n:n]
	p.stages = stages
	p.spreadOver.Store(&first)
	p.settleLocked()
}

// settleLocked takes every stage that is held from its worker. A worker that is inside its stage may be about to put an
// entity on a stage that was open when it looked, to balance the load: see Stage.gather. Afterwards all such entities
// are where they go, and others do not go to stages that are closed. Handlers that run go on, as detached turns.
func (p *Pool) settleLocked() {
	for s := range p.all() {
		if l := s.lease; l != nil {
			p.takeLocked(s, l)
			p.freeLocked(s)
		}
	}
	p.kickLocked()
}

// NewStage makes a stage that nothing is put on but what asks for it: nothing is spread over it, or
// moved there to balance the load. What is on it should be pinned. It returns nil if there are
// MaxStages already.
//
// An exclusive stage is kept for a handler that runs longer than others: no other
// entity of the stage has a turn before the handler returns, or says that it will wait.
func (p *Pool) NewStage(exclusive bool) *Stage {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.own) >= MaxStages {
		return nil
	}
	s := &Stage{pool: p, index: -1, number: FirstOwn + p.made, exclusive: exclusive, at: len(p.own)}
	p.made++
	p.own = append(p.own, s)
	return s
}

// Close has nothing be moved to a stage that NewStage has made. What is on it goes on. Whoever makes an entity should look
// at IsClosed when others can find the entity.
func (s *Stage) Close() { s.closed.Store(true) }

// IsClosed reports whether entities should not be put on s.
func (s *Stage) IsClosed() bool { return s.closed.Load() }

// IsOwn reports whether NewStage has made s.
func (s *Stage) IsOwn() bool { return s.index < 0 }

// IsExclusive reports whether s is exclusive.
func (s *Stage) IsExclusive() bool { return s.exclusive }

// Rejoin is Unblock where the handler has begun on an exclusive stage: no other of the stage runs beside the rest of
// the handler. Elsewhere, and on nil, it does nothing.
func (w *Worker) Rejoin() {
	if w != nil && w.stage != nil && w.stage.exclusive {
		w.Unblock()
	}
}

// Forget ends a stage that NewStage has made, that is closed, and that nothing is on any more.
func (p *Pool) Forget(s *Stage) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if s.at >= len(p.own) || p.own[s.at] != s {
		return // it has been forgotten already
	}
	last := len(p.own) - 1
	p.own[s.at] = p.own[last]
	p.own[s.at].at = s.at
	p.own[last] = nil
	p.own = p.own[:last]
}

// takeLocked takes s from the worker that holds it under l, though its handler has not asked for that.
func (p *Pool) takeLocked(s *Stage, l *lease) {
	if e := p.revokeLocked(s); e != nil {
		p.detached[l] = e
		if s.exclusive {
			s.reserved = l
		}
	}
}

// unreserveLocked makes s available if it is kept for the turn that lost l.
func (p *Pool) unreserveLocked(s *Stage, l *lease) {
	if s.reserved == nil || s.reserved != l {
		return
	}
	s.reserved = nil
	p.freeLocked(s)
	p.kickLocked()
}

// Pinned reports whether e stays on the stage that it is on.
func (e *Entity) Pinned() bool { return e.pinned.Load() }
