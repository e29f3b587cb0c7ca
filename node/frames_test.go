package node_test

import (
	"context"
	"fmt"
	"math"
	"net"
	"runtime"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/internal/kernel/process"
	"github.com/actornode/actornode/internal/testkit"
	"github.com/actornode/actornode/internal/testkit/actortest"
	"github.com/actornode/actornode/internal/testkit/clustertest"

	"github.com/actornode/actornode/mailbox"
	"github.com/actornode/actornode/node"
	"github.com/actornode/actornode/node/deadletter"
	"github.com/actornode/actornode/node/nodetest"
	"github.com/actornode/actornode/node/rpc"
	"github.com/actornode/actornode/wire"
	"github.com/actornode/actornode/wire/dist"
)

// A node that stops writes what is waiting before it closes its connections: links break with the exit reasons of the
// processes.
func TestFarStopTells(t *testing.T) {
	for range 50 {
		c := clustertest.NewMemoryCluster(t)
		a := c.Start("a")
		b, err := node.Start(c.Config("b"))
		require.NoError(t, err)
		remote, err := b.Spawn(node.ActorFunc(echo))
		require.NoError(t, err)
		self := nodetest.NewProbe(t, a)
		self.TrapExit(true)
		self.Link(remote)
		ref := self.Monitor(remote)
		_, err = node.Call[int](testkit.Context(t), self, remote, 1)
		require.NoError(t, err)
		require.NoError(t, b.Stop())
		assert.ElementsMatch(t, []any{node.Exited{From: remote, Reason: node.Shutdown}, node.Down{Ref: ref, PID: remote, Reason: node.Shutdown}},
			[]any{self.Receive(), self.Receive()})
		self.Close(nil)
	}
}

// A mailbox that blocks its senders does not hold up the connection.
func TestFarFullMailbox(t *testing.T) {
	_, b, self, remote := two(t)
	hold := make(chan struct{})
	full, err := b.SpawnOpt(node.Options{Bounds: mailbox.Bounds{Messages: 1, Policy: mailbox.Block}},
		node.ActorFunc(func(*node.Context, any) error { <-hold; return nil }))
	require.NoError(t, err)
	defer close(hold)
	dead := b.DeadLetters(64)
	for i := range 20 {
		self.Send(full, i)
	}
	v, err := node.Call[int](testkit.Context(t), self, remote, 1)
	require.NoError(t, err)
	assert.Equal(t, 1, v)
	assert.Equal(t, deadletter.MailboxFull, (<-dead.C).Cause)
}

// A result is delivered past the mailbox bound of the process that asked for it.
func TestFarResultIntoFullMailbox(t *testing.T) {
	a, b, self, remote := two(t)
	hold, results := make(chan struct{}), make(chan any, 64)
	asks, err := a.SpawnOpt(node.Options{Bounds: mailbox.Bounds{Messages: 1, Policy: mailbox.Block}},
		node.ActorFunc(func(c *node.Context, msg any) error {
			if msg == "go" {
				for i := range 20 {
					node.SendRequest(c, remote, i, i)
				}
				<-hold
				return nil
			}
			results <- msg
			return nil
		}))
	require.NoError(t, err)
	a.Send(asks, "go")
	_, err = node.Call[int](testkit.Context(t), self, remote, 1)
	require.NoError(t, err)
	close(hold)
	for range 20 {
		assert.NoError(t, (<-results).(node.Result).Err)
	}
	assert.Empty(t, b.Stats().DeadLetters)
}

