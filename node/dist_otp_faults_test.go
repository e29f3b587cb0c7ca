package node_test

import (
	"context"
	"fmt"
	"io"
	"net"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/internal/testkit"
	"github.com/actornode/actornode/internal/testkit/actortest"
	"github.com/actornode/actornode/internal/testkit/clustertest"
	"github.com/actornode/actornode/internal/testkit/erltest"
	"github.com/actornode/actornode/node"
	"github.com/actornode/actornode/node/deadletter"
	"github.com/actornode/actornode/node/discovery"
	"github.com/actornode/actornode/node/rpc"
	"github.com/actornode/actornode/wire"
	"github.com/actornode/actornode/wire/dist"
	"github.com/actornode/actornode/wire/erldist"
)

const goNode = "go@127.0.0.1"

// until waits until the erl node answers expr with want.
func (e *farErl) until(expr, want string) {
	e.t.Helper()
	testkit.Until(e.t, func() string {
		if got := e.Ask("%s", expr); got != want {
			return fmt.Sprintf("%s is %s, want %s", expr, got, want)
		}
		return ""
	})
}

func TestFarErlSimultaneous(t *testing.T) {
	c := newOTPHost(t)
	for _, name := range []string{"a", "z"} { // less than go, and greater
		e := c.erl(name, "secret")
		n := c.start(c.config("go" + name))
		require.NoError(t, n.Connect(testkit.Context(t), e.name))
		for i := range 100 {
			e.Tell("erlang:disconnect_node('%s'), net_kernel:connect_node('%s')", n.Name(), n.Name())
			n.Connect(testkit.Context(t), e.name) // it may meet a connection that is ending
			e.Answer()
			testkit.Until(t, func() string {
				if v, err := node.Call[int](testkit.Context(t), n, e.echo(), i); err != nil || v != i {
					return fmt.Sprint(v, err)
				}
				return ""
			})
			require.Equal(t, []node.Atom{e.name}, n.AllNodes())
			require.Equal(t, "['"+string(n.Name())+"']", e.Ask("nodes(connected)"))
		}
		e.Kill()
	}
}

func TestFarErlKilled(t *testing.T) {
	c := newOTPHost(t)
	e := c.erl("e1", "secret")
	n := c.start(c.config("go"))
	me, got := catcher(t, n, "")
	require.NoError(t, n.Send(me, func(p *node.Process) {
		p.MonitorNode(e.name)
		p.Send(e.echo(), wire.Tuple{p.Self(), 1})
	}))
	old := caught(t, got).(wire.Tuple)[0].(node.PID)
	inCatcher(n, me, func(p *node.Process) { p.Link(old); p.Monitor(old) })
	_, err := node.Call[int](testkit.Context(t), n, old, 1)
	require.NoError(t, err)
	e.Kill()
	assert.Equal(t, node.Exited{From: old, Reason: node.NoConnection}, caught(t, got))
	assert.Equal(t, node.NoConnection, caught(t, got).(node.Down).Reason)
	assert.Equal(t, e.name, caught(t, got).(node.NodeDown).Node)

	e = c.erl("e1", "secret")
	v, err := node.Call[int](testkit.Context(t), n, e.echo(), 2)
	require.NoError(t, err)
	assert.Equal(t, 2, v)
	_, err = node.Call[int](testkit.Context(t), n, old, 3)
	require.ErrorIs(t, err, node.ErrNoProcess)
	inCatcher(n, me, func(p *node.Process) { p.Monitor(old); p.Link(old) })
	assert.Equal(t, node.NoProc, caught(t, got).(node.Down).Reason)
	assert.Equal(t, node.Exited{From: old, Reason: node.NoProc}, caught(t, got))
	assert.Empty(t, got, "nodedown is seen once")
	testkit.Until(t, func() string { return node.FarTables(n) })
}

