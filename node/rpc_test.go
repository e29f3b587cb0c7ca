package node_test

import (
	"context"
	"runtime"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/internal/kernel/values"
	"github.com/actornode/actornode/internal/testkit"
	"github.com/actornode/actornode/node"
	"github.com/actornode/actornode/node/deadletter"
	"github.com/actornode/actornode/node/nodetest"
	"github.com/actornode/actornode/node/observe"
	"github.com/actornode/actornode/node/rpc"
	"github.com/actornode/actornode/wire"
)

// exportFar exports the functions of testdata/far.erl for rpc. The channel gets the processes that are in far:wait.
func exportFar(t testing.TB, n *node.Node) (waits chan node.PID) {
	t.Helper()
	waits = make(chan node.PID, 64)
	for e, f := range map[wire.Export]rpc.Function{
		mfa("far", "give", 1): func(_ context.Context, args []any) (any, error) { return args[0], nil },
		mfa("far", "raise", 2): func(_ context.Context, args []any) (any, error) {
			switch args[0] {
			case node.Atom("throw"):
				return nil, rpc.Throw(args[1])
			case node.Atom("exit"):
				return nil, node.ExitWith(args[1])
			}
			return nil, rpc.Raise(args[1])
		},
		mfa("far", "die", 0): func(ctx context.Context, _ []any) (any, error) {
			_, pid, _ := node.Calling(ctx)
			n.Exit(pid, node.Kill)
			return nil, nil
		},
		mfa("far", "wait", 0): func(ctx context.Context, _ []any) (any, error) {
			_, pid, _ := node.Calling(ctx)
			waits <- pid
			<-ctx.Done()
			return nil, nil
		},
		mfa("far", "tell", 2): func(_ context.Context, args []any) (any, error) {
			return args[1], n.Send(args[0].(node.PID), args[1])
		},
		mfa("far", "panic", 0): func(context.Context, []any) (any, error) { panic("ouch") },
	} {
		require.NoError(t, rpc.Export(n, e, f))
	}
	return waits
}

// rpcCases are calls and their results on a Go node.
var rpcCases = []struct {
	function node.Atom
	args     []any
	value    any
	err      error
}{
	{"give", []any{wire.Tuple{node.Atom("a"), 1}}, wire.Tuple{node.Atom("a"), 1}, nil},
	{"raise", []any{node.Atom("throw"), node.Atom("ball")}, nil, &rpc.Error{Class: "throw", Reason: node.Atom("ball")}},
	{"raise", []any{node.Atom("exit"), wire.Tuple{1, 2}}, nil, &rpc.Error{Class: "exit", Reason: wire.Tuple{1, 2}}},
	{"raise", []any{node.Atom("error"), node.Atom("boom")}, nil, &rpc.Error{Class: "error", Reason: node.Atom("boom"),
		Stack: wire.List{wire.Tuple{node.Atom("far"), node.Atom("raise"), wire.List{node.Atom("error"), node.Atom("boom")}, wire.List{}}}}},
	{"nothing", []any{1}, nil, &rpc.Error{Class: "error", Reason: node.Atom("undef"),
		Stack: wire.List{wire.Tuple{node.Atom("far"), node.Atom("nothing"), wire.List{1}, wire.List{}}}}},
	{"panic", nil, nil, &rpc.Error{Class: "error", Reason: "ouch",
		Stack: wire.List{wire.Tuple{node.Atom("far"), node.Atom("panic"), wire.List(nil), wire.List{}}}}},
	{"die", nil, nil, &node.ExitError{Reason: node.Killed}},
}

// unreached checks that the error of an unreachable node says which node, and why, and returns it without the cause.
func unreached(t *testing.T, at node.Atom, err error) error {
	t.Helper()
	if exit, ok := err.(*node.ExitError); ok && exit.Reason == node.NoConnection {
		assert.Equal(t, at, exit.Node)
		assert.ErrorContains(t, exit.Cause, string(at))
		return &node.ExitError{Reason: node.NoConnection}
	}
	return err
}

