package admin_test

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/internal/daemon/admin"
	"github.com/actornode/actornode/internal/testkit"
	"github.com/actornode/actornode/internal/testkit/clustertest"
	"github.com/actornode/actornode/node"
	"github.com/actornode/actornode/node/active"
	"github.com/actornode/actornode/node/genserver"
	"github.com/actornode/actornode/node/observe"
	"github.com/actornode/actornode/node/rpc"
	"github.com/actornode/actornode/wire"
)

func TestStatus(t *testing.T) {
	level := new(slog.LevelVar)
	started := time.Now().Add(-time.Hour)
	var ready atomic.Bool
	far, near := two(t, admin.Config{Version: "1.2.3", Level: level, Started: started,
		Listeners: func() []string { return []string{"here:1"} },
		Ready: func() error {
			if ready.Load() {
				return nil
			}
			return errors.New("not yet")
		}})
	pid := spawn(t, far, "echo", node.ActorFunc(echo))
	for i := range 100 {
		_, err := node.Call[int](testkit.Context(t), near, pid, i)
		require.NoError(t, err)
	}
	require.Error(t, far.Send(node.Atom("nobody"), 1))
	var s admin.Summary
	settles(t, func() bool { // an answered message is counted after the answer
		var err error
		s, err = admin.Status(testkit.Context(t), near, far.Name())
		return err == nil && s.Handled >= 100 && len(s.Peers) == 1 && s.Peers[0].FramesOut >= 100
	})
	assert.Equal(t, far.Name(), s.Node)
	assert.Equal(t, far.Creation(), s.Creation)
	assert.Equal(t, "1.2.3", s.Version)
	assert.Equal(t, []string{"here:1"}, s.Listeners)
	assert.Equal(t, started.UnixMicro(), s.Started.UnixMicro())
	assert.InDelta(t, time.Hour, s.Uptime, float64(time.Minute))
	assert.False(t, s.Ready)
	assert.Equal(t, "not yet", s.NotReady)
	assert.False(t, s.Draining)
	assert.EqualValues(t, "info", s.LogLevel)
	assert.GreaterOrEqual(t, s.Processes, 4) // net_kernel, rex, echo, actornode
	assert.GreaterOrEqual(t, s.Names, 4)
	assert.GreaterOrEqual(t, s.Handled, uint64(100))
	assert.Equal(t, map[node.Atom]uint64{"no_process": 1}, s.DeadLetters)
	assert.Positive(t, s.Memory.Total)
	assert.Positive(t, s.Memory.Objects)
	assert.Positive(t, s.CPUs)
	require.Len(t, s.Peers, 1)
	p := s.Peers[0]
	assert.Equal(t, near.Name(), p.Name)
	assert.EqualValues(t, "up", p.State)
	assert.Equal(t, near.Creation(), p.Creation)
	assert.NotEmpty(t, p.Protocol)
	assert.Greater(t, p.BytesIn, uint64(1000))
	assert.Greater(t, p.BytesOut, uint64(1000))
	assert.GreaterOrEqual(t, p.FramesIn, uint64(100))
	assert.GreaterOrEqual(t, p.FramesOut, uint64(100))
	assert.False(t, p.Since.IsZero())
	assert.Less(t, p.Silent, testkit.Limit)

	ready.Store(true)
	s, err := admin.Status(testkit.Context(t), far, far.Name()) // from the node itself
	require.NoError(t, err)
	assert.True(t, s.Ready)
	assert.Empty(t, s.NotReady)
	b, err := json.Marshal(s)
	require.NoError(t, err)
	assert.Contains(t, string(b), `"node":"far@127.0.0.1"`)

	nodes, err := admin.Nodes(testkit.Context(t), near, far.Name())
	require.NoError(t, err)
	require.Len(t, nodes, 1)
	assert.Equal(t, near.Name(), nodes[0].Name)
}

