package admin_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/internal/daemon/admin"
	"github.com/actornode/actornode/internal/kernel/process"
	"github.com/actornode/actornode/internal/testkit"
	"github.com/actornode/actornode/internal/testkit/clustertest"
	"github.com/actornode/actornode/node"
	"github.com/actornode/actornode/node/nodetest"
	"github.com/actornode/actornode/node/rpc"
	"github.com/actornode/actornode/wire"
)

// What the service starts and registers for an operator counts against the operator's node.
func TestOperatorHolds(t *testing.T) {
	f := new(clustertest.Places)
	far := nodetest.Start(t, node.Config{Name: "far@127.0.0.1",
		Distribution: &node.Distribution{Cookie: "secret", Finder: f,
			Limits: node.Limits{Cluster: node.ClusterLimits{Spawned: 3, Names: 2}}}})
	ops, other := startNode(t, f, "ops"), startNode(t, f, "other")
	ctx := testkit.Context(t)
	require.NoError(t, admin.Start(ctx, far, admin.Config{}))
	require.NoError(t, rpc.ExportBehaviour(far, wire.Export{Module: "m", Function: "f"},
		func([]any) (node.Actor, error) { return node.ActorFunc(echo), nil }))
	for _, from := range []*node.Node{ops, other} {
		require.NoError(t, from.Connect(ctx, far.Name()))
		from.Inside(process.Key{}).Release(far.Name()) // asking for it takes a process, too
	}
	spawn := func(from *node.Node, name node.Atom) (node.PID, error) {
		return admin.Spawn(ctx, from, far.Name(), "m", "f", nil, name)
	}
	target := func() node.PID {
		pid, err := far.Spawn(node.ActorFunc(echo))
		require.NoError(t, err)
		return pid
	}
	one, err := spawn(ops, "one")
	require.NoError(t, err)
	_, err = admin.Register(ctx, ops, far.Name(), "two", target())
	require.NoError(t, err)
	_, err = admin.Register(ctx, ops, far.Name(), "three", target())
	require.ErrorIs(t, err, node.ErrTooMany)
	_, err = spawn(ops, "three")
	require.ErrorIs(t, err, node.ErrTooMany, "its names")
	for range 2 {
		_, err = spawn(ops, "")
		require.NoError(t, err)
	}
	_, err = spawn(ops, "")
	require.ErrorIs(t, err, node.ErrTooMany)
	assert.ErrorContains(t, err, "ops@127.0.0.1 has started its limit of 3 processes")
	for _, who := range []*node.Node{other, far} {
		_, err = spawn(who, "")
		require.NoError(t, err, "others have their own share, and the node itself none")
	}
	far.Exit(one, node.Kill)
	_, err = spawn(ops, "one")
	require.NoError(t, err)
}
