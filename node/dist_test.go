package node_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/internal/testkit"
	"github.com/actornode/actornode/internal/testkit/actortest"
	"github.com/actornode/actornode/internal/testkit/clustertest"
	"github.com/actornode/actornode/node"
	"github.com/actornode/actornode/node/nodetest"
	"github.com/actornode/actornode/node/rpc"
	"github.com/actornode/actornode/wire"
)

// echo answers calls with the request's body, and {From, Term} with {Self, Term}.
func echo(c *node.Context, msg any) error {
	if r, ok := c.Node().AsRequest(msg); ok {
		if r.Body == node.Atom("crash") {
			return node.ExitWith(node.Atom("oops"))
		}
		return c.Reply(r.From, r.Body)
	}
	switch m := msg.(type) {
	case wire.Tuple:
		return c.Send(m[0].(node.PID), wire.Tuple{c.Self(), m[1]})
	case node.Atom:
		return node.ExitWith(m)
	}
	return nil
}

// two starts two nodes and a handle on the first, which traps exits.
func two(t *testing.T) (a, b *node.Node, self *node.Process, remote node.PID) {
	c := clustertest.NewMemoryCluster(t)
	a, b = c.Start("a"), c.Start("b")
	self = nodetest.NewProbe(t, a).Process
	self.TrapExit(true)
	remote, err := b.SpawnOpt(node.Options{Name: "echo"}, node.ActorFunc(echo))
	require.NoError(t, err)
	return a, b, self, remote
}

func TestFarSend(t *testing.T) {
	a, b, self, remote := two(t)
	require.NoError(t, self.Send(remote, wire.Tuple{self.Self(), 1}))
	assert.Equal(t, wire.Tuple{remote, 1}, self.Receive())
	require.NoError(t, self.Send(node.At{Name: "echo", Node: b.Name()}, wire.Tuple{self.Self(), 2}))
	assert.Equal(t, wire.Tuple{remote, 2}, self.Receive())
	assert.Equal(t, []node.Atom{b.Name()}, a.AllNodes())
	assert.Equal(t, []node.Atom{a.Name()}, b.AllNodes())
	require.NoError(t, a.Ping(testkit.Context(t), b.Name()))
	require.Error(t, a.Ping(testkit.Context(t), "nobody@127.0.0.1"))
}

func TestFarOrder(t *testing.T) {
	_, _, self, remote := two(t)
	for i := range 10_000 {
		self.Send(remote, wire.Tuple{self.Self(), i})
	}
	for i := range 10_000 {
		require.Equal(t, wire.Tuple{remote, i}, self.Receive())
	}
}

func TestFarCall(t *testing.T) {
	a, b, self, remote := two(t)
	ctx := testkit.Context(t)
	v, err := node.Call[int](ctx, a, remote, 5)
	require.NoError(t, err)
	assert.Equal(t, 5, v)
	v, err = node.Call[int](ctx, self, node.At{Name: "echo", Node: b.Name()}, 6)
	require.NoError(t, err)
	assert.Equal(t, 6, v)
	_, err = node.Call[int](ctx, self, node.At{Name: "nobody", Node: b.Name()}, 6)
	require.ErrorIs(t, err, node.ErrNoProcess)
	_, err = node.Call[int](ctx, self, node.At{Name: "echo", Node: "nowhere@127.0.0.1"}, 6)
	var exit *node.ExitError
	require.ErrorAs(t, err, &exit)
	assert.Equal(t, node.NoConnection, exit.Reason)
	_, err = node.Call[int](ctx, self, remote, node.Atom("crash"))
	require.ErrorAs(t, err, &exit)
	assert.Equal(t, node.Atom("oops"), exit.Reason)
}

// A term is converted to the type that the caller wants, if possible.
func TestFarCallTyped(t *testing.T) {
	_, _, self, remote := two(t)
	type sum struct {
		_ struct{} `etf:"sum,tuple"`
		N int
	}
	v, err := node.Call[sum](testkit.Context(t), self, remote, wire.Tuple{node.Atom("sum"), 5})
	require.NoError(t, err)
	assert.Equal(t, sum{N: 5}, v)
	_, err = node.Call[sum](testkit.Context(t), self, remote, wire.Tuple{node.Atom("difference"), 5})
	require.ErrorIs(t, err, node.ErrReplyType)
}

func TestFarCallTimesOut(t *testing.T) {
	_, b, self, _ := two(t)
	late := make(chan node.From, 1)
	slow, err := b.Spawn(node.ActorFunc(func(c *node.Context, msg any) error {
		if r, ok := c.Node().AsRequest(msg); ok {
			late <- r.From
		}
		return nil
	}))
	require.NoError(t, err)
	_, err = actortest.CallWithin[int](time.Millisecond, self, slow, 1)
	require.ErrorIs(t, err, node.ErrTimeout)
	(<-late).Reply(1) // finds nobody
	self.Send(self.Self(), "next")
	assert.Equal(t, "next", self.Receive())
}