// A call has the same result from another node and from this one, in every way to make it.
func TestRPC(t *testing.T) {
	a, b, self, _ := two(t)
	exportFar(t, a)
	exportFar(t, b)
	actor := make(chan any, 16)
	_, err := a.SpawnOpt(node.Options{Name: "actor"}, node.ActorFunc(func(c *node.Context, msg any) error {
		if f, ok := msg.(func(*node.Context)); ok {
			f(c)
		} else {
			actor <- msg
		}
		return nil
	}))
	require.NoError(t, err)
	nodes := []node.Atom{b.Name(), a.Name(), "nobody@127.0.0.1", b.Name()}
	for _, at := range nodes[:3] {
		for _, c := range rpcCases {
			if at == nodes[2] {
				c.value, c.err = nil, &node.ExitError{Reason: node.NoConnection}
			}
			what := string(at) + " " + string(c.function)
			for _, from := range []node.Caller{a, self} {
				v, err := rpc.Call[any](testkit.Context(t), from, at, "far", c.function, c.args...)
				assert.Equal(t, c.value, v, what)
				assert.Equal(t, c.err, unreached(t, at, err), what)
			}
			f := rpc.Async[any](self, at, "far", c.function, c.args...)
			g := rpc.Async[any](a, at, "far", c.function, c.args...)
			<-f.Done()
			<-g.Done()
			v, _, err := f.Result()
			assert.Equal(t, c.value, v, what)
			assert.Equal(t, c.err, unreached(t, at, err), what)
			want := node.Result{Tag: what, Value: c.value, Err: c.err}
			g.SendTo(self.Self(), what)
			told := func(m any) node.Result {
				r := m.(node.Result)
				r.Err = unreached(t, at, r.Err)
				return r
			}
			assert.Equal(t, want, told(self.Receive()), what)
			rpc.Request(self, at, what, "far", c.function, c.args...)
			assert.Equal(t, want, told(self.Receive()), what)
			require.NoError(t, a.Send(node.Atom("actor"), func(ctx *node.Context) {
				rpc.Request(ctx, at, what, "far", c.function, c.args...)
				v, err := rpc.Call[any](context.Background(), ctx, at, "far", c.function, c.args...)
				actor <- node.Result{Tag: what, Value: v, Err: err}
			}))
			assert.Equal(t, want, told(caught(t, actor)), what)
			assert.Equal(t, want, told(caught(t, actor)), what)
		}
	}
	for _, c := range rpcCases {
		for _, from := range []node.Caller{a, self} {
			replies := rpc.Multi[any](testkit.Context(t), from, nodes, "far", c.function, c.args...)
			require.Len(t, replies, len(nodes))
			for i, r := range replies {
				want := rpc.Reply[any]{Node: nodes[i], Value: c.value, Err: c.err}
				if i == 2 {
					want.Value, want.Err = nil, &node.ExitError{Reason: node.NoConnection}
				}
				r.Err = unreached(t, nodes[i], r.Err)
				assert.Equal(t, want, r, "%s %d", c.function, i)
			}
		}
	}
	assert.Empty(t, rpc.Multi[any](testkit.Context(t), self, nil, "far", "give", 1))
	testkit.Until(t, func() string { return node.FarTables(a) + node.FarTables(b) })
}

// Errors can be told apart.
func TestRPCErrors(t *testing.T) {
	a, b, self, _ := two(t)
	exportFar(t, b)
	for _, at := range []node.Atom{a.Name(), b.Name()} {
		_, err := rpc.Call[any](testkit.Context(t), self, at, "far", "nothing")
		assert.ErrorIs(t, err, rpc.ErrUndef)
		assert.NotErrorIs(t, err, node.ErrNoConnection)
	}
	n, err := rpc.Call[int](testkit.Context(t), self, b.Name(), "far", "give", 5)
	require.NoError(t, err)
	assert.Equal(t, 5, n)
	_, err = rpc.Call[int](testkit.Context(t), self, b.Name(), "far", "give", node.Atom("a"))
	assert.ErrorIs(t, err, node.ErrReplyType)
	_, err = rpc.Call[any](testkit.Context(t), self, "nobody@127.0.0.1", "far", "give", 1)
	assert.ErrorIs(t, err, node.ErrNoConnection)
	local := nodetest.Start(t, node.Config{})
	_, err = rpc.Call[any](testkit.Context(t), local, b.Name(), "far", "give", 1)
	assert.ErrorIs(t, err, node.ErrNoConnection)
	assert.ErrorIs(t, rpc.Cast(local, b.Name(), "far", "give", 1), node.ErrNotHere)
	v, err := rpc.Call[any](testkit.Context(t), local, local.Name(), "far", "give", 1)
	assert.ErrorIs(t, err, rpc.ErrUndef, "%v", v)

	for _, c := range []struct{ err, want any }{
		{&rpc.Error{Class: "throw", Reason: 1}, wire.Tuple{node.Atom("nocatch"), 1}},
		{&rpc.Error{Class: "exit", Reason: 1}, wire.Tuple{node.Atom("exception"), 1}},
		{&rpc.Error{Class: "error", Reason: 1, Stack: wire.List{}}, wire.Tuple{node.Atom("exception"), 1, wire.List{}}},
		{&rpc.Error{Class: "error", Reason: wire.Tuple{node.Atom("erpc"), 1}}, wire.Tuple{node.Atom("erpc"), 1}},
	} {
		assert.Equal(t, c.want, values.ErrorTerm(c.err.(error)))
	}
}

