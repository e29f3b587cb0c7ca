package runner

import (
	"errors"
	"fmt"

	"github.com/actornode/actornode/internal/kernel/process"
	"github.com/actornode/actornode/internal/sched/executor"
	"github.com/actornode/actornode/wire"
)

// Kind is how a Place names a stage.
type Kind uint8

const (
	Anywhere Kind = iota // the runtime chooses
	Number               // Place.Number
	Beside               // the stage of Place.PID
	Detached             // none: a goroutine of its own
	Own                  // Place.Stage
	Chosen               // the number that Place.Choose returns
)

// Place is where a process runs. It is comparable.
type Place struct {
	Kind   Kind
	Number int
	PID    wire.PID
	Stage  *executor.Stage
	Order  *Order                // of the stage, or nil if it is not ordered
	Choose *func(stages int) int // from 0 to stages-1
}

// The errors of moves. The first is also that of a spawn.
var (
	ErrClosed   = errors.New("stage: this stage is closed")
	ErrFull     = errors.New("stage: too many stages")
	ErrOffStage = errors.New("stage: the process has a goroutine or a scheduler of its own, or is detached")
	ErrOrdered  = errors.New("stage: this stage is ordered: what runs there is spawned there")
	ErrDetached = errors.New("stage: a process that runs cannot be detached")
)

// Home returns the stage that p names, for a process that is moved there or that a spawns. pinned reports that the process
// stays there. spread, which may be nil, chooses the stage for Anywhere.
func (p *Place) Home(a *process.Acting, spread func(parent wire.PID, stages int) int) (
	s *executor.Stage, pinned bool, err error) {
	pool := a.System.Pool
	switch p.Kind {
	case Number:
		s, err = numbered(pool, "OnStage", p.Number)
		return s, true, err
	case Chosen:
		s, err = numbered(pool, "the function of the Place returned stage ", (*p.Choose)(pool.Stages()))
		return s, true, err
	case Own:
		if p.Stage.IsClosed() {
			return nil, false, ErrClosed
		}
		return p.Stage, true, nil
	case Beside:
		s, err = beside(a.System, p.PID)
		return s, true, err
	}
	if a.Worker != nil {
		if s = a.Process.Stage(); !s.IsClosed() && (spread == nil || s.IsOwn()) {
			return s, s.IsOwn(), nil
		}
	}
	if spread != nil {
		s, err = numbered(pool, "Config.Spread returned stage ", spread(a.PID(), pool.Stages()))
		return s, true, err
	}
	return pool.Spread(), false, nil
}

// numbered returns stage k.
func numbered(pool *executor.Pool, who string, k int) (*executor.Stage, error) {
	if s := pool.Stage(k); s != nil {
		return s, nil
	}
	return nil, fmt.Errorf("%s(%d): want 0 to %d", who, k, pool.Stages()-1)
}

// beside returns the stage of a process, and pins the process there.
func beside(sys *process.System, pid wire.PID) (s *executor.Stage, err error) {
	q := sys.Lookup(pid)
	if q == nil {
		return nil, fmt.Errorf("Beside(%v): %w", pid, process.ErrNoProcess)
	}
	if !q.OnStage() {
		return nil, fmt.Errorf("Beside(%v): %w; put both on a stage of package stage instead", pid, ErrOffStage)
	}
	q.Pin()
	sys.Pool.Look(&q.Entity, func(int, bool, bool) { s = q.Stage() }) // with the stage held: it may have been moving
	return s, nil
}

// Started is called when q is in the table: its stage may have been closed meanwhile, after Evict has checked.
func Started(q *process.Process) {
	if q.OnStage() && q.Stage().IsClosed() {
		leaveStage(q, q.System.Pool.Spread(), executor.Moved{Joins: func() bool { return false }, Done: func(bool) {}})
	}
}

// Move moves a process to p, as soon as it is between two turns. It does not wait. With Anywhere the process leaves a created
// stage, and the runtime may move it again.
func (p *Place) Move(a *process.Acting, pid wire.PID) error {
	q := a.System.Lookup(pid)
	switch {
	case q == nil || q.Gone():
		return process.ErrNoProcess
	case !q.OnStage():
		return ErrOffStage
	case p.Kind == Detached:
		return ErrDetached
	case p.Order != nil && (q.Stage() != p.Stage || q.Stage().IsClosed()):
		return ErrOrdered
	case p.Kind == Anywhere:
		s := q.Stage()
		if s.IsOwn() {
			s = a.System.Pool.Spread()
		}
		carry(q, s, executor.Moved{Free: true, Done: func(bool) {}})
		return nil
	}
	s, _, err := p.Home(a, nil)
	if err == nil {
		carry(q, s, executor.Moved{Done: func(bool) {}})
	}
	return err
}

// leaveStage moves q, whose stage is closed, to s. If q was pinned to a stage of the pool, it stays pinned.
func leaveStage(q *process.Process, s *executor.Stage, m executor.Moved) {
	m.Free = !q.Stage().IsOwn() && !q.Pinned()
	carry(q, s, m)
}

// carry moves q to s: see executor.Pool.Move, whose argument it completes.
func carry(q *process.Process, s *executor.Stage, m executor.Moved) {
	m.Claim, m.Gone = q.Inbox.Claim, q.Gone
	q.System.Pool.Move(&q.Entity, s, m)
}
