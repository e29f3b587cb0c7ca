package global_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/internal/testkit"
	"github.com/actornode/actornode/node"
	"github.com/actornode/actornode/node/global"
	"github.com/actornode/actornode/node/nodetest"
	"github.com/actornode/actornode/node/rpc"
	"github.com/actornode/actornode/wire"
)

// Ask global_group what a search from another node asks.
func TestGroup(t *testing.T) {
	c := newCluster(t)
	a, b := c.start("a"), c.start("b")
	ctx := testkit.Context(t)
	c.connect(b, a.Name())
	pid := sleeper(t, a)
	require.NoError(t, global.Register(ctx, a, "name", pid, global.Options{}))
	self := nodetest.NewProbe(t, b)
	to := node.At{Name: "global_group", Node: a.Name()}
	ask := func(body ...any) any {
		require.NoError(t, self.Send(to, wire.Tuple{node.Atom("$gen_cast"), wire.Tuple(body)}))
		return self.Receive()
	}
	assert.Equal(t, wire.Tuple{node.Atom("find_name_res"), pid}, ask(node.Atom("find_name"), self.Self(), "name"))
	assert.Equal(t, wire.Tuple{node.Atom("find_name_res"), wire.AtomUndefined}, ask(node.Atom("find_name"), self.Self(), "none"))
	v, err := node.Call[any](ctx, b, to, node.Atom("own_nodes"))
	require.NoError(t, err)
	assert.Equal(t, wire.List{a.Name(), b.Name()}, v)
}

// Bring a node into a cluster and out of it, from another node.
func TestConnectByRPC(t *testing.T) {
	c := newCluster(t)
	a, b, ops := c.start("a"), c.start("b"), c.Start("ops")
	call := func(module, function node.Atom, args ...any) any {
		v, err := rpc.Call[any](testkit.Context(t), ops, a.Name(), module, function, args...)
		require.NoError(t, err)
		return v
	}
	assert.Equal(t, node.Atom("pang"), call("net_adm", "ping", node.Atom("nobody@127.0.0.1")))
	assert.Equal(t, node.Atom("pong"), call("net_adm", "ping", a.Name()))
	assert.Equal(t, false, call("erlang", "disconnect_node", b.Name()))
	assert.Equal(t, true, call("net_kernel", "connect_node", b.Name()))
	c.mesh(nil, a, b)
	assert.Equal(t, true, call("erlang", "disconnect_node", b.Name()))
	c.mesh(nil, a)
	_, err := rpc.Call[any](testkit.Context(t), ops, a.Name(), "net_adm", "ping", "a string")
	assert.Error(t, err)
}
