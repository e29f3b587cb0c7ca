package node_test

import (
	"context"
	"slices"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/internal/kernel/erpc"
	"github.com/actornode/actornode/internal/kernel/process"
	"github.com/actornode/actornode/internal/testkit"
	"github.com/actornode/actornode/internal/testkit/actortest"
	"github.com/actornode/actornode/internal/testkit/clustertest"
	"github.com/actornode/actornode/mailbox"
	"github.com/actornode/actornode/node"
	"github.com/actornode/actornode/node/nodetest"
	"github.com/actornode/actornode/node/rpc"
	"github.com/actornode/actornode/wire"
)

// A process has the group leader that its options name, else that of its spawner, else the process user.
func TestLeader(t *testing.T) {
	n := nodetest.Start(t, node.Config{})
	h := nodetest.NewProbe(t, n)
	assert.Zero(t, n.Inside(process.Key{}).Leader(h.Self()), "there is nobody")
	user, err := n.SpawnOpt(node.Options{Name: "user"}, node.ActorFunc(func(*node.Context, any) error { return nil }))
	require.NoError(t, err)
	assert.Equal(t, user, n.Inside(process.Key{}).Leader(h.Self()))
	assert.Equal(t, user, n.Inside(process.Key{}).Leader(node.PID{}))
	for _, w := range styles {
		t.Run(w.Name, func(t *testing.T) {
			leader := h.Self()
			o := w.Options
			o.Leader = leader
			child := make(chan node.PID)
			pid, err := n.SpawnOpt(o, w.Actor(func(h actortest.Self, _ any) error {
				kid, err := h.SpawnOpt(node.Options{}, actortest.Actor.Actor(func(actortest.Self, any) error { return nil }))
				child <- kid
				return err
			}))
			require.NoError(t, err)
			require.NoError(t, n.Send(pid, "spawn"))
			kid := <-child
			assert.Equal(t, leader, n.Inside(process.Key{}).Leader(pid))
			assert.Equal(t, leader, n.Inside(process.Key{}).Leader(kid))
			i, err := n.Info(kid)
			require.NoError(t, err)
			assert.Equal(t, leader, i.Leader)
			n.Exit(pid, node.Kill)
			assert.Equal(t, leader, n.Inside(process.Key{}).Leader(kid), "it outlives the one that spawned it")
		})
	}
}

func TestCalling(t *testing.T) {
	n := nodetest.Start(t, node.Config{})
	_, _, ok := node.Calling(t.Context())
	assert.False(t, ok)
	for _, w := range styles {
		ctx := make(chan context.Context)
		pid, err := n.SpawnOpt(w.Options, w.Actor(func(h actortest.Self, _ any) error {
			ctx <- h.Context()
			return nil
		}))
		require.NoError(t, err)
		require.NoError(t, n.Send(pid, "tell"))
		derived, cancel := context.WithCancel(<-ctx)
		got, who, ok := node.Calling(derived)
		cancel()
		assert.True(t, ok, w.Name)
		assert.Same(t, n, got)
		assert.Equal(t, pid, who)
	}
}

// Messages shows what is left in a mailbox, oldest first, wherever it waits.
func TestMessages(t *testing.T) {
	n := nodetest.Start(t, node.Config{})
	for _, w := range styles {
		seen := make(chan struct{}, 5) // for all messages: the kill may come late
		goOn := make(chan struct{})
		pid, err := n.SpawnOpt(w.Options, w.Actor(func(actortest.Self, any) error {
			seen <- struct{}{}
			<-goOn
			return nil
		}))
		require.NoError(t, err)
		require.NoError(t, n.Send(pid, 0))
		<-seen // in the handler: everything else waits
		for i := 1; i <= 4; i++ {
			require.NoError(t, n.Send(pid, i))
		}
		got := n.Inside(process.Key{}).Messages(pid, 3)
		if len(got) > 0 && got[0] == 0 {
			got = append(got[1:], 3) // for an Actor, the one that is being handled counts
		}
		assert.Equal(t, []any{1, 2, 3}, got, w.Name)
		close(goOn)
		n.Exit(pid, node.Kill)
		assert.Empty(t, n.Inside(process.Key{}).Messages(pid, 3))
	}
	boxed, err := n.SpawnOpt(node.Options{Bounds: mailbox.Bounds{Messages: 5}},
		actortest.Actor.Actor(func(actortest.Self, any) error { return node.ErrUnhandled }))
	require.NoError(t, err)
	require.NoError(t, n.Send(boxed, 1))
	assert.Empty(t, n.Inside(process.Key{}).Messages(boxed, 3))
}

func TestAnyModule(t *testing.T) {
	n := nodetest.Start(t, node.Config{})
	require.NoError(t, rpc.Export(n, wire.Export{Module: erpc.AnyModule, Function: "info", Arity: 1},
		func(_ context.Context, args []any) (any, error) { return wire.Tuple(args), nil }))
	require.NoError(t, rpc.Export(n, mfa("special", "info", 1), func(context.Context, []any) (any, error) { return "own", nil }))
	v, err := rpc.Apply(t.Context(), n, "any", "info", []any{1})
	require.NoError(t, err)
	assert.Equal(t, wire.Tuple{wire.Atom("any"), 1}, v)
	v, err = rpc.Apply(t.Context(), n, "special", "info", []any{1})
	require.NoError(t, err)
	assert.Equal(t, "own", v)
	_, err = rpc.Apply(t.Context(), n, "any", "info", nil)
	assert.ErrorIs(t, err, rpc.ErrUndef)
}

