package lifetime_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"sync/atomic"
	"testing"
	"time"
	"weak"

	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/internal/testkit"
	"github.com/actornode/actornode/internal/testkit/epmdtest"
	"github.com/actornode/actornode/mailbox"
	"github.com/actornode/actornode/node"
	"github.com/actornode/actornode/node/discovery"
	"github.com/actornode/actornode/node/global"
	"github.com/actornode/actornode/node/lifetime"
	"github.com/actornode/actornode/node/nodetest"
)

// holder is an Actor that keeps the Owners that it gets.
type holder struct {
	owners  []*lifetime.Owner
	handled int
}

// The messages that a holder takes besides Owners.
type (
	forget struct{}
	me     struct{} // answered with its own Owner
	later  struct{} // answered when it gets an answer
	do     func(c *node.Context)
	wander uint64 // a seed for random actions
)

func (h *holder) Receive(c *node.Context, msg any) error {
	h.handled++
	switch m := msg.(type) {
	case *lifetime.Owner:
		h.owners = append(h.owners, m)
	case forget:
		h.owners = nil
	case do:
		m(c)
	case wander:
		h.wander(c, rand.New(rand.NewPCG(uint64(m), 1)))
	case node.Request[me]:
		return c.Reply(m.From, lifetime.Self(c))
	case unwanted:
		return node.ErrUnhandled
	}
	return nil
}

// wander sends Owners to other processes that the holder owns, and forgets some.
func (h *holder) wander(c *node.Context, x *rand.Rand) {
	if len(h.owners) == 0 {
		return
	}
	i, k := x.IntN(len(h.owners)), x.IntN(len(h.owners))
	to, what := h.owners[i], h.owners[k]
	n := x.IntN(4)
	if n == 0 || n == 3 {
		h.owners = slices.Delete(h.owners, k, k+1)
	}
	switch n {
	case 0, 1:
		_ = to.Send(c, what)
	case 2:
		_ = to.Send(c, lifetime.Self(c))
	}
}

func own(t testing.TB, from node.Caller, b node.Actor) *lifetime.Owner {
	o, err := lifetime.Own(from, b, node.Options{})
	require.NoError(t, err)
	return o
}

// collect runs the collector until the process is gone, and returns its exit reason.
func collect(t testing.TB, n *node.Node, pid node.PID) any {
	h := nodetest.NewProbe(t, n)
	ref := h.Monitor(pid) // before the collector runs, so that the reason arrives
	var reason any
	testkit.UntilTrue(t, func() bool {
		runtime.GC()
		m, err := h.ReceiveWithin(0, func(m any) bool { d, ok := m.(node.Down); return ok && d.Ref == ref })
		if err == nil {
			reason = m.(node.Down).Reason
		}
		return err == nil
	}, "the process is gone")
	return reason
}

// survives runs the collector several times: the process must still be there.
func survives(t testing.TB, n *node.Node, pid node.PID, why string) {
	t.Helper()
	for range 4 {
		gc(t)
		require.True(t, n.IsAlive(pid), why)
	}
}

// gc runs the collector, and waits until its cleanups have run.
func gc(t testing.TB) {
	done := make(chan struct{})
	func() {
		x := new(struct{ _ [2]*byte })
		runtime.AddCleanup(x, func(done chan struct{}) { close(done) }, done)
	}()
	testkit.UntilTrue(t, func() bool {
		runtime.GC()
		select {
		case <-done:
			return true
		default:
			return false
		}
	}, "a cleanup has been called")
}

