package node_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/node"
	"github.com/actornode/actornode/wire"
)

func TestNodeUp(t *testing.T) {
	c := newCluster(t)
	a, b := c.start("a"), c.start("b")
	self, err := a.Open()
	require.NoError(t, err)
	defer self.Close(nil)
	gone, err := a.Open()
	require.NoError(t, err)
	gone.MonitorNodes(true)
	gone.Close(nil)
	self.MonitorNodes(true)
	self.MonitorNodes(true) // once
	b.Send(self.Self(), "hello")
	up := node.NodeUp{Node: b.Name(), Hidden: true}
	assert.Equal(t, up, self.Receive(), "before what the node sends")
	assert.Equal(t, "hello", self.Receive())
	assert.Equal(t, wire.Tuple{wire.Atom("nodeup"), b.Name()}, up.Term())

	self.MonitorNode(b.Name())
	a.Disconnect(b.Name())
	assert.IsType(t, node.NodeDown{}, self.Receive())
	require.NoError(t, a.Connect(soon(t), b.Name()))
	assert.Equal(t, up, self.Receive())
	self.MonitorNodes(false)
	a.Disconnect(b.Name())
	require.NoError(t, a.Connect(soon(t), b.Name()))
	_, err = self.ReceiveWithin(0, nil)
	require.ErrorIs(t, err, node.ErrTimeout)
}

// What does not connect: SendConnected and MonitorConnected.
func TestConnectedOnly(t *testing.T) {
	a, b, self, remote := two(t)
	at := node.At{Name: "echo", Node: b.Name()}
	do := func(f func(c *node.Context) any) any {
		t.Helper()
		pid, err := a.Spawn(node.ActorFunc(func(c *node.Context, msg any) error {
			if r, ok := msg.(node.Request[int]); ok {
				return r.Reply(f(c))
			}
			return self.Node().Send(self.Self(), msg)
		}))
		require.NoError(t, err)
		v, err := node.Call[any](soon(t), a, pid, 1)
		require.NoError(t, err)
		return v
	}
	send := func(c *node.Context) any {
		msg := wire.Tuple{self.Self(), 1}
		return []error{node.SendConnected(c, remote, msg), node.SendConnected(c, at, msg)}
	}
	watch := func(c *node.Context) any {
		return []node.Ref{node.MonitorConnected(c, remote), node.MonitorConnected(c, at)}
	}
	for _, err := range do(send).([]error) {
		require.ErrorIs(t, err, node.ErrNotHere)
	}
	refs := do(watch).([]node.Ref)
	assert.Equal(t, node.Down{Ref: refs[0], PID: remote, Reason: node.NoConnection}, self.Receive())
	assert.Equal(t, node.Down{Ref: refs[1], Name: "echo", Node: b.Name(), Reason: node.NoConnection}, self.Receive())
	assert.Empty(t, a.Nodes(true))

	require.NoError(t, a.Connect(soon(t), b.Name()))
	assert.Equal(t, []error{nil, nil}, do(send))
	assert.Equal(t, wire.Tuple{remote, 1}, self.Receive())
	assert.Equal(t, wire.Tuple{remote, 1}, self.Receive())
	refs = do(watch).([]node.Ref)
	self.Send(remote, node.Atom("bye"))
	got := []any{self.Receive(), self.Receive()}
	assert.ElementsMatch(t, []any{node.Down{Ref: refs[0], PID: remote, Reason: node.Atom("bye")},
		node.Down{Ref: refs[1], Name: "echo", Node: b.Name(), Reason: node.Atom("bye")}}, got)

	near, err := a.SpawnOpt(node.Options{Name: "near"}, node.ActorFunc(echo))
	require.NoError(t, err)
	do(func(c *node.Context) any {
		node.SendConnected(c, near, wire.Tuple{self.Self(), 2})
		return node.SendConnected(c, node.At{Name: "near", Node: a.Name()}, wire.Tuple{self.Self(), 3})
	})
	assert.Equal(t, wire.Tuple{near, 2}, self.Receive())
	assert.Equal(t, wire.Tuple{near, 3}, self.Receive())
}
