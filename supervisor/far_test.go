package supervisor_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/internal/nodetest"
	"github.com/actornode/actornode/internal/testkit"
	"github.com/actornode/actornode/node"
	"github.com/actornode/actornode/node/rpc"
	"github.com/actornode/actornode/supervisor"
	"github.com/actornode/actornode/wire"
)

// A supervisor on another node answers as one on this node does.
func TestFarSupervisor(t *testing.T) {
	c := nodetest.NewCluster(t)
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