// A process lives as long as its Owner can be reached, and no longer, in each style.
func TestOwn(t *testing.T) {
	n := nodetest.Start(t, node.Config{})
	for name, c := range map[string]struct {
		b node.Actor
		o node.Options
	}{
		"actor":     {b: &holder{}},
		"function":  {b: node.ActorFunc(func(*node.Context, any) error { return nil })},
		"detached":  {b: &holder{}, o: node.Options{Place: node.Detached()}},
		"process":   {b: node.ProcessFunc(func(p *node.Process) error { p.Receive(); return nil })},
		"coroutine": {b: node.ProcessFunc(func(p *node.Process) error { p.Receive(); return nil }), o: node.Options{Coroutine: true}},
	} {
		t.Run(name, func(t *testing.T) {
			o, err := lifetime.Own(n, c.b, c.o)
			require.NoError(t, err)
			pid := o.PID()
			i, err := n.Info(pid)
			require.NoError(t, err)
			require.True(t, i.Owned)
			require.NotContains(t, i.Behaviour, "wrapper")
			survives(t, n, pid, "it has an owner")
			runtime.KeepAlive(o)
			require.Equal(t, lifetime.Collected, collect(t, n, pid))
		})
	}
}

// Owners that processes hold of themselves and of each other do not keep a process that nobody else can reach.
func TestCycles(t *testing.T) {
	n := nodetest.Start(t, node.Config{})
	alone := own(t, n, &holder{})
	require.NoError(t, alone.Send(n, alone))
	var ring []*lifetime.Owner
	for range 5 {
		ring = append(ring, own(t, n, &holder{}))
	}
	for i, o := range ring {
		require.NoError(t, o.Send(n, ring[(i+1)%5]))
	}
	tail := own(t, n, &holder{}) // the ring reaches it, and it reaches nobody
	require.NoError(t, ring[0].Send(n, tail))
	pids := []node.PID{alone.PID(), tail.PID()}
	for _, o := range ring {
		pids = append(pids, o.PID())
	}
	first := ring[0]
	ring, tail, alone = nil, nil, nil
	require.Equal(t, lifetime.Collected, collect(t, n, pids[0]))
	for _, pid := range pids[1:] {
		survives(t, n, pid, "all can be reached from the first")
	}
	runtime.KeepAlive(first)
	for _, pid := range pids[1:] {
		require.Contains(t, []any{lifetime.Collected, node.NoProc}, collect(t, n, pid))
	}
}

