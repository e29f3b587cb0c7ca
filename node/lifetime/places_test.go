package lifetime_test

import (
	"runtime"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/internal/testkit"
	"github.com/actornode/actornode/internal/testkit/clustertest"
	"github.com/actornode/actornode/node"
	"github.com/actornode/actornode/node/lifetime"
	"github.com/actornode/actornode/node/migrate"
	"github.com/actornode/actornode/node/nodetest"
	"github.com/actornode/actornode/node/stage"
)

// A process with an owner moves from stage to stage as others do: its messages keep their order, its Owner keeps it,
// and it is collected on its current stage.
func TestMoveToStage(t *testing.T) {
	n := nodetest.Start(t, node.Config{Workers: 2, Stages: 4})
	made, err := stage.New(n, stage.Options{})
	require.NoError(t, err)
	places := []node.Place{{}, node.OnStage(0), made.Place(), node.OnStage(3)}
	var next, wrong atomic.Int64
	actor := node.ActorFunc(func(_ *node.Context, msg any) error {
		if next.Add(1) != msg.(int64) {
			wrong.Add(1)
		}
		return nil
	})
	const messages = 4000
	o := own(t, n, actor)
	pid := o.PID()
	for i := range int64(messages) {
		require.NoError(t, o.Send(n, i+1))
		if i%20 == 0 {
			require.NoError(t, stage.Move(n, pid, places[i/20%4]))
		}
		if i%500 == 0 {
			runtime.GC()
		}
	}
	require.NoError(t, stage.Move(n, pid, made.Place()))
	require.NoError(t, lifetime.Idle(testkit.Context(t), n))
	require.EqualValues(t, messages, next.Load())
	require.Zero(t, wrong.Load())
	survives(t, n, pid, "it has an owner")
	i, err := n.Info(pid)
	require.NoError(t, err)
	require.Equal(t, made.Number(), i.Stage)
	require.True(t, i.Owned)
	require.NoError(t, made.Close(testkit.Context(t), n), "it moves away")
	require.NoError(t, o.Send(n, int64(messages+1)))
	o = nil
	require.Equal(t, lifetime.Collected, collect(t, n, pid))
	require.EqualValues(t, messages+1, next.Load())
	require.Zero(t, wrong.Load())
}

// An ordered stage has a mailbox of its own for its actors.
func TestOrderedStage(t *testing.T) {
	n := nodetest.Start(t, node.Config{})
	ordered, err := stage.New(n, stage.Options{Ordered: true})
	require.NoError(t, err)
	_, err = lifetime.Own(n, &holder{}, node.Options{Place: ordered.Place()})
	require.ErrorIs(t, err, node.ErrArgument)
	require.ErrorContains(t, err, "a process with an owner has a mailbox of its own: it cannot be on an ordered stage")
	o := own(t, n, &holder{})
	require.ErrorIs(t, stage.Move(n, o.PID(), ordered.Place()), stage.ErrOrdered)
	survives(t, n, o.PID(), "it has an owner")
	runtime.KeepAlive(o)
}

// mover is an Actor that could move to another node.
type mover struct{ Sum int }

func (m *mover) Receive(c *node.Context, msg any) error {
	if r, ok := msg.(node.Request[int]); ok {
		m.Sum += r.Body
		return c.Reply(r.From, m.Sum)
	}
	return nil
}

func (m *mover) MoveOut(*node.Context) (any, error) { return m.Sum, nil }

func (m *mover) MoveIn(_ *node.Context, state any) error {
	m.Sum = state.(int)
	return nil
}

// A process with an owner cannot move to another node: it reports why, and goes on.
func TestMigrateRefuses(t *testing.T) {
	c := clustertest.NewCluster(t)
	begin := func(name string) *node.Node {
		n := c.Start(name)
		require.NoError(t, migrate.Start(t.Context(), n, migrate.Kind{Name: "mover", New: func() node.Actor { return new(mover) }}))
		return n
	}
	near, far := begin("near"), begin("far")
	free, err := near.Spawn(&mover{Sum: 1})
	require.NoError(t, err)
	moved, err := migrate.To(testkit.Context(t), near, free, far.Name())
	require.NoError(t, err, "without an owner it can")
	require.Equal(t, far.Name(), moved.Node())

	o := own(t, near, &mover{Sum: 1})
	pid := o.PID()
	_, err = migrate.To(testkit.Context(t), near, pid, far.Name())
	require.ErrorIs(t, err, migrate.ErrFixed)
	require.ErrorContains(t, err, "migrate: the process cannot move: it has an owner, which is of this node (lifetime.Own)")
	survives(t, near, pid, "it has an owner")
	sum, err := lifetime.Call[int](testkit.Context(t), near, o, 2)
	require.NoError(t, err)
	require.Equal(t, 3, sum)
	require.Equal(t, lifetime.Collected, collect(t, near, pid), "the refusal has left nothing that keeps it")
}
