package node_test

import (
	"context"
	"errors"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/internal/nodetest"
	"github.com/actornode/actornode/internal/testkit"
	"github.com/actornode/actornode/mailbox"
	"github.com/actornode/actornode/node"
	"github.com/actornode/actornode/node/deadletter"
	"github.com/actornode/actornode/wire"
	"github.com/actornode/actornode/wire/dist"
	"github.com/actornode/actornode/wire/erldist"
)

// A sender learns what becomes of its message, here and on another node.
func TestDeliver(t *testing.T) {
	for _, far := range []bool{false, true} {
		a, b, self, remote := two(t)
		var from node.Caller = self
		if !far {
			from = b
		}
		hold := make(chan struct{})
		defer close(hold)
		idle := node.ActorFunc(func(*node.Context, any) error { <-hold; return nil })
		at := func(name node.Atom) node.At { return node.At{Name: name, Node: b.Name()} }
		for _, c := range []struct {
			policy mailbox.Policy
			want   error
		}{{mailbox.Refuse, node.ErrMailboxFull}, {mailbox.DropNewest, node.ErrDropped}, {mailbox.DropOldest, nil}} {
			began := make(chan struct{}, 1)
			pid, err := b.SpawnOpt(node.Options{Limits: mailbox.Limits{Messages: 2, Policy: c.policy}},
				node.ActorFunc(func(*node.Context, any) error { began <- struct{}{}; <-hold; return nil }))
			require.NoError(t, err)
			require.NoError(t, node.Deliver(testkit.Context(t), from, pid, 1))
			<-began
			require.NoError(t, node.Deliver(testkit.Context(t), from, pid, 2))
			require.ErrorIs(t, node.Deliver(testkit.Context(t), from, pid, 3), c.want, "%v, far %v", c.policy, far)
		}
		pid, err := b.SpawnOpt(node.Options{Name: "gone"}, idle)
		require.NoError(t, err)
		require.NoError(t, node.Deliver(testkit.Context(t), from, remote, "ok"))
		b.Exit(pid, node.Kill)
		require.ErrorIs(t, node.Deliver(testkit.Context(t), from, pid, 1), node.ErrNoProcess)
		require.ErrorIs(t, node.Deliver(testkit.Context(t), from, at("gone"), 1), node.ErrNoName)
		assert.Positive(t, b.Stats().DeadLetters[deadletter.NoProcess])
		alias := b.MakeRef()
		require.ErrorIs(t, node.Deliver(testkit.Context(t), from, alias, 1), node.ErrNoProcess)
		if far {
			require.ErrorAs(t, node.Deliver(testkit.Context(t), from, remote, struct{}{}), new(*wire.EncodeError))
			// A mailbox that makes its senders wait does not make a connection wait.
			pid, err := b.SpawnOpt(node.Options{Limits: mailbox.Limits{Messages: 1, Policy: mailbox.Block}}, idle)
			require.NoError(t, err)
			require.NoError(t, node.Deliver(testkit.Context(t), from, pid, 1))
			require.ErrorContains(t, node.Deliver(testkit.Context(t), from, pid, 2), "full for now")
			ctx, cancel := context.WithCancel(t.Context())
			cancel()
			got := make(chan any, 101)
			pid, err = b.Spawn(node.ActorFunc(func(_ *node.Context, msg any) error { got <- msg; return nil }))
			require.NoError(t, err)
			for range 100 {
				require.ErrorIs(t, node.Deliver(ctx, from, pid, "not sent"), context.Canceled)
			}
			require.NoError(t, node.Deliver(testkit.Context(t), from, pid, "sent"))
			require.Equal(t, "sent", testkit.Receive(t, got))
			require.True(t, a.Disconnect(b.Name()))
		}
	}
	self, err := nodetest.NewMemoryCluster(t).Start("x").Open()
	require.NoError(t, err)
	self.Close(nil)
	require.ErrorIs(t, node.Deliver(t.Context(), self, self.Self(), 1), node.ErrExited)
}

// Receipts come in the order of the messages, and of those before and after.
func TestDeliverKeepsOrder(t *testing.T) {
	_, b, self, _ := two(t)
	var got []any
	all := make(chan []any, 1)
	pid, err := b.Spawn(node.ActorFunc(func(_ *node.Context, msg any) error {
		if got = append(got, msg); len(got) == 300 {
			all <- got
		}
		return nil
	}))
	require.NoError(t, err)
	for i := range 100 {
		require.NoError(t, self.Send(pid, 3*i))
		require.NoError(t, node.Deliver(testkit.Context(t), self, pid, 3*i+1))
		require.NoError(t, self.Send(pid, 3*i+2))
	}
	for i, v := range <-all {
		require.Equal(t, i, v)
	}
}

// Erlang's protocol has no receipts.
func TestDeliverNoReceipts(t *testing.T) {
	c := nodetest.NewMemoryCluster(t)
	start := func(name string) *node.Node {
		cfg := c.Config(name)
		cfg.Distribution.Protocols = []dist.Protocol{&erldist.Protocol{}}
		n, err := node.Start(cfg)
		require.NoError(t, err)
		t.Cleanup(func() { require.NoError(t, n.Stop()) })
		return n
	}
	a, b := start("a"), start("b")
	require.ErrorIs(t, node.Deliver(testkit.Context(t), a, node.At{Name: "net_kernel", Node: b.Name()}, 1), errors.ErrUnsupported)
	require.ErrorContains(t, node.Deliver(testkit.Context(t), a, node.At{Name: "x", Node: "none@127.0.0.1"}, 1), "none@127.0.0.1")
	alone, err := node.Start(node.Config{})
	require.NoError(t, err)
	defer alone.Stop()
	require.ErrorIs(t, node.Deliver(testkit.Context(t), alone, node.At{Name: "x", Node: "none@127.0.0.1"}, 1), node.ErrNotHere)
}