// What keeps a process that nobody can reach, until that is gone.
func TestKept(t *testing.T) {
	n := nodetest.Start(t, node.Config{Name: "n@127.0.0.1", Distribution: &node.Distribution{
		Published: global.Join(global.Config{}), Cookie: "c", Finder: &discovery.EPMD{Config: epmdtest.Serve(t, "127.0.0.1")},
	}})
	h := nodetest.NewProbe(t, n)
	other, err := n.Spawn(&holder{})
	require.NoError(t, err)
	server, err := n.Spawn(node.ActorFunc(func(c *node.Context, msg any) error {
		if r, ok := msg.(node.Request[int]); ok {
			h.Send(h.Self(), r)
		}
		return nil
	}))
	require.NoError(t, err)
	perform := func(pid node.PID, f func(c *node.Context)) {
		done := make(chan struct{})
		n.Send(pid, do(func(c *node.Context) { defer close(done); f(c) }))
		<-done
	}
	for name, c := range map[string]func(pid node.PID) (release func()){
		"a name": func(pid node.PID) func() {
			require.NoError(t, n.Register("kept", pid))
			return func() { require.NoError(t, n.Unregister("kept")) }
		},
		"a name of the cluster": func(pid node.PID) func() {
			require.NoError(t, global.Register(testkit.Context(t), n, "kept", pid, global.Options{}))
			return func() { require.NoError(t, global.Unregister(testkit.Context(t), n, "kept")) }
		},
		"a link of another": func(pid node.PID) func() {
			h.Link(pid)
			return func() { h.Unlink(pid) }
		},
		"a link of its own": func(pid node.PID) func() {
			perform(pid, func(c *node.Context) { c.Link(other) })
			return func() { perform(pid, func(c *node.Context) { c.Unlink(other) }) }
		},
		"a monitor of its own": func(pid node.PID) func() {
			var ref node.Ref
			perform(pid, func(c *node.Context) { ref = c.Monitor(other) })
			return func() { perform(pid, func(c *node.Context) { c.DemonitorFlush(ref) }) }
		},
		"an alias": func(pid node.PID) func() {
			var ref node.Ref
			perform(pid, func(c *node.Context) { ref = c.AliasOnce() })
			return func() { require.NoError(t, n.Send(ref, 1)) }
		},
		"a timer": func(pid node.PID) func() {
			timer, err := n.SendAfter(time.Hour, pid, 1)
			require.NoError(t, err)
			return func() { _, ok := timer.Cancel(); require.True(t, ok) }
		},
		"a call that it answers later": func(pid node.PID) func() {
			f := node.Async[int](h, pid, later{})
			return func() { require.True(t, f.Cancel()) }
		},
		"a request of its own": func(pid node.PID) func() {
			perform(pid, func(c *node.Context) { node.SendRequest(c, server, "tag", 5) })
			r := node.ReceiveOf[node.Request[int]](h.Process)
			return func() { require.NoError(t, r.Reply(1)) }
		},
		"a future that is to be sent to it": func(pid node.PID) func() {
			node.Async[int](h, server, 1).SendTo(pid, "tag")
			r := node.ReceiveOf[node.Request[int]](h.Process)
			return func() { require.NoError(t, r.Reply(1)) }
		},
		"a message that it has left": func(pid node.PID) func() {
			require.NoError(t, n.Send(pid, unwanted{}))
			return func() {
				perform(pid, func(c *node.Context) {
					c.Become(node.ActorFunc(func(*node.Context, any) error { return nil }))
				})
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			o := own(t, n, &holder{})
			pid := o.PID()
			release := c(pid)
			runtime.KeepAlive(o)
			survives(t, n, pid, name)
			release()
			require.Equal(t, lifetime.Collected, collect(t, n, pid))
		})
	}
}

// A monitor does not keep a process: its Down says why it ended. A PID does not either, and a later message to it is
// lost.
func TestMonitorDoesNotKeep(t *testing.T) {
	n := nodetest.Start(t, node.Config{})
	h := nodetest.NewProbe(t, n)
	o := own(t, n, &holder{})
	pid := o.PID()
	ref := h.Monitor(pid)
	runtime.KeepAlive(o)
	o = nil
	require.Equal(t, lifetime.Collected, collect(t, n, pid))
	down := node.ReceiveOf[node.Down](h.Process)
	require.Equal(t, ref, down.Ref)
	require.Equal(t, lifetime.Collected, down.Reason)
	require.NoError(t, h.Send(pid, 1), "a dead letter")
}

// Messages that have arrived are handled first, also by a process that is slow.
func TestMessagesFirst(t *testing.T) {
	n := nodetest.Start(t, node.Config{})
	goOn := make(chan struct{})
	var handled atomic.Int64
	b := node.ActorFunc(func(*node.Context, any) error {
		<-goOn
		handled.Add(1)
		return nil
	})
	o := own(t, n, b)
	pid := o.PID()
	for range 100 {
		require.NoError(t, o.Send(n, 1))
	}
	o = nil
	survives(t, n, pid, "it has messages")
	close(goOn)
	require.Equal(t, lifetime.Collected, collect(t, n, pid))
	require.EqualValues(t, 100, handled.Load())
}

// An Owner in a message keeps its process until the message is handled.
func TestOwnerUnderWay(t *testing.T) {
	n := nodetest.Start(t, node.Config{})
	goOn := make(chan struct{})
	slow, err := n.Spawn(node.ActorFunc(func(*node.Context, any) error { <-goOn; return nil }))
	require.NoError(t, err)
	require.NoError(t, n.Send(slow, 1))
	o := own(t, n, &holder{})
	pid := o.PID()
	require.NoError(t, n.Send(slow, o))
	o = nil
	survives(t, n, pid, "a message has it")
	close(goOn)
	require.Equal(t, lifetime.Collected, collect(t, n, pid))
}

