package node_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/internal/nodetest"
	"github.com/actornode/actornode/mailbox"
	"github.com/actornode/actornode/node"
)

// A call to oneself fails at once, by whatever name, in every style of process.
func TestSelfCall(t *testing.T) {
	eachFlavour(t, func(t *testing.T, s flavour) {
		n := startNode(t, node.Config{Name: "a@127.0.0.1"})
		got := make(chan error, 8)
		pid := s.spawn(t, n, node.Options{Name: "me"}, func(in inside, m any) error {
			if r, ok := m.(node.Request[int]); ok {
				return r.Reply(r.Body)
			}
			if m != "go" {
				return nil // the Result
			}
			ref := in.(interface{ Alias(bool) node.Ref }).Alias(false)
			for _, to := range []node.Dest{in.Self(), node.Atom("me"), node.At{Name: "me", Node: n.Name()}, ref} {
				_, err := node.Call[int](context.Background(), in, to, 1)
				got <- err
			}
			node.SendRequest(in, in.Self(), "tag", 5) // it does not wait
			return nil
		})
		require.NoError(t, n.Send(pid, "go"))
		for range 4 {
			require.ErrorIs(t, nodetest.Arrival(t, got), node.ErrSelfCall)
		}
		v, err := node.Call[int](soon(t), n, pid, 7)
		require.NoError(t, err)
		assert.Equal(t, 7, v)
	})
	h := nodetest.Open(t, startNode(t, node.Config{}))
	_, err := node.Call[int](context.Background(), h, h.Self(), 1)
	require.ErrorIs(t, err, node.ErrSelfCall)
}

// waits are what a process may wait in; each begins to wait for ever. stuck never answers, and full
// is a process whose mailbox has no room.
var waits = []struct {
	name string
	wait func(in inside, n *node.Node, stuck, full node.PID) error
}{
	{"Call", func(in inside, n *node.Node, stuck, full node.PID) error {
		_, err := node.Call[int](context.Background(), in, stuck, 1)
		return err
	}},
	{"Await", func(in inside, n *node.Node, stuck, full node.PID) error {
		_, err := node.Async[int](in, stuck, 1).Await(in.Context())
		return err
	}},
	{"AwaitExit", func(in inside, n *node.Node, stuck, full node.PID) error {
		_, err := node.AwaitExit(context.Background(), in, stuck)
		return err
	}},
	{"SpawnWait", func(in inside, n *node.Node, stuck, full node.PID) error {
		_, err := node.SpawnWait(context.Background(), in, node.Options{}, never{})
		return err
	}},
	{"Deliver", func(in inside, n *node.Node, stuck, full node.PID) error {
		return node.Deliver(context.Background(), in, full, 1)
	}},
	{"Send", func(in inside, n *node.Node, stuck, full node.PID) error { return in.Send(full, 1) }},
}

// never is an actor whose Init does not return before it is killed.
type never struct{}

func (never) Init(c *node.Context) error { <-c.Context().Done(); return nil }

func (never) Receive(*node.Context, any) error { return nil }

// Whoever is killed while it waits is woken, in each style of process, whatever it waits in.
func TestKilledWhileWaiting(t *testing.T) {
	styles := []struct {
		name string
		o    node.Options
		proc bool
	}{{"actor", node.Options{}, false}, {"detached", node.Options{Place: node.Detached()}, false},
		{"process", node.Options{}, true}, {"coroutine", node.Options{Coroutine: true}, true}}
	for _, s := range styles {
		for _, w := range waits {
			t.Run(s.name+" "+w.name, func(t *testing.T) {
				n := startNode(t, node.Config{})
				stuck, err := n.Spawn(node.ActorFunc(func(*node.Context, any) error { return nil }))
				require.NoError(t, err)
				gate := make(chan struct{})
				defer close(gate)
				entered := make(chan struct{})
				full, err := n.SpawnOpt(node.Options{Limits: mailbox.Limits{Messages: 1, Policy: mailbox.Block}},
					node.ProcessFunc(func(p *node.Process) error { close(entered); <-gate; return nil }))
				require.NoError(t, err)
				nodetest.Arrival(t, entered)
				require.NoError(t, n.Send(full, 0))
				begun, over := make(chan struct{}), make(chan struct{})
				run := func(in inside) error {
					defer close(over)
					close(begun)
					w.wait(in, n, stuck, full)
					if n.IsAlive(in.Self()) {
						return errors.New("the wait has ended by itself")
					}
					return nil
				}
				var b node.Actor = node.ActorFunc(func(c *node.Context, msg any) error { return run(c) })
				if s.proc {
					b = node.ProcessFunc(func(p *node.Process) error { p.Receive(); return run(p) })
				}
				pid, err := n.SpawnOpt(s.o, b)
				require.NoError(t, err)
				require.NoError(t, n.Send(pid, "go"))
				nodetest.Arrival(t, begun)
				n.Exit(pid, node.Kill)
				nodetest.Arrival(t, over)
				eventually(t, "its code has returned", func() bool { return n.Stats().Lingering == 0 })
			})
		}
	}
}

// A call whose request is lost fails at once, from here and from another node.
func TestLostRequestFails(t *testing.T) {
	bothProtocols(t, func(t *testing.T, protocol string) {
		a, b := pairOf(t, protocol, node.Distribution{})
		for _, policy := range []mailbox.Policy{mailbox.Refuse, mailbox.DropNewest, mailbox.DropOldest} {
			gate := make(chan struct{})
			entered := make(chan struct{})
			full, err := b.SpawnOpt(node.Options{Limits: mailbox.Limits{Messages: 1, Policy: policy}},
				node.ProcessFunc(func(p *node.Process) error { close(entered); <-gate; return nil }))
			require.NoError(t, err)
			nodetest.Arrival(t, entered)
			h := nodetest.Open(t, b)
			for _, from := range []node.Caller{h, b, a} {
				first := node.Async[int](from, full, 1)
				second := node.Async[int](from, full, 2)
				lost := second
				if policy == mailbox.DropOldest {
					lost = first
				}
				_, err := lost.Await(soon(t))
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
	bothProtocols(t, func(t *testing.T, protocol string) {
		a, b := pairOf(t, protocol, node.Distribution{})
		far := nodetest.Open(t, b)
		front, err := a.Spawn(node.ActorFunc(func(c *node.Context, msg any) error {
			c.Send(far.Self(), msg)
			return nil
		}))
		require.NoError(t, err)
		start := time.Now()
		_, err = node.Call[int](soon(t), a, front, make(chan int))
		require.Error(t, err)
		require.NotErrorIs(t, err, context.DeadlineExceeded)
		require.Less(t, time.Since(start), grace/2)
	})
}

// A reply of a wrong type says which, from whom and for what.
func TestReplyTypeNamesBoth(t *testing.T) {
	n := startNode(t, node.Config{})
	pid := flavours[0].spawn(t, n, node.Options{}, parrot)
	_, err := node.Call[string](soon(t), n, pid, 5)
	require.ErrorIs(t, err, node.ErrReplyType)
	for _, part := range []string{"got int", "want string", pid.String()} {
		require.ErrorContains(t, err, part)
	}
}

// The size of a request is that of its body: what the From points to belongs to the node.
func TestSizeOfRequest(t *testing.T) {
	n := startNode(t, node.Config{})
	h := nodetest.Open(t, n)
	node.Async[int](n, h.Self(), "0123456789")
	r := nodetest.Next[node.Request[string]](t, h)
	assert.Less(t, mailbox.Size(r), 100)
	assert.GreaterOrEqual(t, mailbox.Size(r), 10)
	assert.Less(t, mailbox.Size(r.From), 60)
}
