package node_test

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/internal/testkit"
	"github.com/actornode/actornode/internal/testkit/actortest"
	"github.com/actornode/actornode/internal/testkit/clustertest"
	"github.com/actornode/actornode/mailbox"
	"github.com/actornode/actornode/node"
	"github.com/actornode/actornode/node/discovery"
	"github.com/actornode/actornode/node/nodetest"
	"github.com/actornode/actornode/node/rpc"
	"github.com/actornode/actornode/sched"
	"github.com/actornode/actornode/wire"
	"github.com/actornode/actornode/wire/dist"
)

// never is an actor whose Init does not return before it is killed.
type never struct{}

func (never) Init(c *node.Context) error { <-c.Context().Done(); return nil }

func (never) Receive(*node.Context, any) error { return nil }

// sought is a node that a seeking Finder looks for in vain.
const sought node.Atom = "sought@127.0.0.1"

type seeking struct{ *clustertest.Places }

func (s seeking) Find(ctx context.Context, name wire.Atom) ([]discovery.Endpoint, error) {
	if name == sought {
		<-ctx.Done()
		return nil, context.Cause(ctx)
	}
	return s.Places.Find(ctx, name)
}

// waitWorld is what processes may wait for in vain.
type waitWorld struct {
	near  *node.Node // the node of the waiting processes
	stuck node.PID   // answers nothing
	full  node.PID   // its mailbox is full
	mute  node.At    // is on a node that sends nothing
	deaf  node.PID   // the same

	held *node.Node // another node, whose messages to the following do not leave
	slow node.At
	lazy node.PID // the same
}

// newWaitWorld makes the nodes. Whatever it holds up goes on at the end of the test.
func newWaitWorld(t *testing.T) *waitWorld {
	c := clustertest.NewMemoryCluster(t)
	stall := make(chan struct{})
	// stalls makes a node from which nothing leaves for one node that it connects to.
	stalls := func(name, to string) (from, other *node.Node, release func()) {
		cfg := c.Config(to)
		cfg.Distribution.Timing.TickTime = time.Hour // otherwise silence would end the connection
		cfg.Distribution.Finder, cfg.Distribution.Timing.ConnectTimeout = seeking{c.Places}, time.Hour
		b := nodetest.Start(t, cfg)
		cfg = c.Config(name)
		p := &stalled{Memory: c.Memory}
		cfg.Distribution.Protocols = []dist.Protocol{p}
		cfg.Distribution.Limits.Queue = 1000
		cfg.Distribution.Timing.TickTime = time.Hour
		a, err := node.Start(cfg)
		require.NoError(t, err)
		require.NoError(t, a.Connect(testkit.Context(t), b.Name()))
		p.stall.Store(&stall)
		return a, b, func() { assert.NoError(t, a.Stop()) }
	}
	mute, near, stopMute := stalls("mute", "near")
	held, sink, stopHeld := stalls("held", "sink")
	gate, entered := make(chan struct{}), make(chan struct{})
	t.Cleanup(func() { close(gate); close(stall); stopMute(); stopHeld() })
	w := &waitWorld{near: near, held: held, mute: node.At{Name: "stuck", Node: mute.Name()},
		slow: node.At{Name: "stuck", Node: sink.Name()}}
	start := func(n *node.Node) node.PID {
		pid, err := n.SpawnOpt(node.Options{Name: "stuck"}, node.ActorFunc(func(*node.Context, any) error { return nil }))
		require.NoError(t, err)
		return pid
	}
	w.stuck, w.deaf, w.lazy = start(near), start(mute), start(sink)
	var err error
	w.full, err = near.SpawnOpt(node.Options{Bounds: mailbox.Bounds{Messages: 1, Policy: mailbox.Block}},
		node.ProcessFunc(func(p *node.Process) error { close(entered); <-gate; return nil }))
	require.NoError(t, err)
	testkit.Receive(t, entered)
	require.NoError(t, near.Send(w.full, 0))
	require.NoError(t, rpc.Export(near, wire.Export{Module: "waits", Function: "stuck", Arity: 0},
		func(context.Context, []any) (any, error) { <-gate; return 0, nil }))
	return w
}

// endless is a wait that ends only with the death of the process.
type endless struct {
	name  string
	shown string // what Info shows
	err   error  // that a handler and the user of a handle get; nil: none
	wait  func(h actortest.Self, w *waitWorld) error
	not   string // styles that have no such wait
	slow  bool   // on the node held: it is repeated, as not every one waits
}