func TestFarMonitor(t *testing.T) {
	_, b, self, remote := two(t)
	byPID := self.Monitor(remote)
	byName := self.Monitor(node.At{Name: "echo", Node: b.Name()})
	taken := self.Monitor(remote)
	assert.True(t, self.DemonitorFlush(taken))
	self.Send(remote, node.Atom("done"))
	got := map[node.Ref]node.Down{}
	for range 2 {
		d := node.ReceiveOf[node.Down](self)
		got[d.Ref] = d
	}
	assert.Equal(t, node.Down{Ref: byPID, PID: remote, Reason: node.Atom("done")}, got[byPID])
	assert.Equal(t, node.Down{Ref: byName, Name: "echo", Node: b.Name(), Reason: node.Atom("done")}, got[byName])
	again := self.Monitor(remote)
	assert.Equal(t, node.Down{Ref: again, PID: remote, Reason: node.NoProc}, self.Receive())
}

func TestFarLink(t *testing.T) {
	_, b, self, remote := two(t)
	self.Link(remote)
	self.Send(remote, node.Atom("bye"))
	assert.Equal(t, node.Exited{From: remote, Reason: node.Atom("bye")}, self.Receive())
	self.Link(remote)
	assert.Equal(t, node.Exited{From: remote, Reason: node.NoProc}, self.Receive())

	other, err := b.Spawn(node.ActorFunc(echo))
	require.NoError(t, err)
	self.Link(other)
	self.Unlink(other)
	ref := self.Monitor(other)
	self.Send(other, node.Atom("bye"))
	assert.Equal(t, node.Down{Ref: ref, PID: other, Reason: node.Atom("bye")}, self.Receive(), "and no exit signal")

	third, err := b.Spawn(node.ActorFunc(echo))
	require.NoError(t, err)
	ref = self.Monitor(third)
	self.Exit(third, node.Kill)
	assert.Equal(t, node.Down{Ref: ref, PID: third, Reason: node.Killed}, self.Receive())
}

// The exit of a process breaks its link on the other node.
func TestFarLinkBreaksThere(t *testing.T) {
	a, b, self, _ := two(t)
	near, err := a.Spawn(node.ActorFunc(echo))
	require.NoError(t, err)
	seen := make(chan any, 1)
	_, err = b.Spawn(node.ProcessFunc(func(p *node.Process) error {
		p.TrapExit(true)
		p.Link(near)
		p.Send(near, wire.Tuple{p.Self(), "linked"})
		p.Receive()
		self.Node().Send(near, node.Atom("boom"))
		seen <- p.Receive()
		return nil
	}))
	require.NoError(t, err)
	assert.Equal(t, node.Exited{From: near, Reason: node.Atom("boom")}, <-seen)
}

// A goroutine that is no process ends a process of another node, and the connection stays.
func TestFarExitByNobody(t *testing.T) {
	clustertest.EachProtocol(t, func(t *testing.T, c *clustertest.Cluster) {
		a, b := startTwo(t, c, node.Distribution{})
		for range 2 {
			pid, err := b.Spawn(node.ActorFunc(echo))
			require.NoError(t, err)
			self := nodetest.NewProbe(t, b)
			ref := self.Monitor(pid)
			a.Exit(pid, node.Kill)
			assert.Equal(t, node.Killed, self.ExpectDown(ref).Reason)
			assert.Equal(t, []node.Atom{a.Name()}, b.AllNodes())
		}
	})
}

func TestFarConnectionLost(t *testing.T) {
	a, b, self, remote := two(t)
	require.NoError(t, a.Connect(testkit.Context(t), b.Name()))
	self.Link(remote)
	ref := self.Monitor(remote)
	self.MonitorNode(b.Name())
	_, err := node.Call[int](testkit.Context(t), self, remote, 1)
	require.NoError(t, err)
	silent, err := b.Spawn(node.ActorFunc(func(*node.Context, any) error { return nil }))
	require.NoError(t, err)
	other, err := b.Spawn(node.ActorFunc(echo))
	require.NoError(t, err)
	call := node.Async[int](self, silent, 1)
	require.True(t, a.Disconnect(b.Name()))
	got := []any{self.Receive(), self.Receive(), self.Receive()}
	assert.Contains(t, got, node.Exited{From: remote, Reason: node.NoConnection})
	for i, m := range got {
		if d, ok := m.(node.Down); ok {
			assert.ErrorContains(t, d.Cause, "disconnected by this node")
			d.Cause = nil
			got[i] = d
		}
	}
	assert.Contains(t, got, node.Down{Ref: ref, PID: remote, Reason: node.NoConnection})
	assert.Contains(t, got, node.NodeDown{Node: b.Name(), Reason: "disconnected by this node"})
	_, err = node.Await(testkit.Context(t), self, call)
	var exit *node.ExitError
	require.ErrorAs(t, err, &exit)
	assert.Equal(t, node.NoConnection, exit.Reason)

	v, err := node.Call[int](testkit.Context(t), self, other, 7) // connected again by itself
	require.NoError(t, err)
	assert.Equal(t, 7, v)
}