func TestProcesses(t *testing.T) {
	far, near := two(t, admin.Config{Limit: 50})
	for range 200 {
		spawn(t, far, "", node.ActorFunc(echo))
	}
	busy := spawn(t, far, "busy", node.ActorFunc(func(c *node.Context, msg any) error {
		if r, ok := c.Node().AsRequest(msg); ok {
			c.Reply(r.From, 1)
			return nil
		}
		return node.ErrUnhandled
	}))
	for i := range 30 {
		require.NoError(t, far.Send(busy, i))
	}
	list := func(q admin.Query) admin.Listing {
		t.Helper()
		l, err := admin.Processes(testkit.Context(t), near, far.Name(), q)
		require.NoError(t, err)
		return l
	}
	l := list(admin.Query{Sort: "mailbox", Limit: 3})
	require.Len(t, l.Processes, 3)
	assert.Equal(t, busy, l.Processes[0].PID)
	assert.EqualValues(t, "busy", l.Processes[0].Name)
	assert.GreaterOrEqual(t, l.Processes[0].Mailbox, 29)
	assert.Greater(t, l.Total, 200)
	assert.Equal(t, l.Total, l.Matched)

	l = list(admin.Query{})
	assert.Len(t, l.Processes, 50, "the service's limit")
	for i := range l.Processes[1:] {
		assert.Negative(t, wire.Compare(l.Processes[i].PID, l.Processes[i+1].PID))
	}
	l = list(admin.Query{Text: "BUS"})
	require.Len(t, l.Processes, 1)
	assert.Equal(t, 1, l.Matched)
	l = list(admin.Query{Registered: true, Sort: "name"})
	var names []node.Atom
	for _, p := range l.Processes {
		names = append(names, p.Name)
	}
	assert.IsNonDecreasing(t, names)
	assert.Contains(t, names, admin.Name)
	l = list(admin.Query{Registered: true, Sort: "name", Reverse: true})
	assert.Equal(t, names[len(names)-1], l.Processes[0].Name)
	l = list(admin.Query{Mailbox: 20})
	assert.Equal(t, 1, l.Matched)
	l = list(admin.Query{State: "idle", Limit: 1})
	assert.Greater(t, l.Matched, 100)
	assert.Len(t, l.Processes, 1)
	for _, by := range []node.Atom{"age", "handled", "links", "memory", "pid"} {
		assert.Len(t, list(admin.Query{Sort: by, Limit: 10}).Processes, 10, by)
	}

	for _, q := range []admin.Query{{Sort: "beauty"}, {Window: time.Hour}, {State: "happy"}, {Limit: -1}} {
		_, err := admin.Processes(testkit.Context(t), near, far.Name(), q)
		assert.ErrorIs(t, err, admin.ErrBadRequest, "%+v", q)
	}
}

// A rate is the number of messages that a process handles in the window.
func TestRate(t *testing.T) {
	far, near := two(t, admin.Config{})
	ticks, err := far.SpawnOpt(node.Options{Name: "ticks"}, node.ActorFunc(func(*node.Context, any) error { return nil }))
	require.NoError(t, err)
	timer, err := far.SendInterval(time.Millisecond, ticks, "tick")
	require.NoError(t, err)
	defer timer.Cancel()
	settles(t, func() bool { // a window may be too short for the process to get a turn
		l, err := admin.Processes(testkit.Context(t), near, far.Name(),
			admin.Query{Sort: "rate", Window: 300 * time.Millisecond, Limit: 1})
		return err == nil && len(l.Processes) == 1 && l.Processes[0].PID == ticks && l.Processes[0].Rate > 0
	})
}