// The end of a context ends the wait, not the function; other waits are not held up.
func TestRPCTimeout(t *testing.T) {
	a, b, self, _ := two(t)
	waits := exportFar(t, b)
	exportFar(t, a)
	for _, at := range []node.Atom{b.Name(), a.Name()} {
		ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
		_, err := rpc.Call[any](ctx, self, at, "far", "wait")
		assert.ErrorIs(t, err, context.DeadlineExceeded)
		cancel()
	}
	assert.True(t, b.IsAlive(<-waits))

	ctx, cancel := context.WithCancelCause(t.Context())
	go func() { // ends the wait once all nodes are asked and nobody's attempt has failed
		<-waits
		<-waits
		nobody := func(p observe.Peer) bool { return p.Name == "nobody@127.0.0.1" }
		for slices.ContainsFunc(a.Peers(), nobody) && t.Context().Err() == nil {
			runtime.Gosched()
		}
		assert.Error(t, a.Connect(t.Context(), "nobody@127.0.0.1"), "and what had waited for the last attempt has failed before")
		cancel(node.ErrTimeout)
	}()
	replies := rpc.Multi[any](ctx, self, []node.Atom{b.Name(), "nobody@127.0.0.1", b.Name()}, "far", "wait")
	assert.ErrorIs(t, replies[0].Err, node.ErrTimeout)
	assert.ErrorIs(t, replies[1].Err, node.ErrNoConnection)
	assert.ErrorIs(t, replies[2].Err, node.ErrTimeout)
	testkit.Until(t, func() string { return node.FarTables(a) })

	f := rpc.Async[any](self, b.Name(), "far", "wait")
	pid := <-waits
	_, done, err := f.Result()
	assert.NoError(t, err)
	assert.False(t, done)
	b.Exit(pid, node.Atom("enough"))
	_, err = node.Await(testkit.Context(t), self, f)
	assert.Equal(t, &node.ExitError{Reason: node.Atom("enough")}, err)
}

// A process that is killed while it waits for many calls leaves nothing behind.
func TestRPCKilled(t *testing.T) {
	a, b, _, _ := two(t)
	waits := exportFar(t, b)
	for _, o := range []node.Options{{}, {Coroutine: true}} {
		pid, err := a.SpawnOpt(o, node.ProcessFunc(func(p *node.Process) error {
			rpc.Multi[any](context.Background(), p, []node.Atom{b.Name(), b.Name()}, "far", "wait")
			return nil
		}))
		require.NoError(t, err)
		for range 2 {
			defer b.Exit(<-waits, node.Kill)
		}
		a.Exit(pid, node.Kill)
		testkit.Until(t, func() string { return node.FarTables(a) })
	}
}

// A lost connection ends all calls over it.
func TestRPCNoConnection(t *testing.T) {
	a, b, self, _ := two(t)
	waits := exportFar(t, b)
	f := rpc.Async[any](self, b.Name(), "far", "wait")
	rpc.Request(self, b.Name(), "tag", "far", "wait")
	for range 2 {
		defer b.Exit(<-waits, node.Kill)
	}
	require.True(t, a.Disconnect(b.Name()))
	_, err := node.Await(testkit.Context(t), self, f)
	assert.ErrorIs(t, err, node.ErrNoConnection)
	assert.ErrorIs(t, self.Receive().(node.Result).Err, node.ErrNoConnection)
}

func TestRPCCast(t *testing.T) {
	a, b, self, _ := two(t)
	exportFar(t, a)
	exportFar(t, b)
	for _, at := range []node.Atom{a.Name(), b.Name()} {
		for _, from := range []node.Caller{a, self} {
			require.NoError(t, rpc.Cast(from, at, "far", "tell", self.Self(), at))
			assert.Equal(t, at, self.Receive())
		}
		require.NoError(t, rpc.Cast(self, at, "far", "raise", node.Atom("error"), 1))
	}
	dead := a.DeadLetters(1)
	require.NoError(t, rpc.Cast(self, "nobody@127.0.0.1", "far", "give", 1))
	l := <-dead.C
	assert.Equal(t, deadletter.NotConnected, l.Cause)
	assert.Equal(t, wire.Tuple{node.Atom("far"), node.Atom("give"), wire.List{1}}, l.Message)
	testkit.Until(t, func() string { return node.FarTables(a) + node.FarTables(b) })

	gone := nodetest.NewProbe(t, a)
	gone.Close(nil)
	assert.ErrorIs(t, rpc.Cast(gone, b.Name(), "far", "give", 1), node.ErrExited)
	_, err := rpc.Call[any](testkit.Context(t), gone, b.Name(), "far", "give", 1)
	assert.ErrorIs(t, err, node.ErrExited)
}

// A node can start processes on itself as on another node.
func TestSpawnAtHere(t *testing.T) {
	n := nodetest.Start(t, node.Config{})
	require.NoError(t, rpc.ExportBehaviour(n, mfa("m", "echo", 0), func([]any) (node.Actor, error) { return node.ActorFunc(echo), nil }))
	pid, err := rpc.Spawn(testkit.Context(t), n, n.Name(), "m", "echo")
	require.NoError(t, err)
	v, err := node.Call[int](testkit.Context(t), n, pid, 3)
	require.NoError(t, err)
	assert.Equal(t, 3, v)
	pid, err = rpc.Spawn(testkit.Context(t), n, n.Name(), "m", "nothing")
	require.NoError(t, err, "undef is an exit reason")
	_, err = node.AwaitExit(testkit.Context(t), n, pid)
	require.NoError(t, err)
	_, err = rpc.Spawn(testkit.Context(t), n, "nobody@127.0.0.1", "m", "echo")
	assert.ErrorIs(t, err, node.ErrNoConnection)
}
