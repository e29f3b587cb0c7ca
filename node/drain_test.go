package node_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/node"
	"github.com/actornode/actornode/wire"
)

// A node that is being drained starts and calls nothing for others; what runs
// there goes on, and so do its own spawns.
func TestDrain(t *testing.T) {
	a, b, self, _ := two(t)
	require.NoError(t, b.ExportBehaviour(wire.Export{Module: "demo", Function: "echo"}, func([]any) (node.Actor, error) {
		return node.ActorFunc(echo), nil
	}))
	require.NoError(t, b.ExportFunction(wire.Export{Module: "demo", Function: "one"}, func(context.Context, []any) (any, error) {
		return 1, nil
	}))
	pid, err := node.SpawnAt(soon(t), self, b.Name(), "demo", "echo")
	require.NoError(t, err)
	assert.False(t, b.Draining())
	b.Drain()
	assert.True(t, b.Draining())

	_, err = node.SpawnAt(soon(t), self, b.Name(), "demo", "echo")
	var refused *node.SpawnError
	require.ErrorAs(t, err, &refused)
	assert.Equal(t, node.Atom("system_limit"), refused.Reason)
	_, err = node.RPC[any](soon(t), a, b.Name(), "demo", "one")
	require.Error(t, err)
	assert.Contains(t, err.Error(), "system_limit")
	rex, err := node.Call[any](soon(t), self, node.At{Name: "rex", Node: b.Name()},
		wire.Tuple{node.Atom("block_call"), node.Atom("demo"), node.Atom("one"), wire.List{}, self.Self()})
	require.NoError(t, err)
	assert.Equal(t, wire.Tuple{node.Atom("badrpc"), wire.Tuple{node.Atom("EXIT"), node.Atom("system_limit")}}, rex)

	v, err := node.Call[int](soon(t), self, pid, 3)
	require.NoError(t, err)
	assert.Equal(t, 3, v)
	_, err = b.Spawn(node.ActorFunc(echo))
	require.NoError(t, err)
	require.NoError(t, b.Ping(soon(t), a.Name()))
}