func TestInfo(t *testing.T) {
	far, near := two(t, admin.Config{})
	pid := spawn(t, far, "counter", node.ActorFunc(func(c *node.Context, msg any) error {
		if msg == "start" {
			c.TrapExit(true)
			child, err := c.SpawnOpt(node.Options{Link: true}, node.ActorFunc(echo))
			if err != nil {
				return err
			}
			c.Monitor(child)
			return nil
		}
		return node.ErrUnhandled
	}))
	defer far.Exit(pid, node.Kill) // it ignores the node's stop
	require.NoError(t, far.Send(pid, "start"))
	require.NoError(t, far.Send(pid, wire.Tuple{wire.Atom("add"), 5}))
	require.NoError(t, far.Send(pid, strings.Repeat("x", 100_000)))
	settles(t, func() bool {
		i, err := far.Info(pid)
		return err == nil && i.State == observe.Idle && i.TrapExit && i.Mailbox == 2
	})
	text := pid.String()
	for _, target := range []any{pid, node.Atom("counter"), "counter", text, strings.Replace(text, "far@127.0.0.1", "0", 1)} {
		d, err := admin.Info(testkit.Context(t), near, far.Name(), target)
		require.NoError(t, err, "%v", target)
		assert.Equal(t, pid, d.PID)
		assert.EqualValues(t, "counter", d.Name)
		assert.Equal(t, 2, d.Mailbox)
		require.Len(t, d.Messages, 2)
		assert.True(t, wire.Equal(wire.Tuple{wire.Atom("add"), 5}, d.Messages[0]), "%v", d.Messages[0])
		long, ok := wire.AsText(d.Messages[1])
		assert.True(t, ok)
		assert.Less(t, len(long), 2000)
		assert.True(t, strings.HasSuffix(long, "..."))
		assert.Len(t, d.Linked, 1)
		assert.Equal(t, d.Linked, d.Watches)
		assert.True(t, d.TrapExit)
		assert.Contains(t, d.Code, "admin_test")
		assert.False(t, d.Traced)
		assert.Equal(t, 1, d.Watching)
		child, err := admin.Info(testkit.Context(t), near, far.Name(), d.Linked[0])
		require.NoError(t, err)
		assert.Equal(t, pid, child.Parent)
		assert.True(t, wire.Equal(wire.List{wire.Atom("counter")}, wire.List(child.Ancestry)), "%v", child.Ancestry)
		assert.Equal(t, "{add,5}", wire.Format(d.Messages[0]))
	}
	for target, want := range map[any]error{
		node.Atom("nobody"): node.ErrNoName, "nobody": node.ErrNoName, "<0.99999.0>": node.ErrNoProcess, "99999": node.ErrNoProcess,
		"<near@127.0.0.1.1.0>": node.ErrNotHere, "<7.1.0>": admin.ErrBadRequest, 42: admin.ErrBadRequest, "": node.ErrNoName,
	} {
		_, err := admin.Info(testkit.Context(t), near, far.Name(), target)
		assert.ErrorIs(t, err, want, "%v", target)
	}
}

func TestSendAndCall(t *testing.T) {
	far, near := two(t, admin.Config{})
	got := make(chan any, 1)
	spawn(t, far, "sink", node.ActorFunc(func(_ *node.Context, msg any) error { got <- msg; return nil }))
	spawn(t, far, "echo", node.ActorFunc(echo))
	deaf := spawn(t, far, "deaf", node.ActorFunc(func(*node.Context, any) error { return nil }))
	ctx := testkit.Context(t)
	require.NoError(t, admin.Send(ctx, near, far.Name(), "sink", wire.Tuple{wire.Atom("add"), 5}))
	assert.True(t, wire.Equal(wire.Tuple{wire.Atom("add"), 5}, <-got))
	v, err := admin.Call(ctx, near, far.Name(), node.Atom("echo"), wire.Tuple{wire.Atom("x"), 1}, time.Minute)
	require.NoError(t, err)
	assert.True(t, wire.Equal(wire.Tuple{wire.Atom("x"), 1}, v))
	_, err = admin.Call(ctx, near, far.Name(), deaf, 1, 10*time.Millisecond)
	assert.ErrorIs(t, err, node.ErrTimeout)
	_, err = admin.Call(ctx, near, far.Name(), "echo", wire.Atom("die"), time.Minute)
	assert.ErrorContains(t, err, "oops")
	_, err = admin.Call(ctx, near, far.Name(), "nobody", 1, time.Minute)
	assert.ErrorIs(t, err, node.ErrNoName)
	assert.ErrorIs(t, admin.Send(ctx, near, far.Name(), "nobody", 1), node.ErrNoName)
}

// The answers of a server of this module arrive as terms.
func TestCallOfServer(t *testing.T) {
	type state struct{ n int }
	type reply struct{ N int }
	far, near := two(t, admin.Config{})
	kind := genserver.Define(genserver.OnAnyCall(func(s *state, _ *genserver.Context, a wire.Atom) (any, error) {
		if a == "bad" {
			return nil, errors.New("no")
		}
		s.n++
		return reply{s.n}, nil
	}))
	spawn(t, far, "server", kind.New(&state{}))
	v, err := admin.Call(testkit.Context(t), near, far.Name(), "server", wire.Atom("next"), time.Minute)
	require.NoError(t, err)
	text, _ := wire.AsText(v)
	assert.Equal(t, "{N:1}", text)
	v, err = admin.Call(testkit.Context(t), near, far.Name(), "server", wire.Atom("bad"), time.Minute)
	require.NoError(t, err)
	assert.Equal(t, wire.AtomError, v.(wire.Tuple)[0], "as to any caller that is not written in Go")
}