// A request that is no longer wanted leaves nothing behind.
func TestFarNothingIsLeft(t *testing.T) {
	a, b, self, remote := two(t)
	require.NoError(t, rpc.Export(b, mfa("far", "wait", 0), func(ctx context.Context, _ []any) (any, error) {
		<-ctx.Done()
		return nil, nil
	}))
	deaf, err := b.Spawn(node.ActorFunc(func(*node.Context, any) error { return nil }))
	require.NoError(t, err)
	for i := range 50 {
		ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
		_, err := rpc.Call[any](ctx, a, b.Name(), "far", "wait")
		require.ErrorIs(t, err, context.DeadlineExceeded)
		_, err = node.Call[int](ctx, self, deaf, i)
		require.ErrorIs(t, err, context.DeadlineExceeded)
		_, err = node.AwaitExit(ctx, self, remote)
		require.ErrorIs(t, err, context.DeadlineExceeded)
		cancel()
		_, err = a.Spawn(node.ActorFunc(func(c *node.Context, _ any) error {
			c.MonitorNode(b.Name())
			c.Monitor(remote)
			c.Monitor(node.At{Name: "echo", Node: b.Name()})
			c.Link(remote)
			c.Unlink(remote)
			node.SendRequest(c, deaf, 1, 1)
			node.Async[int](c, deaf, 1).Cancel()
			return node.ErrStop
		}))
		require.NoError(t, err)
		for pid := range a.Inside(process.Key{}).Processes() {
			a.Send(pid, "now")
		}
	}
	b.Exit(deaf, node.Kill)
	testkit.Until(t, func() string {
		for pid := range a.Inside(process.Key{}).Processes() {
			a.Send(pid, "now")
		}
		return node.FarTables(a)
	})
	testkit.Until(t, func() string {
		for pid := range b.Inside(process.Key{}).Processes() { // processes that RPC has started
			if i, err := b.Info(pid); err == nil && i.Name == "" {
				b.Exit(pid, node.Kill)
			}
		}
		return node.FarTables(b)
	})
}

func TestFarAwaitExit(t *testing.T) {
	a, b, self, remote := two(t)
	ends := func(await func() (any, error)) <-chan any {
		reason := make(chan any, 1)
		go func() {
			r, err := await()
			assert.NoError(t, err)
			reason <- r
		}()
		return reason
	}
	far := ends(func() (any, error) { return node.AwaitExit(testkit.Context(t), a, remote) })
	near := ends(func() (any, error) {
		return node.AwaitExit(testkit.Context(t), b, node.At{Name: "echo", Node: b.Name()})
	})
	testkit.Until(t, func() string {
		if i, err := b.Info(remote); err != nil || len(i.Watchers) == 0 {
			return "not watched"
		}
		return ""
	})
	// The end of ctx does not end the process, whatever its cause.
	dies := nodetest.NewProbe(t, a)
	ctx := dies.Context()
	dies.Close(node.Atom("mine"))
	_, err := node.AwaitExit(ctx, self, remote)
	var exit *node.ExitError
	require.ErrorAs(t, err, &exit)
	assert.Equal(t, node.Atom("mine"), exit.Reason)
	b.Exit(remote, node.Atom("gone"))
	assert.Equal(t, node.Atom("gone"), <-far)
	assert.Contains(t, []any{node.Atom("gone"), node.NoProc}, <-near, "it may have come too late")
	r, err := node.AwaitExit(testkit.Context(t), self, remote)
	require.NoError(t, err)
	assert.Equal(t, node.NoProc, r)
}

// A factory that panics crashes a process, not the node.
func TestFarFactoryPanics(t *testing.T) {
	_, b, self, _ := two(t)
	require.NoError(t, rpc.ExportBehaviour(b, mfa("far", "odd", 0), func([]any) (node.Actor, error) { panic("odd") }))
	pid, err := rpc.Spawn(testkit.Context(t), self, b.Name(), "far", "odd")
	require.NoError(t, err)
	r, err := node.AwaitExit(testkit.Context(t), self, pid)
	require.NoError(t, err)
	if r != node.NoProc { // otherwise it has ended before it was watched
		require.IsType(t, wire.Tuple{}, r)
		assert.Equal(t, wire.Tuple{node.Atom("$panic"), "string", "odd"}, r.(wire.Tuple)[0])
	}
}

