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
	// Exclusive keeps the stage for a handler that runs longer than others, where the node would let a neighbour
	// run beside it. It is for actors that share what is not safe for concurrent use.
	Exclusive bool
	// Ordered has the actors of the stage handle their messages in the order in which those were sent, one at a time,
	// as if they had one mailbox together. It implies Exclusive.
	Ordered bool
}

// Stage is a stage that a program has made.
type Stage struct {
	place runner.Place
	pool  *executor.Pool
}

// New makes a stage of a node. Errors: ErrTooMany.
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

// Place is where a process is to be spawned, or moved to: on s. On a stage that is closed spawns fail with
// node.ErrBadOption and ErrClosed.
func (s *Stage) Place() node.Place { return place(s.place) }

// Number is what Info calls the stage: 65,536 or more.
func (s *Stage) Number() int { return s.place.Stage.Index() }

// Close ends the stage: nothing is spawned or moved there any more, and what lives there moves to a stage of the node,
// all to the same one, where it stays: see Move. It returns when that is done. The process that calls, from,
// moves when its handler is over. If ctx ends before, for a handler that goes on, say, its cause is the error; the stage
// is closed all the same, and what is left moves then. A stage can be closed more than once.
func (s *Stage) Close(ctx context.Context, from node.Caller) error {
	s.place.Stage.Close()
	err := evict(ctx, from, func(t *executor.Stage) bool { return t == s.place.Stage })
	if err == nil {
		s.pool.Forget(s.place.Stage)
	}
	return err
}

// evict moves what is on closed stages.
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

// SetCount changes the number of the node's own stages, node.Config.Stages, to 1 to 65,534. Of fewer, those with
// the highest numbers are closed as by Close: what lives there moves. Those that come are used by the next
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

// Move moves a process of from's node to another place, between two of its turns: messages that wait go along, those
// that are sent meanwhile reach it, and all keep their order. It does not wait: the process may have some more turns
// where it is. At the new place it stays; the zero Place lets the node choose, and balance the load, from
// now on. Of two moves the later counts. Errors: node.ErrNoProcess; ErrOffStage; ErrClosed; ErrOrdered; ErrDetached; of a
// number that there is not.
func Move(from node.Caller, pid node.PID, to node.Place) error {
	p := to.Inside(process.Key{})
	if err := p.Move(acting(from), pid); err != nil {
		return fmt.Errorf("stage: move of %v: %w", pid, err)
	}
	return nil
}

// By is the stage whose number f returns, from 0 to stages-1, when a process is spawned or moved there; of
// another number the spawn fails with node.ErrBadOption. f should not block.
func By(f func(stages int) int) node.Place {
	return place(runner.Place{Kind: runner.Chosen, Choose: &f})
}

// Hash is the stage that a hash of key says: that of all with the same key, as long as the number of stages does not
// change.
func Hash(key string) node.Place {
	h := fnv.New64a()
	h.Write([]byte(key))
	k := h.Sum64()
	return By(func(stages int) int { return int((k ^ k>>32) % uint64(stages)) })
}

func init() { values.Enter(ErrClosed, ErrTooMany, ErrOffStage, ErrOrdered, ErrDetached) }

func place(p runner.Place) node.Place { return node.PlaceOf(process.Key{}, p) }

func acting(from node.Caller) *process.Acting { return from.Inside(process.Key{}).Acting() }