func TestSpawnAndExit(t *testing.T) {
	far, near := two(t, admin.Config{})
	ctx := testkit.Context(t)
	require.NoError(t, rpc.ExportBehaviour(far, wire.Export{Module: "m", Function: "f", Arity: 1}, func(args []any) (node.Actor, error) {
		if args[0] == wire.Atom("bad") {
			return nil, errors.New("bad argument")
		}
		return node.ActorFunc(echo), nil
	}))
	pid, err := admin.Spawn(ctx, near, far.Name(), "m", "f", []any{1}, "one")
	require.NoError(t, err)
	assert.True(t, far.IsAlive(pid))
	_, err = admin.Spawn(ctx, near, far.Name(), "m", "f", []any{1}, "one")
	assert.ErrorIs(t, err, node.ErrNameTaken)
	_, err = admin.Spawn(ctx, near, far.Name(), "m", "f", nil, "")
	assert.ErrorIs(t, err, rpc.ErrUndef)
	_, err = admin.Spawn(ctx, near, far.Name(), "m", "f", []any{wire.Atom("bad")}, "")
	assert.ErrorContains(t, err, "bad argument")

	got, err := admin.Unregister(ctx, near, far.Name(), "one")
	require.NoError(t, err)
	assert.Equal(t, pid, got)
	got, err = admin.Register(ctx, near, far.Name(), "two", pid)
	require.NoError(t, err)
	assert.Equal(t, pid, got)
	_, err = admin.Register(ctx, near, far.Name(), "undefined", pid)
	assert.ErrorIs(t, err, node.ErrArgument)
	_, err = admin.Exit(ctx, near, far.Name(), "two", node.Kill)
	require.NoError(t, err)
	assert.False(t, far.IsAlive(pid))
	_, err = admin.Exit(ctx, near, far.Name(), pid, node.Kill)
	assert.ErrorIs(t, err, node.ErrNoProcess)
}

func TestConnect(t *testing.T) {
	f := new(clustertest.Places)
	far, near, third := startNode(t, f, "far"), startNode(t, f, "near"), startNode(t, f, "third")
	ctx := testkit.Context(t)
	require.NoError(t, admin.Start(ctx, far, admin.Config{}))
	require.NoError(t, admin.Connect(ctx, near, far.Name(), third.Name()))
	assert.Contains(t, far.AllNodes(), third.Name())
	assert.Error(t, admin.Connect(ctx, near, far.Name(), "nowhere@127.0.0.1"))
	was, err := admin.Disconnect(ctx, near, far.Name(), third.Name())
	require.NoError(t, err)
	assert.True(t, was)
	was, err = admin.Disconnect(ctx, near, far.Name(), third.Name())
	require.NoError(t, err)
	assert.False(t, was)
}

func TestLogLevel(t *testing.T) {
	level := new(slog.LevelVar)
	far, near := two(t, admin.Config{Level: level})
	was, err := admin.SetLogLevel(testkit.Context(t), near, far.Name(), slog.LevelDebug)
	require.NoError(t, err)
	assert.Equal(t, slog.LevelInfo, was)
	assert.Equal(t, slog.LevelDebug, level.Level())
	is, err := admin.LogLevel(testkit.Context(t), near, far.Name())
	require.NoError(t, err)
	assert.Equal(t, slog.LevelDebug, is)
	_, err = node.Call[any](testkit.Context(t), near, node.At{Name: admin.Name, Node: far.Name()},
		wire.Tuple{wire.Atom("log_level"), wire.Atom("loud")})
	require.NoError(t, err) // {error, _} is a reply
	assert.Equal(t, slog.LevelDebug, level.Level())
}