func TestFarErlSeesRestart(t *testing.T) {
	c := newOTPHost(t)
	e := c.erl("e1", "secret")
	require.Equal(t, "ok", e.Ask("net_kernel:monitor_nodes(true, [{node_type, all}])"))
	n := c.start(c.config("go"))
	me, got := catcher(t, n, "me")
	require.Equal(t, "true", e.Ask("net_kernel:connect_node('%s')", goNode))
	require.Equal(t, "{nodeup,'go@127.0.0.1'}", e.Ask("receive {U, N, _} -> {U, N} after 300000 -> none end"))
	e.Ask("{me, '%s'} ! self(), spawn(fun() -> process_flag(trap_exit, true), {me, '%s'} ! self(), receive A -> put(a, A) end, "+
		"register(seen, spawn(fun() -> receive {get, P} -> P ! A end end)) end), ok", goNode, goNode)
	shell := caught(t, got).(node.PID)
	linked := caught(t, got).(node.PID)
	inCatcher(n, me, func(p *node.Process) { p.Link(linked); p.Send(shell, p.Self()) })
	require.Equal(t, "undefined", e.Ask("put(old, receive P when is_pid(P) -> P after 300000 -> none end)"))
	require.NoError(t, n.Stop())
	require.Equal(t, "{nodedown,'go@127.0.0.1'}", e.Ask("receive {U, N, _} -> {U, N} after 300000 -> none end"))
	// The exit reason of a killed process that traps exits reached the processes linked to it.
	e.until("lists:member(seen, registered())", "true")
	assert.Equal(t, "killed", e.Ask("seen ! {get, self()}, receive {'EXIT', _, R} -> R after 300000 -> none end"))

	n = c.start(c.config("go"))
	require.NoError(t, n.Connect(testkit.Context(t), e.name))
	require.Equal(t, "{nodeup,'go@127.0.0.1'}", e.Ask("receive {U, N, _} -> {U, N} after 300000 -> none end"))
	_, got = catcher(t, n, "me")
	assert.Equal(t, "noproc", e.Ask("M = monitor(process, get(old)), receive {'DOWN', M, _, _, R} -> R after 300000 -> none end"))
	e.Ask("get(old) ! lost, {me, '%s'} ! found", goNode)
	assert.Equal(t, node.Atom("found"), caught(t, got))
}

func TestFarErlWrongCookie(t *testing.T) {
	c := newOTPHost(t)
	e := c.erl("e1", "other")
	n := c.start(c.config("go"))
	err := n.Connect(testkit.Context(t), e.name)
	require.ErrorIs(t, err, dist.ErrCookie)
	assert.ErrorContains(t, err, "e1@127.0.0.1")
	assert.ErrorContains(t, err, "cookie")
	assert.Equal(t, "pang", e.Ask("net_adm:ping('%s')", goNode))
	assert.Empty(t, n.AllNodes())
	assert.Equal(t, "pong", e.Ask("erlang:set_cookie('%s', secret), net_adm:ping('%s')", goNode, goNode))
	assert.Equal(t, []node.Atom{e.name}, n.AllNodes())
}

func TestFarErlFrozen(t *testing.T) {
	c := newOTPHost(t)
	e := c.erl("e1", "secret", "-kernel", "net_ticktime", "1")
	cfg := c.config("go")
	cfg.Distribution.Timing.TickTime = 2 * time.Second
	n := c.start(cfg)
	me, got := catcher(t, n, "")
	inCatcher(n, me, func(p *node.Process) { p.MonitorNode(e.name) })
	_, err := node.Call[int](testkit.Context(t), n, e.echo(), 1)
	require.NoError(t, err)
	e.Signal(erltest.Suspend)
	down := caught(t, got).(node.NodeDown)
	assert.Contains(t, down.Reason, "net_tick_timeout")
	e.Signal(erltest.Resume)
	testkit.Until(t, func() string {
		_, err := actortest.CallWithin[int](testkit.Limit, n, e.echo(), 2)
		return errText(err)
	})
}

func errText(err error) string {
	if err != nil {
		return err.Error()
	}
	return ""
}

// cutter is a Finder whose connections go through a proxy that cuts them.
type cutter struct {
	discovery.Finder
	t     *testing.T
	after atomic.Int64 // bytes in both directions; 0: never
}

