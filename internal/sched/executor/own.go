package executor

import (
	"iter"
	"slices"
)

// FirstOwn is the lowest number of a stage made by NewStage.
const FirstOwn = 1 << 16

// MaxStages is the maximum number of stages that entities are spread over, and of open stages made by NewStage.
const MaxStages = 1<<16 - 2

// Stages returns the number of stages that entities are spread over.
func (p *Pool) Stages() int { return len(*p.spreadOver.Load()) }

// Stage returns stage k of those, or nil.
func (p *Pool) Stage(k int) *Stage {
	if stages := *p.spreadOver.Load(); k >= 0 && k < len(stages) {
		return stages[k]
	}
	return nil
}

// target returns the stage for a number as stored in entities, that is plus 1, or nil if entities are not spread over it.
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

// SetStages makes the pool spread entities over n stages, 1 to MaxStages. Entities on removed stages stay there until the
// caller moves them, see Move. Those stages keep running until then, and are reused when the number grows.
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

// settleLocked takes every held stage from its worker. A worker inside its stage may be about to move an entity to a stage
// that was open when it checked, to balance the load: see Stage.gather. Afterwards all such moves are complete, and no
// others go to closed stages. Running handlers continue as detached turns.
func (p *Pool) settleLocked() {
	for s := range p.all() {
		if l := s.lease; l != nil {
			p.takeLocked(s, l)
			p.freeLocked(s)
		}
	}
	p.kickLocked()
}

// NewStage makes a stage that entities are put on only explicitly, neither by spreading nor to balance the load. Entities
// on it should be pinned. It returns nil if there are already MaxStages.
//
// An exclusive stage stays reserved for a long-running handler: no other entity of the stage runs before the handler
// returns, or declares that it will wait.
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

// Close prevents moves to a stage made by NewStage. Entities on it keep running. The creator of an entity should check
// IsClosed after others can find the entity.
func (s *Stage) Close() { s.closed.Store(true) }

// IsClosed reports whether entities should not be put on s.
func (s *Stage) IsClosed() bool { return s.closed.Load() }

// IsOwn reports whether NewStage has made s.
func (s *Stage) IsOwn() bool { return s.index < 0 }

// IsExclusive reports whether s is exclusive.
func (s *Stage) IsExclusive() bool { return s.exclusive }

// Rejoin is Unblock for a handler that started on an exclusive stage, so that no other entity of the stage runs
// concurrently with the rest of the handler. On other stages, and on nil, it does nothing.
func (w *Worker) Rejoin() {
	if w != nil && w.stage != nil && w.stage.exclusive {
		w.Unblock()
	}
}

// Forget removes a closed stage, made by NewStage, that has no entities.
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

// takeLocked takes s from the worker that holds it under l, without a request by its handler.
func (p *Pool) takeLocked(s *Stage, l *lease) {
	if e := p.revokeLocked(s); e != nil {
		p.detached[l] = e
		if s.exclusive {
			s.reserved = l
		}
	}
}

// unreserveLocked makes s available if it is reserved for the turn that lost l.
func (p *Pool) unreserveLocked(s *Stage, l *lease) {
	if s.reserved == nil || s.reserved != l {
		return
	}
	s.reserved = nil
	p.freeLocked(s)
	p.kickLocked()
}

// Pinned reports whether e stays on its stage.
func (e *Entity) Pinned() bool { return e.pinned.Load() }
