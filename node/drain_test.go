package node_test

import (
	"context"
	"fmt"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/internal/kernel/process"
	"github.com/actornode/actornode/internal/testkit"
	"github.com/actornode/actornode/internal/testkit/clustertest"
	"github.com/actornode/actornode/node"
	"github.com/actornode/actornode/node/rpc"
	"github.com/actornode/actornode/wire"
)

// A node that is being drained starts nothing and calls no function for others; its processes go on, and so do its own
// spawns.
func TestDrain(t *testing.T) {
	a, b, self, _ := two(t)
	require.NoError(t, rpc.ExportBehaviour(b, wire.Export{Module: "demo", Function: "echo"}, func([]any) (node.Actor, error) {
		return node.ActorFunc(echo), nil
	}))
	require.NoError(t, rpc.Export(b, wire.Export{Module: "demo", Function: "one"}, func(context.Context, []any) (any, error) {
		return 1, nil
	}))
	pid, err := rpc.Spawn(testkit.Context(t), self, b.Name(), "demo", "echo")
	require.NoError(t, err)
	assert.False(t, b.Stats().Draining)
	b.Drain()
	assert.True(t, b.Stats().Draining)

	_, err = rpc.Spawn(testkit.Context(t), self, b.Name(), "demo", "echo")
	var refused *rpc.SpawnError
	require.ErrorAs(t, err, &refused)
	assert.Equal(t, node.Atom("system_limit"), refused.Reason)
	_, err = rpc.Call[any](testkit.Context(t), a, b.Name(), "demo", "one")
	require.Error(t, err)
	assert.Contains(t, err.Error(), "system_limit")
	rex, err := node.Call[any](testkit.Context(t), self, node.At{Name: "rex", Node: b.Name()},
		wire.Tuple{node.Atom("block_call"), node.Atom("demo"), node.Atom("one"), wire.List{}, self.Self()})
	require.NoError(t, err)
	assert.Equal(t, wire.Tuple{node.Atom("badrpc"), wire.Tuple{node.Atom("EXIT"), node.Atom("system_limit")}}, rex)

	v, err := node.Call[int](testkit.Context(t), self, pid, 3)
	require.NoError(t, err)
	assert.Equal(t, 3, v)
	_, err = b.Spawn(node.ActorFunc(echo))
	require.NoError(t, err)
	require.NoError(t, b.Ping(testkit.Context(t), a.Name()))
}

// A node that is short of memory starts nothing for others and accepts eight connections a second from its own machine;
// its processes go on, and all is as before when the shortage is over.
func TestShed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := clustertest.NewMemoryCluster(t)
		a, b := c.Start("a"), c.Start("b")
		require.NoError(t, rpc.Export(b, wire.Export{Module: "demo", Function: "one"}, func(context.Context, []any) (any, error) {
			return 1, nil
		}))
		one := func() error {
			v, err := rpc.Call[int](testkit.Context(t), a, b.Name(), "demo", "one")
			if err == nil {
				require.Equal(t, 1, v)
			}
			return err
		}
		require.NoError(t, one())
		b.Inside(process.Key{}).Shed(true)
		require.ErrorContains(t, one(), "system_limit")
		require.NoError(t, b.Ping(testkit.Context(t), a.Name()), "the connection stays")
		on, spawns := b.Inside(process.Key{}).Shedding()
		require.True(t, on)
		require.NotZero(t, spawns)

		var err error
		others := 0
		for ; err == nil; others++ { // no second passes in the bubble
			require.LessOrEqual(t, others, 8, "all are let in")
			err = c.Start(fmt.Sprint("other", others)).Connect(testkit.Context(t), b.Name())
		}
		require.ErrorContains(t, err, "not let in")
		_, refused := b.Inside(process.Key{}).Shedding()
		require.Greater(t, refused, spawns)

		b.Inside(process.Key{}).Shed(false)
		require.NoError(t, one())
		require.NoError(t, c.Start("last").Connect(testkit.Context(t), b.Name()))
		require.False(t, b.Stats().Draining)
	})
}