const actors = "actor detached scheduler"

var allEndless = []endless{
	{name: "Call", shown: "reply", err: node.ErrExited, wait: func(h actortest.Self, w *waitWorld) error {
		_, err := node.Call[int](context.Background(), h, w.stuck, 1)
		return err
	}},
	{name: "Call far", shown: "reply", err: node.ErrExited, wait: func(h actortest.Self, w *waitWorld) error {
		_, err := node.Call[int](context.Background(), h, w.mute, 1)
		return err
	}},
	{name: "Call of a full mailbox", shown: "space", err: node.ErrExited, wait: func(h actortest.Self, w *waitWorld) error {
		_, err := node.Call[int](context.Background(), h, w.full, 1)
		return err
	}},
	{name: "Await", shown: "future", err: node.ErrExited, wait: func(h actortest.Self, w *waitWorld) error {
		_, err := node.Await(context.Background(), h, node.Async[int](h, w.stuck, 1))
		return err
	}},
	{name: "Await of another's future", shown: "future", err: node.ErrExited, wait: func(h actortest.Self, w *waitWorld) error {
		_, err := node.Await(context.Background(), h, node.Async[int](w.near, w.mute, 1))
		return err
	}},
	{name: "Await far", shown: "future", err: node.ErrExited, wait: func(h actortest.Self, w *waitWorld) error {
		_, err := node.Await(context.Background(), h, node.Async[int](h, w.deaf, 1))
		return err
	}},
	{name: "Await of a function far", shown: "future", err: node.ErrExited, wait: func(h actortest.Self, w *waitWorld) error {
		_, err := node.Await(context.Background(), h, rpc.Async[int](h, w.mute.Node, "erlang", "node"))
		return err
	}},
	{name: "AwaitExit", shown: "exit", err: node.ErrExited, wait: func(h actortest.Self, w *waitWorld) error {
		_, err := node.AwaitExit(context.Background(), h, w.stuck)
		return err
	}},
	{name: "AwaitExit far", shown: "exit", err: node.ErrExited, wait: func(h actortest.Self, w *waitWorld) error {
		_, err := node.AwaitExit(context.Background(), h, w.deaf)
		return err
	}},
	{name: "SpawnWait", shown: "start", err: node.ErrExited, wait: func(h actortest.Self, w *waitWorld) error {
		_, err := node.SpawnWait(context.Background(), h, node.Options{}, never{})
		return err
	}},
	{name: "SpawnWait, Monitor", shown: "start", err: node.ErrExited, wait: func(h actortest.Self, w *waitWorld) error {
		_, err := node.SpawnWait(context.Background(), h, node.Options{Monitor: new(node.Ref)}, never{})
		return err
	}},
	{name: "rpc.Spawn far", shown: "reply", err: node.ErrExited, wait: func(h actortest.Self, w *waitWorld) error {
		_, err := rpc.Spawn(context.Background(), h, w.mute.Node, "any", "thing")
		return err
	}},
	{name: "rpc.Call", shown: "reply", err: node.ErrExited, wait: func(h actortest.Self, w *waitWorld) error {
		_, err := rpc.Call[int](context.Background(), h, w.near.Name(), "waits", "stuck")
		return err
	}},
	{name: "rpc.Call far", shown: "reply", err: node.ErrExited, wait: func(h actortest.Self, w *waitWorld) error {
		_, err := rpc.Call[int](context.Background(), h, w.mute.Node, "erlang", "node")
		return err
	}},
	{name: "rpc.Multi", shown: "future", wait: func(h actortest.Self, w *waitWorld) error {
		rpc.Multi[int](h.Context(), h, []wire.Atom{w.mute.Node, w.near.Name()}, "waits", "stuck")
		return nil
	}},
	{name: "Send to a full mailbox", shown: "space", err: node.ErrExited, wait: func(h actortest.Self, w *waitWorld) error {
		return h.Send(w.full, 1)
	}},
	{name: "Deliver to a full mailbox", shown: "space", err: node.ErrExited, wait: func(h actortest.Self, w *waitWorld) error {
		return node.Deliver(context.Background(), h, w.full, 1)
	}},
	{name: "Deliver far", shown: "receipt", err: node.ErrExited, wait: func(h actortest.Self, w *waitWorld) error {
		return node.Deliver(context.Background(), h, w.deaf, 1)
	}},
	{name: "Deliver to a node that is being connected", shown: "receipt", err: node.ErrExited,
		wait: func(h actortest.Self, _ *waitWorld) error {
			return node.Deliver(context.Background(), h, node.At{Name: "stuck", Node: sought}, 1)
		}},
	{name: "Async to a full mailbox", shown: "space", wait: func(h actortest.Self, w *waitWorld) error {
		//actornode:ignore lostfuture its send is what waits
		node.Async[int](h, w.full, 1)
		return nil
	}},
	{name: "SendRequest to a full mailbox", shown: "space", wait: func(h actortest.Self, w *waitWorld) error {
		node.SendRequest(h, w.full, 1, 1)
		return nil
	}},
	{name: "Receive", shown: "message", not: actors, wait: func(h actortest.Self, _ *waitWorld) error {
		h.(*node.Process).Receive()
		return nil
	}},
	{name: "ReceiveMatch", shown: "message", not: actors, wait: func(h actortest.Self, _ *waitWorld) error {
		h.(*node.Process).ReceiveMatch(func(any) bool { return false })
		return nil
	}},
	{name: "ReceiveWithin", shown: "message", not: actors, err: node.ErrExited, wait: func(h actortest.Self, _ *waitWorld) error {
		_, err := h.(*node.Process).ReceiveWithin(time.Hour, nil)
		return err
	}},
	{name: "ReceiveOf", shown: "message", not: actors, wait: func(h actortest.Self, _ *waitWorld) error {
		node.ReceiveOf[chan int](h.(*node.Process))
		return nil
	}},
	{name: "Send to a slow node", slow: true, wait: func(h actortest.Self, w *waitWorld) error { return h.Send(w.lazy, 1) }},
	{name: "Send to a name on a slow node", slow: true,
		wait: func(h actortest.Self, w *waitWorld) error { return h.Send(w.slow, 1) }},
	{name: "SendBytes to a slow node", slow: true, wait: func(h actortest.Self, w *waitWorld) error {
		return h.(interface {
			SendBytes(to node.Dest, b []byte) error
		}).SendBytes(w.lazy, make([]byte, 100))
	}},
	{name: "Link to a slow node", slow: true, wait: func(h actortest.Self, w *waitWorld) error {
		p := h.(interface {
			Link(node.Dest)
			Unlink(node.Dest)
		})
		p.Link(w.lazy)
		p.Unlink(w.lazy)
		return nil
	}},
	{name: "Monitor to a slow node", slow: true, wait: func(h actortest.Self, w *waitWorld) error {
		h.DemonitorFlush(h.Monitor(w.lazy))
		return nil
	}},
	{name: "Exit to a slow node", slow: true,
		wait: func(h actortest.Self, w *waitWorld) error { h.Exit(w.lazy, node.Normal); return nil }},
	{name: "Async to a slow node", slow: true, wait: func(h actortest.Self, w *waitWorld) error {
		node.Async[int](h, w.lazy, 1).Cancel()
		return nil
	}},
	{name: "SendRequest to a slow node", slow: true, wait: func(h actortest.Self, w *waitWorld) error {
		node.SendRequest(h, w.slow, 1, 1)
		return nil
	}},
	{name: "rpc.Cast to a slow node", slow: true, wait: func(h actortest.Self, w *waitWorld) error {
		return rpc.Cast(h, w.slow.Node, "any", "thing")
	}},
}