func TestFarSpawn(t *testing.T) {
	a, b, self, _ := two(t)
	require.NoError(t, rpc.ExportBehaviour(b, wire.Export{Module: "demo", Function: "echo", Arity: 0}, func([]any) (node.Actor, error) {
		return node.ActorFunc(echo), nil
	}))
	require.NoError(t, rpc.Export(b, wire.Export{Module: "demo", Function: "add", Arity: 2}, func(_ context.Context, args []any) (any, error) {
		return args[0].(int) + args[1].(int), nil
	}))
	require.NoError(t, rpc.Export(b, wire.Export{Module: "demo", Function: "fail", Arity: 0}, func(context.Context, []any) (any, error) {
		return nil, errors.New("no")
	}))
	pid, err := rpc.Spawn(testkit.Context(t), self, b.Name(), "demo", "echo")
	require.NoError(t, err)
	assert.Equal(t, b.Name(), pid.Node())
	v, err := node.Call[int](testkit.Context(t), a, pid, 3)
	require.NoError(t, err)
	assert.Equal(t, 3, v)

	sum, err := rpc.Call[any](testkit.Context(t), a, b.Name(), "demo", "add", 1, 2)
	require.NoError(t, err)
	assert.Equal(t, 3, sum)
	var raised *rpc.Error
	_, err = rpc.Call[any](testkit.Context(t), self, b.Name(), "demo", "nothing")
	require.ErrorAs(t, err, &raised)
	assert.Equal(t, &rpc.Error{Class: "error", Reason: node.Atom("undef"),
		Stack: wire.List{wire.Tuple{node.Atom("demo"), node.Atom("nothing"), wire.List(nil), wire.List{}}}}, raised)
	_, err = rpc.Call[any](testkit.Context(t), self, b.Name(), "demo", "fail")
	require.ErrorAs(t, err, &raised)
	assert.Equal(t, "no", raised.Reason)
}

// A node that comes back under its name is a new one: its old PIDs are dead.
func TestFarNewLife(t *testing.T) {
	c := clustertest.NewMemoryCluster(t)
	a := c.Start("a")
	b, err := node.Start(c.Config("b"))
	require.NoError(t, err)
	old, err := b.SpawnOpt(node.Options{Name: "echo"}, node.ActorFunc(echo))
	require.NoError(t, err)
	_, err = node.Call[int](testkit.Context(t), a, old, 1)
	require.NoError(t, err)
	self := nodetest.NewProbe(t, a)
	self.MonitorNode(b.Name())
	require.NoError(t, b.Stop())
	require.IsType(t, node.NodeDown{}, self.Receive())
	b = c.Start("b")
	_, err = b.SpawnOpt(node.Options{Name: "echo"}, node.ActorFunc(echo))
	require.NoError(t, err)
	v, err := node.Call[int](testkit.Context(t), a, node.At{Name: "echo", Node: b.Name()}, 2)
	require.NoError(t, err)
	assert.Equal(t, 2, v)
	_, err = node.Call[int](testkit.Context(t), a, old, 3)
	require.ErrorIs(t, err, node.ErrNoProcess)
}

// Both nodes connect at the same time, again and again: one connection is left. The end of the previous one may be
// noticed late, so a call may run into it.
func TestFarSimultaneous(t *testing.T) {
	c := clustertest.NewMemoryCluster(t)
	a, b := c.Start("a"), c.Start("b")
	for _, n := range []*node.Node{a, b} {
		_, err := n.SpawnOpt(node.Options{Name: "echo"}, node.ActorFunc(echo))
		require.NoError(t, err)
	}
	ctx := testkit.Context(t)
	for range 100 {
		for {
			there := node.Async[int](a, node.At{Name: "echo", Node: b.Name()}, 1)
			back := node.Async[int](b, node.At{Name: "echo", Node: a.Name()}, 2)
			_, err1 := node.Await(ctx, a, there)
			_, err2 := node.Await(ctx, b, back)
			if err1 == nil && err2 == nil {
				break
			}
			require.NoError(t, ctx.Err(), "%v %v", err1, err2)
		}
		a.Disconnect(b.Name())
		for len(b.AllNodes()) > 0 {
			b.Disconnect(a.Name())
		}
	}
	testkit.UntilTrue(t, func() bool {
		_, err := node.Call[int](ctx, a, node.At{Name: "echo", Node: b.Name()}, 1)
		return err == nil && len(a.AllNodes()) == 1 && len(b.AllNodes()) == 1
	}, "both have the connection")
}