func TestProcessLevels(t *testing.T) {
	far, near := two(t, admin.Config{})
	ctx := testkit.Context(t)
	till, other := admin.ProcessLevel{Name: "till", Level: "debug"}, admin.ProcessLevel{Behaviour: "*shop.Cart", Level: "warn"}
	for _, l := range []admin.ProcessLevel{other, till} {
		_, err := admin.SetProcessLevel(ctx, near, far.Name(), l)
		require.NoError(t, err)
	}
	all, err := admin.ProcessLevels(ctx, near, far.Name())
	require.NoError(t, err)
	require.Equal(t, []admin.ProcessLevel{till, other}, all)
	require.Equal(t, []node.LogLevel{{Name: "till", Level: slog.LevelDebug}, {Behaviour: "*shop.Cart", Level: slog.LevelWarn}},
		far.LogLevels())
	till.Level = ""
	all, err = admin.SetProcessLevel(ctx, near, far.Name(), till)
	require.NoError(t, err)
	require.Equal(t, []admin.ProcessLevel{other}, all)
	for _, bad := range []admin.ProcessLevel{{Level: "debug"}, {Name: "till", Level: "loud"}} {
		_, err = admin.SetProcessLevel(ctx, near, far.Name(), bad)
		require.Error(t, err)
	}
}

func TestDrainAndStop(t *testing.T) {
	drains, stops, hold := make(chan context.Context, 2), make(chan struct{}, 2), make(chan error)
	far, near := two(t, admin.Config{
		Drain: func(ctx context.Context) error { drains <- ctx; return <-hold },
		Stop:  func() { stops <- struct{}{} },
	})
	done := make(chan error, 2)
	for range 2 { // drained once
		go func() { done <- admin.Drain(testkit.Context(t), near, far.Name()) }()
	}
	<-drains
	s, err := admin.Status(testkit.Context(t), near, far.Name())
	require.NoError(t, err)
	assert.True(t, s.Draining)
	assert.False(t, s.Ready)
	settles(t, func() bool {
		l, err := admin.Processes(testkit.Context(t), near, far.Name(), admin.Query{Text: "drain"})
		return err == nil && l.Matched == 1
	})
	hold <- errors.New("not all applications have stopped")
	assert.ErrorContains(t, <-done, "not all applications")
	// The other caller has made its request before that, or starts a new drain.
	select {
	case err := <-done:
		assert.ErrorContains(t, err, "not all applications")
		go func() { done <- admin.Drain(testkit.Context(t), near, far.Name()) }()
		<-drains
	case <-drains:
	}
	hold <- nil
	require.NoError(t, <-done)
	require.NoError(t, admin.Drain(testkit.Context(t), near, far.Name()), "it has been drained")
	require.NoError(t, admin.Stop(testkit.Context(t), near, far.Name()))
	<-stops
}

func TestNotSupported(t *testing.T) {
	far, near := two(t, admin.Config{})
	ctx := testkit.Context(t)
	assert.ErrorIs(t, admin.Drain(ctx, near, far.Name()), admin.ErrNotSupported)
	assert.ErrorIs(t, admin.Stop(ctx, near, far.Name()), admin.ErrNotSupported)
	_, err := admin.LogLevel(ctx, near, far.Name())
	assert.ErrorIs(t, err, admin.ErrNotSupported)
	_, err = admin.Status(ctx, far, near.Name())
	assert.ErrorIs(t, err, admin.ErrNoService)
	_, err = admin.Status(ctx, near, near.Name())
	assert.ErrorIs(t, err, admin.ErrNoService)
	_, err = admin.Status(ctx, near, "nowhere@127.0.0.1")
	var exited *node.ExitError
	require.ErrorAs(t, err, &exited)
	assert.Equal(t, node.NoConnection, exited.Reason)
	assert.ErrorIs(t, admin.Start(ctx, far, admin.Config{}), node.ErrNameTaken)
	assert.Error(t, admin.Start(ctx, near, admin.Config{Limit: -1}))
}

