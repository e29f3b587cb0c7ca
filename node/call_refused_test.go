package node_test

import (
	"context"
	"errors"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/internal/testkit"
	"github.com/actornode/actornode/internal/testkit/actortest"
	"github.com/actornode/actornode/internal/testkit/clustertest"
	"github.com/actornode/actornode/mailbox"
	"github.com/actornode/actornode/node"
	"github.com/actornode/actornode/node/nodetest"
)

// A process that calls itself fails at once, under any of its names, in every style of process.
func TestSelfCall(t *testing.T) {
	actortest.EachStyle(t, func(t *testing.T, s actortest.Style) {
		n := nodetest.Start(t, node.Config{Name: "a@127.0.0.1"})
		got := make(chan error, 8)
		pid := s.With(node.Options{Name: "me"}).Spawn(t, n, func(in actortest.Self, m any) error {
			if r, ok := m.(node.Request[int]); ok {
				return r.Reply(r.Body)
			}
			if m != "go" {
				return nil // the Result
			}
			ref := in.(interface{ Alias() node.Ref }).Alias()
			for _, to := range []node.Dest{in.Self(), node.Atom("me"), node.At{Name: "me", Node: n.Name()}, ref} {
				_, err := node.Call[int](context.Background(), in, to, 1)
				got <- err
			}
			node.SendRequest(in, in.Self(), "tag", 5) // it does not wait
			return nil
		})
		require.NoError(t, n.Send(pid, "go"))
		for range 4 {
			require.ErrorIs(t, testkit.Receive(t, got), node.ErrSelfCall)
		}
		v, err := node.Call[int](testkit.Context(t), n, pid, 7)
		require.NoError(t, err)
		assert.Equal(t, 7, v)
	})
	h := nodetest.NewProbe(t, nodetest.Start(t, node.Config{}))
	_, err := node.Call[int](context.Background(), h, h.Self(), 1)
	require.ErrorIs(t, err, node.ErrSelfCall)
}

// A call whose request is lost fails at once, from the same node and from another.
func TestLostRequestFails(t *testing.T) {
	clustertest.EachProtocol(t, func(t *testing.T, c *clustertest.Cluster) {
		a, b := startTwo(t, c, node.Distribution{})
		for _, policy := range []mailbox.Policy{mailbox.Refuse, mailbox.DropNewest, mailbox.DropOldest} {
			gate := make(chan struct{})
			entered := make(chan struct{})
			full, err := b.SpawnOpt(node.Options{Bounds: mailbox.Bounds{Messages: 1, Policy: policy}},
				node.ProcessFunc(func(p *node.Process) error { close(entered); <-gate; return nil }))
			require.NoError(t, err)
			testkit.Receive(t, entered)
			h := nodetest.NewProbe(t, b)
			for _, from := range []node.Caller{h, b, a} {
				first := node.Async[int](from, full, 1)
				second := node.Async[int](from, full, 2)
				lost := second
				if policy == mailbox.DropOldest {
					lost = first
				}
				_, err := node.Await(testkit.Context(t), from, lost)
				require.Error(t, err)
				require.NotErrorIs(t, err, context.DeadlineExceeded, "%v", policy)
				if from != node.Caller(a) {
					require.True(t, errors.Is(err, node.ErrMailboxFull) || errors.Is(err, node.ErrDropped), "%v", err)
				}
			}
			close(gate)
		}
	})
}

// A request that cannot be sent on fails its call at once.
func TestRequestThatCannotBeSentOn(t *testing.T) {
	clustertest.EachProtocol(t, func(t *testing.T, c *clustertest.Cluster) {
		a, b := startTwo(t, c, node.Distribution{})
		far := nodetest.NewProbe(t, b)
		front, err := a.Spawn(node.ActorFunc(func(c *node.Context, msg any) error {
			c.Send(far.Self(), msg)
			return nil
		}))
		require.NoError(t, err)
		_, err = node.Call[int](testkit.Context(t), a, front, make(chan int))
		require.Error(t, err)
		require.NotErrorIs(t, err, context.DeadlineExceeded)
	})
}

// The error for a reply of the wrong type names its type, the wanted type and the process that replied.
func TestReplyTypeNamesBoth(t *testing.T) {
	n := nodetest.Start(t, node.Config{})
	pid := actortest.Actor.Spawn(t, n, parrot)
	_, err := node.Call[string](testkit.Context(t), n, pid, 5)
	require.ErrorIs(t, err, node.ErrReplyType)
	for _, part := range []string{"got int", "want string", pid.String()} {
		require.ErrorContains(t, err, part)
	}
}

// The size of a request is that of its body: what the From points to belongs to the node.
func TestSizeOfRequest(t *testing.T) {
	n := nodetest.Start(t, node.Config{})
	h := nodetest.NewProbe(t, n)
	//actornode:ignore lostfuture only the request is looked at
	node.Async[int](n, h.Self(), "0123456789")
	r := nodetest.Expect[node.Request[string]](h)
	assert.Less(t, mailbox.Size(r), 100)
	assert.GreaterOrEqual(t, mailbox.Size(r), 10)
	assert.Less(t, mailbox.Size(r.From), 60)
}
