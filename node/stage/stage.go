package stage

import (
	"context"
	"fmt"
	"hash/fnv"

	"github.com/actornode/actornode/internal/cause"
	"github.com/actornode/actornode/internal/kernel/process"
	"github.com/actornode/actornode/internal/kernel/runner"
	"github.com/actornode/actornode/internal/kernel/values"
	"github.com/actornode/actornode/internal/sched/executor"
	"github.com/actornode/actornode/node"
)

// Errors of this package; callers compare them with errors.Is.
var (
	ErrClosed   = runner.ErrClosed   // the stage is closed
	ErrTooMany  = runner.ErrFull     // there are as many stages as there can be
	ErrOffStage = runner.ErrOffStage // the process does not run on a stage
	ErrOrdered  = runner.ErrOrdered  // a process was to be moved to an ordered stage
	ErrDetached = runner.ErrDetached // a process was to be moved to Detached
)

// Options of a Stage. The zero value works.
type Options struct {
	// Exclusive keeps the stage for a handler that runs for long, where the node would otherwise let a neighbour
	// run beside it. It is for actors that share data that is not safe for concurrent use.
	Exclusive bool
	// Ordered makes the actors of the stage handle their messages in the order in which they were sent, one at a time,
	// as if they shared one mailbox. It implies Exclusive.
	Ordered bool
}

// Stage is a stage that a program has made.
type Stage struct {
	place runner.Place
	pool  *executor.Pool
}

// New makes a stage on a node. Errors: ErrTooMany.
func New(n *node.Node, o Options) (*Stage, error) {
	pool := acting(n).System.Pool
	s := &Stage{pool: pool, place: runner.Place{Kind: runner.Own, Stage: pool.NewStage(o.Exclusive || o.Ordered)}}
	if s.place.Stage == nil {
		return nil, ErrTooMany
	}
	if o.Ordered {
		s.place.Order = new(runner.Order)
	}
	return s, nil
}

// Place returns the place to spawn a process on s, or to move it there. On a closed stage spawns fail with
// node.ErrArgument and ErrClosed.
func (s *Stage) Place() node.Place { return place(s.place) }

// Number returns the number of the stage in Info: 65,536 or more.
func (s *Stage) Number() int { return s.place.Stage.Index() }

// Close ends the stage: no process can be spawned or moved there any more, and all living ones move to the same stage of
// the node, where they stay: see Move. It returns when they have moved. The calling process, from,
// moves when its handler is over. If ctx ends before that, because a handler goes on, say, Close returns its cause; the
// stage is closed all the same, and the remaining processes move later. A stage can be closed more than once.
func (s *Stage) Close(ctx context.Context, from node.Caller) error {
	s.place.Stage.Close()
	err := evict(ctx, from, func(t *executor.Stage) bool { return t == s.place.Stage })
	if err == nil {
		s.pool.Forget(s.place.Stage)
	}
	return err
}

// evict moves the processes of closed stages.
func evict(ctx context.Context, from node.Caller, closed func(*executor.Stage) bool) (err error) {
	a := acting(from)
	wait := func() { err = runner.Evict(ctx, a, closed) }
	if a.Process == nil {
		wait()
	} else {
		runner.Aside(a, wait)
	}
	return err
}

// SetCount changes the number of the node's own stages, node.Config.Stages, to 1 to 65,534. If it shrinks, the stages
// with the highest numbers are closed as by Close: their processes move. New stages are used by later
// spawns, and by actors that are moved to balance the load.
func SetCount(ctx context.Context, from node.Caller, count int) error {
	if count < 1 || count > executor.MaxStages {
		return fmt.Errorf("stage: SetCount(%d): want 1 to %d", count, executor.MaxStages)
	}
	if err := cause.Of(ctx); err != nil {
		return err
	}
	acting(from).System.Pool.SetStages(count)
	return evict(ctx, from, func(s *executor.Stage) bool { return !s.IsOwn() && s.IsClosed() })
}

// Move moves a process of from's node to another place, between two of its turns: waiting messages go along, those
// sent meanwhile reach it, and all keep their order. It does not wait: the process may have some more turns
// where it is. It stays at the new place; with the zero Place, the node chooses and balances the load from
// now on. Of two moves the later counts. Errors: node.ErrNoProcess; ErrOffStage; ErrClosed; ErrOrdered; ErrDetached; one
// for a number that does not exist.
func Move(from node.Caller, pid node.PID, to node.Place) error {
	p := to.Inside(process.Key{})
	if err := p.Move(acting(from), pid); err != nil {
		return fmt.Errorf("stage: move of %v: %w", pid, err)
	}
	return nil
}

// By places a process on the stage whose number f returns, from 0 to stages-1, when it is spawned or moved. With
// another number the spawn fails with node.ErrArgument. f should not block.
func By(f func(stages int) int) node.Place {
	return place(runner.Place{Kind: runner.Chosen, Choose: &f})
}

// Hash places a process on a stage by a hash of key: the same stage for the same key, as long as the number of stages
// does not change.
func Hash(key string) node.Place {
	h := fnv.New64a()
	h.Write([]byte(key))
	k := h.Sum64()
	return By(func(stages int) int { return int((k ^ k>>32) % uint64(stages)) })
}

func init() { values.Enter(ErrClosed, ErrTooMany, ErrOffStage, ErrOrdered, ErrDetached) }

func place(p runner.Place) node.Place { return node.PlaceOf(process.Key{}, p) }

func acting(from node.Caller) *process.Acting { return from.Inside(process.Key{}).Acting() }