func TestReadOnly(t *testing.T) {
	far, near := two(t, admin.Config{ReadOnly: true, Level: new(slog.LevelVar), Stop: func() { t.Error("stopped") }})
	pid := spawn(t, far, "echo", node.ActorFunc(echo))
	ctx := testkit.Context(t)
	for name, f := range map[string]func() error{
		"send":       func() error { return admin.Send(ctx, near, far.Name(), pid, 1) },
		"call":       func() error { _, err := admin.Call(ctx, near, far.Name(), pid, 1, time.Second); return err },
		"exit":       func() error { _, err := admin.Exit(ctx, near, far.Name(), pid, node.Kill); return err },
		"register":   func() error { _, err := admin.Register(ctx, near, far.Name(), "x", pid); return err },
		"unregister": func() error { _, err := admin.Unregister(ctx, near, far.Name(), "echo"); return err },
		"spawn":      func() error { _, err := admin.Spawn(ctx, near, far.Name(), "m", "f", nil, ""); return err },
		"connect":    func() error { return admin.Connect(ctx, near, far.Name(), "x@y") },
		"disconnect": func() error { _, err := admin.Disconnect(ctx, near, far.Name(), near.Name()); return err },
		"drain":      func() error { return admin.Drain(ctx, near, far.Name()) },
		"stop":       func() error { return admin.Stop(ctx, near, far.Name()) },
		"log level":  func() error { _, err := admin.SetLogLevel(ctx, near, far.Name(), slog.LevelError); return err },
	} {
		assert.ErrorIs(t, f(), admin.ErrNotAllowed, name)
	}
	_, err := admin.LogLevel(ctx, near, far.Name())
	assert.NoError(t, err)
	_, err = admin.Info(ctx, near, far.Name(), pid)
	assert.NoError(t, err)
}

func TestAllow(t *testing.T) {
	far, near := two(t, admin.Config{Allow: func(peer, request node.Atom) bool {
		return peer == "far@127.0.0.1" ||
			request == "status"
	}})
	_, err := admin.Status(testkit.Context(t), near, far.Name())
	assert.NoError(t, err)
	_, err = admin.Nodes(testkit.Context(t), near, far.Name())
	assert.ErrorIs(t, err, admin.ErrNotAllowed)
	_, err = admin.Nodes(testkit.Context(t), far, far.Name())
	assert.NoError(t, err)
}

// Every message is answered, and none ends the service.
func TestGarbage(t *testing.T) {
	far, near := two(t, admin.Config{})
	ctx := testkit.Context(t)
	at := node.At{Name: admin.Name, Node: far.Name()}
	for _, body := range []any{
		wire.Atom("nonsense"), 42, wire.Tuple{}, wire.Tuple{1, 2}, wire.Tuple{wire.Atom("ps"), 1, 2}, wire.Tuple{wire.Atom("ps"), 17},
		wire.Tuple{wire.Atom("ps"), wire.NewMap(wire.Atom("limit"), wire.Atom("all"))}, wire.Tuple{wire.Atom("info")},
		wire.Tuple{wire.Atom("spawn"), 1, 2, 3}, wire.Tuple{wire.Atom("spawn"), wire.Atom("a"), wire.Atom("b"), 3},
		wire.Tuple{wire.Atom("register"), 1, 2}, wire.Tuple{wire.Atom("connect"), 1}, wire.Tuple{wire.Atom("trace"), wire.List{}},
		wire.Tuple{wire.Atom("trace"), wire.NewMap()}, wire.Tuple{wire.Atom("trace"), wire.NewMap(wire.Atom("targets"), wire.List{})},
		wire.Tuple{wire.Atom("call"), admin.Name, 1, -5}, wire.Tuple{wire.Atom("deadletters"), wire.NewMap(wire.Atom("window"), -1)},
		wire.Tuple{wire.Atom("deadletters"), wire.NewMap(wire.Atom("to"), 3)},
		wire.Tuple{wire.Atom("deadletters"), wire.NewMap(wire.Atom("size"), 1<<30)},
		wire.List{strings.Repeat("long", 10_000)},
	} {
		v, err := node.Call[any](ctx, near, at, body)
		require.NoError(t, err)
		tuple, ok := v.(wire.Tuple)
		require.True(t, ok && len(tuple) == 2 && tuple[0] == wire.AtomError, "%v", v)
		why := tuple[1].(wire.Tuple)
		assert.EqualValues(t, "bad_request", why[0], "%v", body)
		text, _ := wire.AsText(why[1])
		assert.Less(t, len(text), 600)
	}
	pid, _ := far.Whereis(admin.Name)
	require.NoError(t, near.Send(at, "what is this"))
	require.NoError(t, near.Send(at, wire.Tuple{wire.Atom("$gen_call"), 1, 2}))
	v, err := node.Call[any](ctx, near, at, wire.Tuple{wire.Atom("ps"),
		wire.NewMap(wire.Atom("limit"), 1, wire.Atom("from_the_future"), true)})
	require.NoError(t, err)
	assert.Equal(t, wire.AtomOK, v.(wire.Tuple)[0], "unknown keys are ignored")
	again, _ := far.Whereis(admin.Name)
	assert.Equal(t, pid, again)
}

