package node_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/internal/nodetest"
	"github.com/actornode/actornode/internal/testkit"
	"github.com/actornode/actornode/node"
	"github.com/actornode/actornode/wire"
)

// order is a Go type that crosses as itself.
type order struct {
	Item  string
	Count int
	By    node.PID
	Lines []line
}

type line struct{ Text string }

// unknown is one that the other node has not heard of.
type unknown struct{ X int }

// nativePair returns two nodes that speak the default protocols.
func nativePair(t *testing.T, types func(*node.Types), d node.Distribution) (a, b *node.Node) {
	where := &nodetest.Places{}
	start := func(name node.Atom, types *node.Types) *node.Node {
		d := d
		d.Cookie, d.Finder, d.Types = "secret", where, types
		return nodetest.Start(t, node.Config{Name: name, Distribution: &d})
	}
	ours, theirs := &node.Types{}, &node.Types{}
	for _, ts := range []*node.Types{ours, theirs} {
		require.NoError(t, ts.Register(node.TypeOf[order]("shop.Order")))
	}
	types(ours)
	return start("a@127.0.0.1", ours), start("b@127.0.0.1", theirs)
}

// Between two nodes of this kind Go values arrive as they were sent.
func TestNativeTypes(t *testing.T) {
	a, b := nativePair(t, func(ts *node.Types) { require.NoError(t, ts.Register(node.TypeOf[unknown]("x.Unknown"))) }, node.Distribution{})
	self := nodetest.Open(t, a)
	pid, err := b.Spawn(node.ActorFunc(echo))
	require.NoError(t, err)
	o := order{"tea", 3, self.Self(), []line{{"green"}, {"black"}}}
	got, err := node.Call[order](testkit.Context(t), self, pid, o)
	require.NoError(t, err)
	assert.Equal(t, o, got)
	p, err := node.Call[*order](testkit.Context(t), self, pid, &o)
	require.NoError(t, err)
	assert.Equal(t, &o, p)
	v, err := node.Call[any](testkit.Context(t), self, pid, wire.Tuple{node.Atom("orders"), wire.List{o, o}})
	require.NoError(t, err)
	assert.Equal(t, wire.Tuple{node.Atom("orders"), wire.List{o, o}}, v)
	protocol, ok := node.FarProtocol(a, b.Name())
	require.True(t, ok)
	assert.Equal(t, "native", protocol)
	// What the other does not know is a map that says its name, and comes back as one.
	v, err = node.Call[any](testkit.Context(t), self, pid, unknown{7})
	require.NoError(t, err)
	m, ok := v.(wire.Map)
	require.True(t, ok, "%T", v)
	assert.Contains(t, wire.Format(m), "x.Unknown")
	assert.Contains(t, wire.Format(m), "7")
}

// A bounded mailbox's answer reaches a sender on another node.
func TestNativeReceipts(t *testing.T) {
	a, b := nativePair(t, func(*node.Types) {}, node.Distribution{})
	pid, err := b.Spawn(node.ActorFunc(echo))
	require.NoError(t, err)
	require.NoError(t, node.Deliver(testkit.Context(t), a, pid, 1))
	b.Exit(pid, node.Kill)
	require.ErrorIs(t, node.Deliver(testkit.Context(t), a, pid, 1), node.ErrNoProcess)
	require.ErrorIs(t, node.Deliver(testkit.Context(t), a, node.At{Name: "nobody", Node: b.Name()}, 1), node.ErrNoName)
}

// With Grace a connection may break: nobody notices.
func TestNativeGrace(t *testing.T) {
	cut := &nodetest.Cutter{}
	a, b := nativePair(t, func(*node.Types) {}, node.Distribution{Grace: testkit.Limit, Transport: cut})
	self := nodetest.Open(t, a)
	const n = 10_000
	done := make(chan int, 1)
	next := 0
	pid, err := b.Spawn(node.ActorFunc(func(c *node.Context, msg any) error {
		if msg != next {
			done <- next
			return node.ErrStop
		}
		if next++; next == n {
			done <- next
		}
		return nil
	}))
	require.NoError(t, err)
	require.NoError(t, a.Ping(testkit.Context(t), b.Name()), "both know that they are connected")
	ref := self.Monitor(pid)
	self.MonitorNode(b.Name())
	for i := range n {
		require.NoError(t, self.Send(pid, i))
		if i%1000 == 999 {
			cut.Cut() // with much under way
			require.NoError(t, a.Ping(testkit.Context(t), b.Name()))
		}
	}
	assert.Equal(t, n, testkit.Receive(t, done), "in order, none lost, none twice")
	assert.Equal(t, n/1000, cut.Cuts())
	_, err = self.ReceiveWithin(0, nil)
	require.ErrorIs(t, err, node.ErrTimeout, "no Down, no NodeDown")
	b.Exit(pid, node.Kill)
	assert.Equal(t, node.Down{Ref: ref, PID: pid, Reason: node.Atom("killed")}, self.Receive())
}