// Unlink has the last word, however close the exit signal is.
func TestFarUnlinkIsFinal(t *testing.T) {
	_, b, self, _ := two(t)
	for i := range 300 {
		pid, err := b.Spawn(node.ActorFunc(echo))
		require.NoError(t, err)
		self.Link(pid)
		self.Send(pid, node.Atom("bye"))
		for range i {
			runtime.Gosched()
		}
		self.Unlink(pid)
		was := 0
		for {
			if _, err := self.ReceiveWithin(0, nil); err != nil {
				break
			}
			was++
		}
		_, err = node.Call[int](testkit.Context(t), self, node.At{Name: "echo", Node: b.Name()}, i)
		require.NoError(t, err)
		_, err = self.ReceiveWithin(0, nil)
		require.ErrorIs(t, err, node.ErrTimeout, "after %d", was)
	}
}

// Without a cookie for a peer there is no connection to it or from it.
func TestFarNoCookie(t *testing.T) {
	c := clustertest.NewMemoryCluster(t)
	cfg := c.Config("a")
	cfg.Distribution.Cookie = ""
	cfg.Distribution.Access.Cookies = func(peer node.Atom) (string, string, bool) {
		return "secret", "secret", peer == "b@127.0.0.1"
	}
	a := nodetest.Start(t, cfg)
	b, x := c.Start("b"), c.Start("x")
	require.NoError(t, a.Connect(testkit.Context(t), b.Name()))
	require.ErrorContains(t, a.Connect(testkit.Context(t), x.Name()), "cookie")
	require.Error(t, x.Connect(testkit.Context(t), a.Name()))
}

// stalled is a protocol whose links send nothing while they are held.
type stalled struct {
	*clustertest.Memory
	stall atomic.Pointer[chan struct{}]
	holds atomic.Int32 // flushes that wait
}

type stalledLink struct {
	dist.Link
	s    *stalled
	gone chan struct{}
}

func (s *stalled) Dial(ctx context.Context, conn net.Conn, h dist.Handshake) (dist.Link, error) {
	l, err := s.Memory.Dial(ctx, conn, h)
	return &stalledLink{l, s, make(chan struct{})}, err
}

func (l *stalledLink) Flush(tick bool) (int, error) {
	if ch := l.s.stall.Load(); ch != nil {
		l.s.holds.Add(1)
		defer l.s.holds.Add(-1)
		select {
		case <-*ch:
		case <-l.gone:
		}
	}
	return l.Link.Flush(tick)
}

func (l *stalledLink) Close() error {
	close(l.gone)
	return l.Link.Close()
}

