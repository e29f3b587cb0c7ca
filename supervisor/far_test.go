package supervisor_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/internal/testkit"
	"github.com/actornode/actornode/internal/testkit/clustertest"
	"github.com/actornode/actornode/node"
	"github.com/actornode/actornode/node/rpc"
	"github.com/actornode/actornode/supervisor"
	"github.com/actornode/actornode/wire"
)

// A supervisor on another node answers like one on this node.
func TestFarSupervisor(t *testing.T) {
	c := clustertest.NewCluster(t)
	here, there := c.Start("here"), c.Start("there")
	ctx := testkit.Context(t)
	require.NoError(t, rpc.ExportBehaviour(there, wire.Export{Module: "shop", Function: "till", Arity: 1},
		func(args []any) (node.Actor, error) {
			if args[0] == 0 {
				return nil, node.ExitWith(node.Atom("empty"))
			}
			return node.ActorFunc(func(*node.Context, any) error { return nil }), nil
		}))
	till := supervisor.Child{ID: node.Atom("till"), Restart: supervisor.Transient, Shutdown: time.Second, Modules: []wire.Atom{"shop"},
		Named: supervisor.Named{Module: "shop", Function: "till", Args: []any{7}}}
	sup, err := supervisor.Start(ctx, there, supervisor.Spec{}, node.Options{})
	require.NoError(t, err)

	pid, err := supervisor.StartChild(ctx, here, sup, till)
	require.NoError(t, err)
	assert.Equal(t, there.Name(), pid.Node())
	_, err = supervisor.StartChild(ctx, here, sup, till)
	assert.Equal(t, &supervisor.AlreadyStartedError{PID: pid}, err)
	all, err := supervisor.WhichChildren(ctx, here, sup)
	require.NoError(t, err)
	assert.Equal(t, []supervisor.ChildInfo{{ID: node.Atom("till"), PID: pid, Type: supervisor.Worker, Modules: []wire.Atom{"shop"}}}, all)
	counts, err := supervisor.CountChildren(ctx, here, sup)
	require.NoError(t, err)
	assert.Equal(t, supervisor.Counts{Specs: 1, Active: 1, Workers: 1}, counts)
	spec, err := supervisor.ChildSpec(ctx, here, sup, node.Atom("till"))
	require.NoError(t, err)
	assert.Equal(t, till.Named, spec.Named)
	assert.Equal(t, till.Restart, spec.Restart)
	assert.Equal(t, till.Shutdown, spec.Shutdown)

	_, err = supervisor.RestartChild(ctx, here, sup, node.Atom("till"))
	assert.Equal(t, supervisor.ErrRunning, err)
	assert.Equal(t, supervisor.ErrRunning, supervisor.DeleteChild(ctx, here, sup, node.Atom("till")))
	require.NoError(t, supervisor.TerminateChild(ctx, here, sup, node.Atom("till")))
	_, err = supervisor.StartChild(ctx, here, sup, till)
	assert.Equal(t, supervisor.ErrAlreadyPresent, err)
	pid, err = supervisor.RestartChild(ctx, here, sup, node.Atom("till"))
	require.NoError(t, err)
	assert.True(t, there.IsAlive(pid))
	require.NoError(t, supervisor.TerminateChild(ctx, here, sup, node.Atom("till")))
	require.NoError(t, supervisor.DeleteChild(ctx, here, sup, node.Atom("till")))
	assert.Equal(t, supervisor.ErrNotFound, supervisor.DeleteChild(ctx, here, sup, node.Atom("till")))

	bad := till
	bad.Named.Args = []any{0}
	_, err = supervisor.StartChild(ctx, here, sup, bad)
	var failed *supervisor.StartError
	require.ErrorAs(t, err, &failed)
	till.Start = func(...any) (node.Actor, error) { return nil, nil }
	_, err = supervisor.StartChild(ctx, here, sup, till)
	require.ErrorContains(t, err, "child till: Start does not go to a supervisor on another node")
	_, err = supervisor.StartDynamic(ctx, here, sup, 1)
	require.ErrorAs(t, err, &failed)

	simple, err := supervisor.Start(ctx, there, supervisor.Spec{Strategy: supervisor.SimpleOneForOne, Children: []supervisor.Child{
		{ID: "till", Named: supervisor.Named{Module: "shop", Function: "till"}}}}, node.Options{})
	require.NoError(t, err)
	pid, err = supervisor.StartDynamic(ctx, here, simple, 7)
	require.NoError(t, err)
	require.NoError(t, supervisor.TerminateChild(ctx, here, simple, pid))
	_, err = supervisor.StartDynamic(ctx, here, simple, 0)
	require.ErrorAs(t, err, &failed)
}

// Requests like those of Elixir's DynamicSupervisor.start_child: children without IDs, which are forgotten when they
// stop.
func TestChildrenWithoutID(t *testing.T) {
	cluster := clustertest.NewCluster(t)
	far := cluster.StartWith("far", node.Distribution{Access: node.Access{Allow: func(node.Atom, wire.Export) bool { return true }}})
	near := cluster.Start("near")
	require.NoError(t, rpc.ExportBehaviour(far, wire.Export{Module: "m", Function: "f"}, func([]any) (node.Actor, error) {
		return node.ActorFunc(func(_ *node.Context, m any) error { return node.ExitWith(m) }), nil
	}))
	ctx := testkit.Context(t)
	top, err := supervisor.Start(ctx, far, supervisor.Spec{Intensity: 10}, node.Options{})
	require.NoError(t, err)
	ask := func(what ...any) any {
		v, err := node.Call[any](ctx, near, top, any(wire.Tuple(what)))
		require.NoError(t, err)
		return v
	}
	start := func(restart wire.Atom) any {
		return ask(wire.Atom("start_child"), wire.Tuple{wire.Tuple{wire.Atom("m"), wire.Atom("f"), wire.List{}}, restart, 5000,
			wire.Atom("worker"), wire.List{wire.Atom("m")}})
	}
	count := func() int {
		c, err := supervisor.CountChildren(ctx, far, top)
		require.NoError(t, err)
		return c.Specs
	}
	var all []node.PID
	for _, restart := range []wire.Atom{"temporary", "transient", "permanent"} {
		all = append(all, start(restart).(wire.Tuple)[1].(node.PID))
	}
	require.Equal(t, 3, count())
	children, err := supervisor.WhichChildren(ctx, far, top)
	require.NoError(t, err)
	for _, k := range children {
		require.Nil(t, k.ID)
	}
	require.Equal(t, wire.Tuple{wire.AtomError, wire.Tuple{wire.Atom("invalid_restart_type"), wire.Atom("never")}}, start("never"))

	require.NoError(t, near.Send(all[0], wire.Atom("normal")))
	require.NoError(t, near.Send(all[1], wire.Atom("normal")))
	testkit.UntilTrue(t, func() bool { return count() == 1 }, "those that do not come back are forgotten")
	require.NoError(t, near.Send(all[2], wire.Atom("normal")))
	testkit.UntilTrue(t, func() bool {
		children, err := supervisor.WhichChildren(ctx, far, top)
		require.NoError(t, err)
		return len(children) == 1 && !children[0].PID.IsZero() && children[0].PID != all[2]
	}, "the permanent one comes back")
	children, _ = supervisor.WhichChildren(ctx, far, top)
	require.Equal(t, wire.AtomOK, ask(wire.Atom("terminate_child"), children[0].PID))
	require.Equal(t, wire.Tuple{wire.AtomError, wire.Atom("not_found")}, ask(wire.Atom("terminate_child"), children[0].PID))
	require.Zero(t, count())
}