// terminator reports that it is collected.
type terminator struct {
	holder
	ended chan any
}

func (t *terminator) Terminate(c *node.Context, reason any) error {
	c.Node() // it may act as a handler does
	t.ended <- reason
	return nil
}

// A Terminator that is collected is called, and may act; one that ends otherwise is not called.
func TestTerminator(t *testing.T) {
	n := nodetest.Start(t, node.Config{})
	ended := make(chan any, 1)
	o := own(t, n, &terminator{ended: ended})
	pid := o.PID()
	require.NoError(t, o.Send(n, 1))
	survives(t, n, pid, "it has an owner")
	runtime.KeepAlive(o)
	require.Equal(t, lifetime.Collected, collect(t, n, pid))
	require.Equal(t, lifetime.Collected, <-ended)

	o = own(t, n, &terminator{ended: ended})
	pid = o.PID()
	n.Exit(pid, node.Kill)
	require.False(t, n.IsAlive(pid))
	runtime.KeepAlive(o)
	gc(t)
	require.Empty(t, ended)
}

// Deferred functions of a blocking process run. The process is not collected while it computes or waits for an answer
// or a time.
func TestBlocking(t *testing.T) {
	n := nodetest.Start(t, node.Config{})
	for _, co := range []bool{false, true} {
		deferred := make(chan struct{})
		steps := make(chan string)
		mute, err := n.Spawn(&holder{})
		require.NoError(t, err)
		o, err := lifetime.Own(n, node.ProcessFunc(func(p *node.Process) error {
			defer close(deferred)
			for {
				switch p.Receive() {
				case "call":
					ctx, cancel := context.WithCancel(p.Context())
					go func() { <-steps; cancel() }()
					node.Call[int](ctx, p, mute, 1)
				case "time":
					p.ReceiveWithin(time.Hour, nil)
				case "compute":
					<-steps
				}
			}
		}), node.Options{Coroutine: co})
		require.NoError(t, err)
		pid := o.PID()
		for _, what := range []string{"call", "compute"} {
			require.NoError(t, n.Send(pid, what))
			survives(t, n, pid, what)
			runtime.KeepAlive(o)
			steps <- ""
		}
		require.NoError(t, n.Send(pid, "time"))
		runtime.KeepAlive(o)
		o = nil
		survives(t, n, pid, "it waits for a time")
		require.NoError(t, n.Send(pid, "wake up"), "a PID reaches it still")
		require.Equal(t, lifetime.Collected, collect(t, n, pid))
		<-deferred
	}
}

// The behaviours that Become and Push install are collected with the Actor, and Self is its Owner.
func TestBecomeAndSelf(t *testing.T) {
	n := nodetest.Start(t, node.Config{})
	o := own(t, n, &holder{})
	pid := o.PID()
	self, err := lifetime.Call[*lifetime.Owner](testkit.Context(t), n, o, me{})
	require.NoError(t, err)
	require.Same(t, o, self)
	require.NoError(t, o.Send(n, self)) // a cycle, below
	second := &holder{owners: []*lifetime.Owner{self}}
	require.NoError(t, o.Send(n, do(func(c *node.Context) { c.Push(second) })))
	require.NoError(t, o.Send(n, 1))
	require.NoError(t, lifetime.Idle(testkit.Context(t), n))
	require.Equal(t, 1, second.handled)
	require.NoError(t, o.Send(n, do(func(c *node.Context) { c.Unbecome() })))
	require.NoError(t, o.Send(n, do(func(c *node.Context) { c.Push(second) })))
	require.NoError(t, lifetime.Idle(testkit.Context(t), n))
	second, self = nil, nil
	runtime.KeepAlive(o)
	o = nil
	require.Equal(t, lifetime.Collected, collect(t, n, pid))
}