// A process that is held up goes on when the connection ends, when it is killed, and when the node stops.
func TestFarHeldUp(t *testing.T) {
	for _, end := range []string{"goes on", "is lost", "stops"} {
		t.Run(end, func(t *testing.T) {
			goroutines := testkit.Goroutines()
			c := clustertest.NewMemoryCluster(t)
			b, err := node.Start(c.Config("b"))
			require.NoError(t, err)
			cfg := c.Config("a")
			slow := &stalled{Memory: c.Memory}
			cfg.Distribution.Protocols = []dist.Protocol{slow}
			cfg.Distribution.Limits.Queue = 1000
			cfg.Distribution.Timing.TickTime = time.Hour // otherwise silence would end the connection at last
			a, err := node.Start(cfg)
			require.NoError(t, err)
			require.NoError(t, a.Connect(testkit.Context(t), b.Name()))
			stall := make(chan struct{})
			slow.stall.Store(&stall)
			sink, err := b.SpawnOpt(node.Options{Name: "sink"}, node.ActorFunc(func(*node.Context, any) error { return nil }))
			require.NoError(t, err)
			at := node.At{Name: "sink", Node: b.Name()}
			ways := map[string]func(*node.Process){
				"send":    func(p *node.Process) { p.Send(sink, 1) },
				"name":    func(p *node.Process) { p.Send(at, 1) },
				"link":    func(p *node.Process) { p.Link(sink); p.Unlink(sink) },
				"monitor": func(p *node.Process) { p.DemonitorFlush(p.Monitor(sink)) },
				"exit":    func(p *node.Process) { p.Exit(sink, node.Normal) },
				//actornode:ignore lostfuture only what it costs to send is measured
				"async":   func(p *node.Process) { node.Async[int](p, sink, 1) },
				"request": func(p *node.Process) { node.SendRequest(p, at, 1, 1) },
			}
			var ended atomic.Int64
			for name, way := range ways {
				for _, o := range []node.Options{{}, {Coroutine: true}} {
					var count atomic.Int64
					var began atomic.Bool
					pid, err := a.SpawnOpt(o, node.ProcessFunc(func(p *node.Process) error {
						defer ended.Add(1)
						for began.Store(true); ; {
							way(p)
							count.Add(1)
							if _, err := p.ReceiveWithin(0, func(any) bool { return false }); err == node.ErrExited {
								return nil
							}
						}
					}))
					require.NoError(t, err)
					testkit.Until(t, func() string { // it stands still
						was := count.Load()
						if _, err := actortest.CallWithin[int](time.Millisecond, a, at, 1); err != node.ErrTimeout {
							return fmt.Sprint(name, " lets a call through: ", err)
						}
						if !began.Load() || count.Load() != was || node.FarWaiting(a) <= 1000 {
							return name + " is not held up"
						}
						return ""
					})
					a.Exit(pid, node.Kill)
				}
			}
			testkit.Until(t, func() string {
				if n := ended.Load(); n != 14 {
					return fmt.Sprint(n, " have ended")
				}
				return ""
			})
			plain := make(chan struct{})
			go func() { defer close(plain); a.Send(sink, 1) }()
			testkit.Until(t, func() string {
				if node.FarWaiting(a) < 1000 {
					return "nothing waits"
				}
				return ""
			})
			switch end {
			case "goes on":
				close(stall)
			case "is lost":
				a.Disconnect(b.Name())
			}
			if end != "stops" {
				<-plain
			}
			require.NoError(t, a.Stop())
			<-plain
			require.NoError(t, b.Stop())
			noneLeft(t, goroutines)
		})
	}
}

// A long message of one sender holds up what that sender sends after it, and
// nobody else; nothing is reordered, whatever way it goes.
func TestFarLongMessages(t *testing.T) {
	a, b, self, _ := two(t)
	type from struct{ sender, number int }
	got := make(chan any, 1)
	sink, err := b.SpawnOpt(node.Options{Name: "counts"}, node.ActorFunc(func(*node.Context, any) error { return nil }))
	require.NoError(t, err)
	next := make(map[int]int)
	longs := 0
	check, err := b.Spawn(node.ActorFunc(func(c *node.Context, msg any) error {
		switch m := msg.(type) {
		case from:
			if next[m.sender] != m.number {
				got <- fmt.Sprint("of sender ", m.sender, " comes ", m.number, " in place of ", next[m.sender])
				return node.ErrStop
			}
			next[m.sender]++
			if next[0] == 400 && next[1] == 400 && next[2] == 400 {
				got <- longs
			}
		case clustertest.Long:
			longs++
		}
		return nil
	}))
	require.NoError(t, err)
	for s := range 3 {
		_, err := a.Spawn(node.ProcessFunc(func(p *node.Process) error {
			for i := range 400 {
				if i%50 == 7 {
					p.Send(check, clustertest.Long(20))
				}
				p.Send(check, from{s, i})
				if i%9 == 0 {
					p.Send(sink, i)
					runtime.Gosched()
				}
			}
			return nil
		}))
		require.NoError(t, err)
	}
	select {
	case v := <-got:
		assert.Equal(t, 24, v)
	case <-testkit.Context(t).Done():
		t.Fatal("not all has come")
	}
	// Others overtake it.
	p := nodetest.NewProbe(t, a)
	mine, err := b.Spawn(node.ActorFunc(func(c *node.Context, msg any) error { return c.Send(p.Self(), msg) }))
	require.NoError(t, err)
	other := nodetest.NewProbe(t, a)
	other.Send(mine, clustertest.Long(math.MaxInt32)) // under way until the node stops
	self.Send(mine, 1)
	assert.Equal(t, 1, p.Receive())
	require.NoError(t, a.Ping(testkit.Context(t), b.Name()))
}