// waitStyle is a way for code to wait: in a process, or in a goroutine with a handle.
type waitStyle struct {
	actortest.Style
	handle bool // a goroutine with a handle
}

// goScheduler runs each actor on its own goroutines.
type goScheduler struct{}

func (goScheduler) Schedule(r sched.Runnable) {
	go func() { // ends when there is nothing to do
		for r.Run() {
		}
	}()
}

var waitStyles = []waitStyle{
	{Style: actortest.Actor},
	{Style: actortest.Detached},
	{Style: actortest.Style{Name: "scheduler", Options: node.Options{Scheduler: goScheduler{}}}},
	{Style: actortest.Process},
	{Style: actortest.Coroutine},
	{Style: actortest.Style{Name: "handle"}, handle: true},
}

// begin makes a process of the style run f, and links it to partner. ended is closed when its code has ended.
func (s waitStyle) begin(t *testing.T, n *node.Node, partner *node.Process, f func(h actortest.Self)) (pid node.PID, ended chan struct{}) {
	ended = make(chan struct{})
	if s.handle {
		h := nodetest.NewProbe(t, n).Process
		partner.Link(h.Self())
		go func() {
			defer close(ended)
			f(h)
		}()
		return h.Self(), ended
	}
	pid = s.Spawn(t, n, func(h actortest.Self, m any) error {
		if m == "go" {
			defer close(ended)
			f(h)
			return errors.New("it goes on")
		}
		return nil
	})
	partner.Link(pid)
	require.NoError(t, n.Send(pid, "go"))
	return pid, ended
}