func TestTraffic(t *testing.T) {
	a, _, self, remote := two(t)
	in, out := a.Inside(process.Key{}).Traffic()
	require.NoError(t, self.Send(remote, wire.Tuple{self.Self(), 1}))
	self.Receive()
	in2, out2 := a.Inside(process.Key{}).Traffic()
	assert.Greater(t, in2, in)
	assert.Greater(t, out2, out)
	in, out = nodetest.Start(t, node.Config{}).Inside(process.Key{}).Traffic()
	assert.Zero(t, in+out)
}

// A call has the group leader of its caller.
func TestLeaderOfCallsFromHere(t *testing.T) {
	_, b, self, remote := two(t)
	leader := nodetest.NewProbe(t, b)
	require.NoError(t, rpc.Export(b, mfa("m", "leader", 0), func(ctx context.Context, _ []any) (any, error) {
		_, pid, _ := node.Calling(ctx)
		return b.Inside(process.Key{}).Leader(pid), nil
	}))
	v, err := rpc.Call[any](testkit.Context(t), self, remote.Node(), "m", "leader")
	require.NoError(t, err)
	assert.Equal(t, self.Node().Inside(process.Key{}).Leader(self.Self()), v, "what a call prints comes back to this node")
	assert.NotZero(t, v)
	v, err = node.Call[any](testkit.Context(t), self, node.At{Name: "rex", Node: b.Name()}, any(wire.Tuple{wire.Atom("call"), wire.Atom("m"), wire.Atom("leader"), wire.List{}, leader.Self()}))
	require.NoError(t, err)
	assert.Equal(t, leader.Self(), v)
}

// Calls to rex are checked for the peer over whose connection they have come. One that a process here has passed on
// belongs to no peer, and is refused.
func TestRexAsksAllow(t *testing.T) {
	c := clustertest.NewMemoryCluster(t)
	cfg := c.Config("b")
	var asked []string
	var mu sync.Mutex
	cfg.Distribution.Access.Allow = func(peer node.Atom, e wire.Export) bool {
		mu.Lock()
		defer mu.Unlock()
		if e.Module == "m" { // nodes ask each other for their release at any time
			asked = append(asked, string(peer)+" "+wire.Format(e))
		}
		return e.Arity == 2
	}
	a, b := c.Start("a"), nodetest.Start(t, cfg)
	require.NoError(t, rpc.Export(b, mfa("m", "plus", 2), plus))
	require.NoError(t, rpc.Export(b, mfa("m", "one", 0), func(context.Context, []any) (any, error) { return 1, nil }))
	call := func(f string, args ...any) any {
		return wire.Tuple{wire.Atom("call"), wire.Atom("m"), wire.Atom(f), wire.List(args), node.PID{}}
	}
	at := node.At{Name: "rex", Node: b.Name()}
	v, err := node.Call[any](testkit.Context(t), a, at, call("plus", 1, 2))
	require.NoError(t, err)
	assert.Equal(t, 3, v)
	v, err = node.Call[any](testkit.Context(t), a, at, call("one"))
	require.NoError(t, err)
	assert.Equal(t, "{badrpc,{'EXIT',{undef,[{m,one,[],[]}]}}}", wire.Format(v))
	mu.Lock()
	assert.Equal(t, []string{"a@127.0.0.1 fun m:plus/2", "a@127.0.0.1 fun m:one/0"}, slices.Compact(asked))
	mu.Unlock()

	self := nodetest.NewProbe(t, b)
	ref := b.MakeRef()
	rex, _ := b.Whereis("rex")
	require.NoError(t, self.Send(rex, wire.Tuple{wire.Atom("$gen_call"), wire.Tuple{self.Self(), ref}, call("plus", 1, 2)}))
	assert.Equal(t, "{badrpc,{'EXIT',{undef,[{m,plus,[1,2],[]}]}}}", wire.Format(self.Receive().(wire.Tuple)[1]))
}

// Allow may look at the process that calls.
func TestAllowLooksAtTheCaller(t *testing.T) {
	c := clustertest.NewMemoryCluster(t)
	cfg := c.Config("b")
	var b *node.Node
	cfg.Distribution.Access.Allow = func(node.Atom, wire.Export) bool {
		for pid := range b.Inside(process.Key{}).Processes() {
			b.Info(pid)
		}
		return true
	}
	a := c.Start("a")
	b = nodetest.Start(t, cfg)
	require.NoError(t, rpc.Export(b, mfa("m", "plus", 2), plus))
	require.NoError(t, rpc.Export(b, mfa("m", "twice", 1), func(ctx context.Context, args []any) (any, error) {
		return rpc.Apply(ctx, b, "m", "plus", []any{args[0], args[0]})
	}))
	v, err := rpc.Call[int](testkit.Context(t), a, b.Name(), "m", "twice", 4)
	require.NoError(t, err)
	require.Equal(t, 8, v)
}
