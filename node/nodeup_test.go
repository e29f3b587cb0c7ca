package node_test

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/internal/kernel/process"
	"github.com/actornode/actornode/internal/testkit"
	"github.com/actornode/actornode/internal/testkit/clustertest"
	"github.com/actornode/actornode/node"
	"github.com/actornode/actornode/node/deadletter"
	"github.com/actornode/actornode/node/nodetest"
	"github.com/actornode/actornode/wire"
	"github.com/actornode/actornode/wire/dist"
)

func TestNodeUp(t *testing.T) {
	c := clustertest.NewMemoryCluster(t)
	a, b := c.Start("a"), c.Start("b")
	self := nodetest.NewProbe(t, a)
	gone := nodetest.NewProbe(t, a)
	gone.MonitorNodes()
	gone.Close(nil)
	self.MonitorNodes()
	self.MonitorNodes() // once
	b.Send(self.Self(), "hello")
	up := node.NodeUp{Node: b.Name(), Hidden: true}
	assert.Equal(t, up, self.Receive(), "before what the node sends")
	assert.Equal(t, "hello", self.Receive())
	assert.Equal(t, wire.Tuple{wire.Atom("nodeup"), b.Name()}, standsFor(up))

	self.MonitorNode(b.Name())
	a.Disconnect(b.Name())
	assert.IsType(t, node.NodeDown{}, self.Receive())
	require.NoError(t, a.Connect(testkit.Context(t), b.Name()))
	assert.Equal(t, up, self.Receive())
	self.DemonitorNodes()
	a.Disconnect(b.Name())
	require.NoError(t, a.Connect(testkit.Context(t), b.Name()))
	_, err := self.ReceiveWithin(0, nil)
	require.ErrorIs(t, err, node.ErrTimeout)
}

// What is lost with the connection becomes a dead letter, except messages of SendConnected.
func TestLossy(t *testing.T) {
	c := clustertest.NewMemoryCluster(t)
	b := c.Start("b")
	slow := &stalled{Memory: c.Memory}
	stall := make(chan struct{}) // from the beginning: everything waits to be written
	slow.stall.Store(&stall)
	cfg := c.Config("a")
	cfg.Distribution.Protocols = []dist.Protocol{slow}
	a := nodetest.Start(t, cfg)
	require.NoError(t, a.Connect(testkit.Context(t), b.Name()))
	testkit.Until(t, func() string {
		if slow.holds.Load() == 0 {
			return "nothing is held up"
		}
		return ""
	})
	dead := a.DeadLetters(10)
	at := node.At{Name: "nobody", Node: b.Name()}
	sender, err := a.Spawn(node.ActorFunc(func(c *node.Context, msg any) error {
		r := msg.(node.Request[int])
		return r.Reply(errors.Join(c.SendOpt(node.SendOptions{NoConnect: true}, at, 1), c.Send(at, 2), c.SendOpt(node.SendOptions{NoConnect: true}, at, 3)))
	}))
	require.NoError(t, err)
	sent, err := node.Call[error](testkit.Context(t), a, sender, 0)
	require.NoError(t, err)
	require.NoError(t, sent)
	require.True(t, a.Disconnect(b.Name()))
	require.NoError(t, a.Stop())
	var lost []any
	for l := range dead.C {
		assert.Equal(t, deadletter.NotConnected, l.Cause)
		lost = append(lost, l.Message)
	}
	assert.Equal(t, []any{2}, lost)
}

// SendConnected and MonitorConnected do not connect.
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
		v, err := node.Call[any](testkit.Context(t), a, pid, 1)
		require.NoError(t, err)
		return v
	}
	send := func(c *node.Context) any {
		msg := wire.Tuple{self.Self(), 1}
		return []error{c.SendOpt(node.SendOptions{NoConnect: true}, remote, msg), c.SendOpt(node.SendOptions{NoConnect: true}, at, msg)}
	}
	watch := func(c *node.Context) any {
		return []node.Ref{c.Inside(process.Key{}).MonitorConnected(remote), c.Inside(process.Key{}).MonitorConnected(at)}
	}
	for _, err := range do(send).([]error) {
		require.ErrorIs(t, err, node.ErrNotHere)
	}
	refs := do(watch).([]node.Ref)
	assert.Equal(t, node.Down{Ref: refs[0], PID: remote, Reason: node.NoConnection}, self.Receive())
	assert.Equal(t, node.Down{Ref: refs[1], Name: "echo", Node: b.Name(), Reason: node.NoConnection}, self.Receive())
	assert.Empty(t, a.AllNodes())

	require.NoError(t, a.Connect(testkit.Context(t), b.Name()))
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
		c.SendOpt(node.SendOptions{NoConnect: true}, near, wire.Tuple{self.Self(), 2})
		return c.SendOpt(node.SendOptions{NoConnect: true}, node.At{Name: "near", Node: a.Name()}, wire.Tuple{self.Self(), 3})
	})
	assert.Equal(t, wire.Tuple{near, 2}, self.Receive())
	assert.Equal(t, wire.Tuple{near, 3}, self.Receive())
}

// A process that has asked to be told of new nodes is forgotten when it exits, even if no node comes.
func TestMonitorNodesForgetsTheDead(t *testing.T) {
	c := clustertest.NewMemoryCluster(t)
	n := c.Start("a")
	before := node.FarUps(n)
	stays := nodetest.NewProbe(t, n)
	stays.MonitorNodes()
	for range 1000 {
		h := nodetest.NewProbe(t, n)
		h.MonitorNodes()
		h.Close(nil)
	}
	assert.Less(t, node.FarUps(n), before+200)
	require.NoError(t, n.Connect(testkit.Context(t), c.Start("b").Name()))
	assert.Equal(t, node.Atom("b@127.0.0.1"), nodetest.Expect[node.NodeUp](stays).Node)
}

// A removed monitor of a node does not fire; another one does, once.
func TestDemonitorNode(t *testing.T) {
	clustertest.EachProtocol(t, func(t *testing.T, c *clustertest.Cluster) {
		a, b := c.Start("a"), c.Start("b")
		h := nodetest.NewProbe(t, a)
		first, second := h.MonitorNode(b.Name()), h.MonitorNode(b.Name())
		require.NotEqual(t, first, second)
		require.NoError(t, a.Connect(testkit.Context(t), b.Name()))
		require.True(t, h.Demonitor(first))
		require.False(t, h.Demonitor(first))
		require.NoError(t, b.Stop())
		require.Equal(t, b.Name(), nodetest.Expect[node.NodeDown](h).Node)
		h.ExpectNone()
		require.False(t, h.Demonitor(second))
	})
}