func (c *cutter) Find(ctx context.Context, name node.Atom) ([]discovery.Endpoint, error) {
	ends, err := c.Finder.Find(ctx, name)
	if err != nil {
		return nil, err
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	go func() { // ended by the first connection, or the test's end
		defer l.Close()
		near, err := l.Accept()
		if err != nil {
			return
		}
		defer near.Close()
		far, err := net.Dial("tcp", ends[0].Addr)
		if err != nil {
			return
		}
		defer far.Close()
		var left atomic.Int64
		left.Store(c.after.Load())
		limited := left.Load() > 0
		var both sync.WaitGroup
		move := func(to, from net.Conn) {
			defer near.Close()
			defer far.Close()
			buf := make([]byte, 4096)
			for {
				n, err := from.Read(buf)
				if limited {
					if over := left.Add(-int64(n)); over <= 0 {
						to.Write(buf[:max(0, n+int(over))])
						return
					}
				}
				if n > 0 {
					to.Write(buf[:n])
				}
				if err != nil {
					return
				}
			}
		}
		both.Go(func() { move(near, far) })
		both.Go(func() { move(far, near) })
		both.Wait()
	}()
	c.t.Cleanup(func() { l.Close() })
	return []discovery.Endpoint{{Protocol: ends[0].Protocol, Addr: l.Addr().String()}}, nil
}

func TestFarErlCut(t *testing.T) {
	c := newOTPHost(t)
	e := c.erl("e1", "secret")
	cfg := c.config("go")
	proxy := &cutter{Finder: cfg.Distribution.Finder, t: t}
	cfg.Distribution.Finder = proxy
	n := c.start(cfg)
	r := testkit.Rand(t)
	for range 60 {
		proxy.after.Store(300 + r.Int64N(30_000))
		me, got := catcher(t, n, "")
		inCatcher(n, me, func(p *node.Process) {
			p.Monitor(e.echo())
			for i := range 200 {
				p.Send(e.echo(), wire.Tuple{p.Self(), wire.Tuple{i, make([]byte, r.IntN(2000))}})
			}
		})
		next := 0
		for {
			m := caught(t, got)
			if d, ok := m.(node.Down); ok {
				require.Equal(t, node.NoConnection, d.Reason)
				break
			}
			at := m.(wire.Tuple)[1].(wire.Tuple)[0].(int)
			require.GreaterOrEqual(t, at, next, "in order")
			next = at + 1
			if next == 200 { // not cut: the limit was not reached
				n.Disconnect(e.name)
			}
		}
		n.Exit(me, node.Kill)
	}
	proxy.after.Store(0)
	testkit.Until(t, func() string {
		_, err := node.Call[int](testkit.Context(t), n, e.echo(), 1)
		return errText(err)
	})
	testkit.Until(t, func() string { return node.FarTables(n) })
}

// A peer that claims the name of a connected node and does not know the cookie disturbs nobody.
func TestFarImpostor(t *testing.T) {
	c := newOTPHost(t)
	e := c.erl("e1", "secret")
	n := c.start(c.config("go"))
	me, got := catcher(t, n, "")
	inCatcher(n, me, func(p *node.Process) { p.MonitorNode(e.name) })
	_, err := node.Call[int](testkit.Context(t), n, e.echo(), 1)
	require.NoError(t, err)
	for i := range 20 {
		conn, err := net.Dial("tcp", n.Addr().String())
		require.NoError(t, err)
		_, err = new(erldist.Protocol).Dial(testkit.Context(t), conn, dist.Handshake{
			Local: wire.NodeID{Name: e.name, Creation: uint32(i + 1)}, Hidden: true, Peer: n.Name(),
			Cookies: func(node.Atom) (string, string) { return "guess", "guess" },
		})
		require.Error(t, err)
	}
	v, err := node.Call[int](testkit.Context(t), n, e.echo(), 2)
	require.NoError(t, err)
	assert.Equal(t, 2, v)
	assert.Empty(t, got)
}

func TestFarBadClients(t *testing.T) {
	r := testkit.Rand(t)
	synctest.Test(t, func(t *testing.T) {
		c := clustertest.NewCluster(t)
		c.Protocols = []dist.Protocol{&erldist.Protocol{}}
		n := c.Start("a")
		var conns []net.Conn
		for i := range 240 {
			conn := c.Dial(n, "erlang", "127.0.0.1")
			conns = append(conns, conn)
			if i%6 == 0 {
				b := make([]byte, 1+r.IntN(300))
				for i := range b {
					b[i] = byte(r.Uint32())
				}
				go conn.Write(b) // until it is read, or the connection is closed
			}
		}
		b := c.Start("b")
		require.NoError(t, b.Connect(testkit.Context(t), n.Name()), "while they are there")
		require.NoError(t, b.Ping(testkit.Context(t), n.Name()))
		require.NoError(t, b.Stop())
		for _, conn := range conns {
			conn.SetReadDeadline(time.Now().Add(testkit.Limit))
			_, err := io.Copy(io.Discard, conn)
			require.False(t, os.IsTimeout(err), "the connection is left open")
			conn.Close()
		}
		require.NoError(t, n.Stop())
	})
}

// A peer that does not read holds up the processes that send to it, and nobody else.
func TestFarErlDoesNotRead(t *testing.T) {
	const queue = 1 << 20
	c := newOTPHost(t)
	e := c.erl("e1", "secret")
	cfg := c.config("go")
	cfg.Distribution.Limits.Queue = queue
	cfg.Distribution.Timing.TickTime = time.Hour // otherwise silence would end the connection, and Stop would not wait for it
	cfg.Workers, cfg.Stages = 2, 2
	n := c.start(cfg)
	require.Equal(t, "true", e.Ask("register(sink, spawn(fun far:sink/0))"))
	require.NoError(t, n.Connect(testkit.Context(t), e.name))
	sink := node.At{Name: "sink", Node: e.name}
	var process, actor atomic.Int64
	_, err := n.Spawn(node.ProcessFunc(func(p *node.Process) error {
		for {
			if err := p.Send(sink, make([]byte, 1<<15)); err != nil {
				return err
			}
			process.Add(1)
		}
	}))
	require.NoError(t, err)
	busy, err := n.SpawnOpt(node.Options{Place: node.OnStage(0)}, node.ActorFunc(func(c *node.Context, msg any) error {
		c.Send(sink, make([]byte, 1<<15))
		actor.Add(1)
		return c.Send(c.Self(), msg)
	}))
	require.NoError(t, err)
	beside, err := n.SpawnOpt(node.Options{Place: node.OnStage(0)}, node.ActorFunc(echo))
	require.NoError(t, err)
	n.Send(busy, 1)
	grows := func(c *atomic.Int64) {
		was := c.Load()
		testkit.Until(t, func() string {
			if c.Load() < was+100 {
				return "nothing is sent"
			}
			return ""
		})
	}
	grows(&process)
	grows(&actor)

	e.Signal(erltest.Suspend)
	stuck := func() {
		testkit.Until(t, func() string { // no progress while others make much
			was := process.Load() + actor.Load()
			for range 2000 {
				if _, err := node.Call[int](testkit.Context(t), n, beside, 1); err != nil {
					return err.Error()
				}
			}
			if process.Load()+actor.Load() > was {
				return "they are not held up"
			}
			if node.FarWaiting(n) <= queue {
				return "there is room yet"
			}
			return ""
		})
	}
	stuck()
	assert.Less(t, node.FarWaiting(n), queue+3<<15)
	assert.Greater(t, node.FarWaiting(n), queue)
	_, err = actortest.CallWithin[int](20*time.Millisecond, n, e.echo(), 1)
	require.ErrorIs(t, err, node.ErrTimeout, "a call is not held up")
	// A killed process stops waiting.
	began, ended := make(chan struct{}), make(chan struct{})
	held, err := n.Spawn(node.ProcessFunc(func(p *node.Process) error {
		defer close(ended)
		close(began)
		p.Send(sink, 1)
		p.Receive()
		return nil
	}))
	require.NoError(t, err)
	<-began
	n.Exit(held, node.Kill)
	<-ended
	// A signal is held up, too.
	var exits atomic.Int64
	_, err = n.Spawn(node.ProcessFunc(func(p *node.Process) error {
		to := e.somebody()
		for {
			p.Exit(to, make([]byte, 1<<15))
			exits.Add(1)
		}
	}))
	require.NoError(t, err)

	e.Signal(erltest.Resume)
	grows(&process)
	grows(&actor)
	e.Signal(erltest.Suspend)
	stuck()
	require.NoError(t, n.Stop())
	e.Signal(erltest.Resume)
}

// somebody is a PID of e that no process has.
func (e *farErl) somebody() node.PID {
	return wire.NewOrigin(wire.NodeID{Name: e.name, Creation: 1}).PID(1 << 20)
}

type unsendable struct{ C chan int }

type oddTerm struct{}

func (oddTerm) Term() any { panic("odd") }

type point struct{ X, Y int }

func TestFarErlNoTerm(t *testing.T) {
	c := newOTPHost(t)
	e := c.erl("e1", "secret")
	cfg := c.config("go")
	cfg.Distribution.Limits.Link.Message = 1 << 20
	n := c.start(cfg)
	me, got := catcher(t, n, "")
	inCatcher(n, me, func(p *node.Process) { p.MonitorNode(e.name); p.Send(e.echo(), wire.Tuple{p.Self(), 1}) })
	far := caught(t, got).(wire.Tuple)[0].(node.PID)
	dead := n.DeadLetters(16)
	for _, bad := range []any{make(chan int), func() {}, unsendable{}, oddTerm{}, wire.Tuple{1, make(chan int)}, string(make([]byte, 2<<20))} {
		var unfit *wire.EncodeError
		if err := n.Send(far, bad); err != nil { // otherwise it has waited for the connection
			require.ErrorAs(t, err, &unfit, "%T", bad)
		}
		l := <-dead.C
		assert.Equal(t, deadletter.NotATerm, l.Cause)
		_, err := node.Call[any](testkit.Context(t), n, far, bad)
		require.ErrorAs(t, err, &unfit, "%T", bad)
		<-dead.C
		_, err = rpc.Call[any](testkit.Context(t), n, e.name, "erlang", "abs", bad)
		require.ErrorAs(t, err, &unfit, "%T", bad)
	}
	v, err := node.Call[int](testkit.Context(t), n, far, 5)
	require.NoError(t, err)
	assert.Equal(t, 5, v)

	for _, reason := range []struct {
		go_    any
		erlang string
	}{
		{fmt.Errorf("no luck"), `<<"no luck">>`},
		{&node.ExitError{Reason: node.Atom("inner")}, "inner"},
		{point{1, 2}, "#{"},
		{make(chan int), `<<"0x`},
		{unsendable{}, `<<"{`},
		{oddTerm{}, `<<"{}">>`},
		{string(make([]byte, 2<<20)), "<<0,0"},
		{wire.Tuple{node.Atom("a"), 1, "b"}, `{a,1,<<"b">>}`},
	} {
		pid, err := n.SpawnOpt(node.Options{Name: "dying"}, node.ActorFunc(func(_ *node.Context, msg any) error { return node.ExitWith(reason.go_) }))
		require.NoError(t, err)
		answer := e.Ask("M = monitor(process, {dying, '%s'}), {dying, '%s'} ! die, receive {'DOWN', M, _, _, R} -> R after 300000 -> none end", goNode, goNode)
		assert.True(t, strings.HasPrefix(answer, reason.erlang), "%.100s, want %s", answer, reason.erlang)
		assert.Less(t, len(answer), 10_000)
		testkit.Until(t, func() string {
			if n.IsAlive(pid) {
				return "alive"
			}
			return ""
		})
	}
	// A crash, and a panic.
	for want, b := range map[string]node.ActorFunc{
		`{'$error',<<"wrapped: EOF">>,['EOF']}`: func(*node.Context, any) error { return fmt.Errorf("wrapped: %w", io.EOF) },
		`{'$panic',`:                            func(*node.Context, any) error { panic("ouch") },
	} {
		_, err := n.SpawnOpt(node.Options{Name: "crasher"}, b)
		require.NoError(t, err)
		answer := e.Ask("M = monitor(process, {crasher, '%s'}), {crasher, '%s'} ! die, receive {'DOWN', M, _, _, {R, S}} when is_list(S) -> R after 300000 -> none end", goNode, goNode)
		assert.True(t, strings.HasPrefix(answer, want), "%.100s, want %s", answer, want)
	}
	assert.Empty(t, got, "the connection is there")
}