// More than Workers requests at a time are refused, at once; quick requests go on.
func TestBusy(t *testing.T) {
	far, near := two(t, admin.Config{Workers: 2})
	deaf := spawn(t, far, "deaf", node.ActorFunc(func(*node.Context, any) error { return nil }))
	ctx, cancel := context.WithCancel(testkit.Context(t))
	done := make(chan error, 2)
	for range 2 {
		go func() { _, err := admin.Call(ctx, near, far.Name(), deaf, 1, testkit.Limit); done <- err }()
	}
	settles(t, func() bool { i, err := far.Info(deaf); return err == nil && i.Handled >= 2 })
	_, err := admin.Info(testkit.Context(t), near, far.Name(), deaf)
	assert.ErrorIs(t, err, admin.ErrBusy)
	_, err = admin.Status(testkit.Context(t), near, far.Name())
	assert.NoError(t, err, "the status is told all the same")
	_, err = admin.Nodes(testkit.Context(t), near, far.Name())
	assert.NoError(t, err)
	far.Exit(deaf, node.Kill) // waiting callers get an error
	assert.Error(t, <-done)
	assert.Error(t, <-done)
	cancel()
	settles(t, func() bool {
		_, err := admin.Processes(testkit.Context(t), near, far.Name(), admin.Query{})
		return err == nil
	})
}

// A request is answered even if its worker is killed.
func TestWorkerKilled(t *testing.T) {
	far, near := two(t, admin.Config{})
	deaf := spawn(t, far, "deaf", node.ActorFunc(func(*node.Context, any) error { return nil }))
	done := make(chan error, 1)
	go func() {
		_, err := admin.Call(testkit.Context(t), near, far.Name(), deaf, 1, testkit.Limit)
		done <- err
	}()
	var worker node.PID
	settles(t, func() bool {
		l, err := admin.Processes(testkit.Context(t), near, far.Name(), admin.Query{Text: "actornode: call"})
		if err != nil || len(l.Processes) != 1 {
			return false
		}
		worker = l.Processes[0].PID
		i, err := far.Info(deaf)
		return err == nil && i.Handled > 0
	})
	far.Exit(worker, node.Kill)
	assert.ErrorContains(t, <-done, "was killed")
}

// patient is an active object.
type patient struct{ open bool }

func (p *patient) Wait(c *active.Context, _ struct{}) (struct{}, error) {
	c.Until(func() bool { return p.open })
	return struct{}{}, nil
}

// Info tells other nodes, too, which messages an Actor leaves.
func TestInfoUnhandled(t *testing.T) {
	far, near := two(t, admin.Config{})
	pid, err := far.Spawn(node.ActorFunc(func(*node.Context, any) error { return node.ErrUnhandled }))
	require.NoError(t, err)
	d, err := admin.Info(testkit.Context(t), near, far.Name(), pid)
	require.NoError(t, err)
	require.Zero(t, d.Unhandled)
	require.NoError(t, far.Send(pid, "first"))
	require.NoError(t, far.Send(pid, 2))
	settles(t, func() bool {
		d, err := admin.Info(testkit.Context(t), near, far.Name(), pid)
		d.Unhandled.Time = 0
		return err == nil && d.Unhandled == admin.Unhandled{Count: 2, Oldest: "string"}
	})
}

// Info tells other nodes, too, what the activations of an active object wait for.
func TestInfoActivations(t *testing.T) {
	far, near := two(t, admin.Config{})
	o, err := active.Start(far, &patient{}, node.Options{})
	require.NoError(t, err)
	d, err := admin.Info(testkit.Context(t), near, far.Name(), o.PID)
	require.NoError(t, err)
	require.Zero(t, d.Activations)
	for range 3 {
		active.Go(far, o, (*patient).Wait, struct{}{})
	}
	settles(t, func() bool {
		d, err := admin.Info(testkit.Context(t), near, far.Name(), o.PID)
		d.Activations.Time = 0
		return err == nil && d.Activations == admin.Activations{Condition: 3}
	})
}