// A process that is ended while it waits is woken, in every kind of wait and each style: its deferred calls run, its
// code ends, its links are told. Nothing is left of it.
func TestKilledWhileWaiting(t *testing.T) {
	w := newWaitWorld(t)
	for _, s := range waitStyles {
		for _, e := range allEndless {
			if containsWord(e.not, s.Name) {
				continue
			}
			for _, end := range []string{"killed", "linked"} {
				t.Run(s.Name+" "+e.name+" "+end, func(t *testing.T) { w.endWaiting(t, s, e, end == "killed") })
			}
		}
	}
}

func containsWord(words, word string) bool {
	for _, w := range strings.Fields(words) {
		if w == word {
			return true
		}
	}
	return false
}

func (w *waitWorld) endWaiting(t *testing.T, s waitStyle, e endless, kill bool) {
	n := w.near
	if e.slow {
		n = w.held
		e.shown = "space"
	}
	partner, other := nodetest.NewProbe(t, n), nodetest.NewProbe(t, n)
	partner.TrapExit(true)
	errs := make(chan error, 1)
	var begun atomic.Bool // before that, a function waits for the message that it begins with
	pid, ended := s.begin(t, n, partner.Process, func(h actortest.Self) {
		begun.Store(true)
		err := e.wait(h, w)
		for e.slow && n.IsAlive(h.Self()) {
			err = e.wait(h, w)
		}
		errs <- err
	})
	other.Link(pid)
	testkit.UntilTrue(t, func() bool {
		if !begun.Load() {
			return false
		}
		i, err := n.Info(pid)
		return err == nil && i.Wait.For == e.shown
	}, "it waits")
	var why any = node.Killed
	if kill {
		n.Exit(pid, node.Kill)
	} else {
		why = "tired"
		other.Close(why)
	}
	assert.Equal(t, node.Exited{From: pid, Reason: why}, nodetest.Expect[node.Exited](partner))
	testkit.Receive(t, ended)
	switch {
	case e.slow: // its code is not ended where it sends
	case len(errs) == 0:
		assert.Contains(t, "process coroutine", s.Name, "its code is unwound")
	case e.err != nil:
		assert.ErrorIs(t, <-errs, e.err)
	default:
		assert.NoError(t, <-errs)
	}
	testkit.UntilTrue(t, func() bool { return n.Stats().Lingering == 0 }, "its code has returned")
}

// The future of a process that has been ended still serves others: waiting goroutines, and processes of each style, go
// on, and so do later waiters; and a process that has ended by itself ends no wait.
func TestFutureOutlivesMaker(t *testing.T) {
	for _, maker := range waitStyles {
		t.Run(maker.Name, func(t *testing.T) {
			n := nodetest.Start(t, node.Config{})
			server, requests := keeper(t, n)
			futures := make(chan *node.Future[int], 1)
			partner := nodetest.NewProbe(t, n)
			partner.TrapExit(true)
			stop := make(chan struct{})
			pid, ended := maker.begin(t, n, partner.Process, func(h actortest.Self) {
				futures <- node.Async[int](h, server, "")
				<-stop
			})
			f := testkit.Receive(t, futures)
			type result struct {
				v   int
				err error
			}
			results := make(chan result, 16)
			await := func(from node.Caller) {
				v, err := node.Await(context.Background(), from, f)
				results <- result{v, err}
			}
			waiting := 0
			for _, s := range waitStyles {
				begun := make(chan struct{})
				s.begin(t, n, partner.Process, func(h actortest.Self) { close(begun); await(h.(node.Caller)) })
				testkit.Receive(t, begun)
				waiting++
			}
			go await(n)
			testkit.UntilTrue(t, func() bool { return node.Waiting(f) == waiting+1 }, "they wait")
			n.Exit(pid, node.Kill)
			go await(n)
			close(stop)
			testkit.Receive(t, ended)
			go await(n)
			waiting += 3
			require.Empty(t, results)
			require.NoError(t, testkit.Receive(t, requests).Reply(7))
			for range waiting {
				require.Equal(t, result{7, nil}, testkit.Receive(t, results))
			}
		})
	}
}