// The errors of Own.
func TestOwnErrors(t *testing.T) {
	n := nodetest.Start(t, node.Config{})
	for _, o := range []node.Options{
		{Bounds: mailbox.Bounds{Messages: 1}}, {Bounds: mailbox.Bounds{Bytes: 1}}, {Place: node.OnStage(-1)}, {Link: true},
	} {
		_, err := lifetime.Own(n, &holder{}, o)
		require.ErrorIs(t, err, node.ErrArgument)
	}
	for _, b := range []node.Actor{nil, node.ActorFunc(nil), node.ProcessFunc(nil)} {
		_, err := lifetime.Own(n, b, node.Options{})
		require.ErrorIs(t, err, node.ErrArgument)
	}
}

// Memory does not grow as processes are made and dropped.
func TestMemory(t *testing.T) {
	n := nodetest.Start(t, node.Config{})
	heap := func() uint64 {
		for n.Stats().Processes != 0 {
			gc(t)
		}
		gc(t)
		gc(t)
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return m.HeapAlloc
	}
	round := func() {
		for range 1000 {
			o := own(t, n, &holder{})
			require.NoError(t, o.Send(n, o)) // a cycle
		}
		require.NoError(t, lifetime.Idle(testkit.Context(t), n))
	}
	for range 5 {
		round()
	}
	before := heap()
	for range 30 {
		round()
	}
	after := heap()
	require.Less(t, after, before+1<<20, "30,000 processes of some 500 bytes have left memory")
}

// Actors drop Owners, move them in messages and send to them at random. When all is quiet, exactly those processes are
// left that the roots reach by Owners.
func TestStress(t *testing.T) {
	random := testkit.Rand(t)
	n := nodetest.Start(t, node.Config{})
	for round := range 6 {
		const size = 60
		states := make(map[node.PID]weak.Pointer[holder])
		roots := make([]*lifetime.Owner, 0, size)
		var pids []node.PID
		for range size {
			h := &holder{}
			o := own(t, n, h)
			states[o.PID()] = weak.Make(h)
			pids = append(pids, o.PID())
			roots = append(roots, o)
		}
		stop := make(chan struct{})
		stopped := make(chan struct{})
		go func() { // ended and waited for below
			defer close(stopped)
			for {
				select {
				case <-stop:
					return
				default:
					runtime.GC()
				}
			}
		}()
		for range 1500 {
			r := random.Uint64()
			move := wander(r)
			switch k := random.IntN(len(roots)); random.IntN(8) {
			case 0:
				if len(roots) > 5 {
					roots = slices.Delete(roots, k, k+1)
				}
			case 1, 2:
				require.NoError(t, roots[k].Send(n, roots[random.IntN(len(roots))]))
			case 3:
				require.NoError(t, n.Send(pids[random.IntN(size)], move), "perhaps nobody is there")
			default:
				require.NoError(t, roots[k].Send(n, move))
			}
		}
		close(stop)
		<-stopped
		require.NoError(t, lifetime.Idle(testkit.Context(t), n))
		reached := map[node.PID]bool{}
		todo := append([]*lifetime.Owner(nil), roots...)
		for len(todo) > 0 {
			o := todo[len(todo)-1]
			todo = todo[:len(todo)-1]
			if !reached[o.PID()] {
				reached[o.PID()] = true
				todo = append(todo, states[o.PID()].Value().owners...)
			}
		}
		testkit.Until(t, func() string {
			if n.Stats().Processes <= len(reached) {
				return ""
			}
			gc(t)
			return fmt.Sprintf("%d processes, and %d are reached", n.Stats().Processes, len(reached))
		})
		gc(t)
		for _, pid := range pids {
			require.Equal(t, reached[pid], n.IsAlive(pid), "round %d: %v, %d of %d are reached", round, pid, len(reached), size)
		}
		runtime.KeepAlive(roots)
		roots = nil
		for n.Stats().Processes > 0 {
			gc(t)
		}
	}
}
