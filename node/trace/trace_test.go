package trace_test

import (
	"sync"
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
	"github.com/actornode/actornode/node/nodetest"
	"github.com/actornode/actornode/node/trace"
	"github.com/actornode/actornode/wire"
)

// traceOf opens a trace that is closed at the end of the test.
func traceOf(t testing.TB, n *node.Node, cfg trace.Config, pids ...node.PID) *trace.Trace {
	t.Helper()
	tr, err := trace.Open(n, cfg, pids...)
	require.NoError(t, err)
	t.Cleanup(tr.Close)
	return tr
}

// nextEvent takes the next event, which must come, and clears its time.
func nextEvent(t testing.TB, tr *trace.Trace) trace.Event {
	t.Helper()
	e := testkit.Receive(t, tr.C)
	require.NotZero(t, e, "the trace has ended")
	require.WithinDuration(t, time.Now(), e.At, testkit.Limit)
	e.At = time.Time{}
	return e
}

// noEvent checks that no event is there.
func noEvent(t testing.TB, tr *trace.Trace) {
	t.Helper()
	select {
	case e := <-tr.C:
		require.Fail(t, "unexpected event", "%v %+v", e.Kind, e)
	default:
	}
}

// startFar starts two nodes, a handle on the first, which traps exits, and a process on the second
// that is registered as echo.
func startFar(t *testing.T) (a, b *node.Node, self *node.Process, remote node.PID) {
	t.Helper()
	c := clustertest.NewCluster(t)
	a, b = c.Start("a"), c.Start("b")
	self = nodetest.NewProbe(t, a).Process
	self.TrapExit(true)
	remote = spawn(t, b, func(*node.Context, any) error { return nil })
	require.NoError(t, b.Register("echo", remote))
	return a, b, self, remote
}

func spawn(t testing.TB, n *node.Node, f node.ActorFunc) node.PID {
	t.Helper()
	pid, err := n.Spawn(f)
	require.NoError(t, err)
	return pid
}

// A trace shows every way to send, of every kind of process, at both ends.
func TestTraceMessages(t *testing.T) {
	styles := actortest.Styles()
	for _, s := range []actortest.Style{actortest.Actor, actortest.Process} {
		s.Name = "bounded " + s.Name
		styles = append(styles, s.With(node.Options{Bounds: mailbox.Bounds{Messages: 100}}))
	}
	for _, s := range styles {
		t.Run(s.Name, func(t *testing.T) {
			n := nodetest.Start(t, node.Config{})
			from, to := s.Spawn(t, n, actortest.Obey), s.Spawn(t, n, actortest.Obey)
			h := nodetest.NewProbe(t, n)
			require.NoError(t, n.Register("to", to))
			tr := traceOf(t, n, trace.Config{Kinds: trace.Send | trace.Receive, Show: func(any) any { return "shown" }}, from, to)
			nothing := func(node.Caller) {}
			for _, send := range []func(node.Caller){
				func(s node.Caller) { node.Send(s, to, nothing) },
				func(s node.Caller) { node.Send(s, node.Atom("to"), nothing) },
				func(s node.Caller) { node.Send(s, node.At{Name: "to", Node: n.Name()}, nothing) },
				func(s node.Caller) { node.Deliver(t.Context(), s, to, nothing) },
			} {
				require.NoError(t, h.Send(from, send))
				assert.Equal(t, trace.Event{Kind: trace.Receive, Process: from, Other: h.Self(), Message: "shown"}, nextEvent(t, tr))
				assert.Equal(t, trace.Event{Kind: trace.Send, Process: from, Other: to, Message: "shown"}, nextEvent(t, tr))
				assert.Equal(t, trace.Event{Kind: trace.Receive, Process: to, Other: from, Message: "shown"}, nextEvent(t, tr))
			}
			require.NoError(t, n.Send(to, nothing)) // without a sender
			assert.Equal(t, trace.Event{Kind: trace.Receive, Process: to, Message: "shown"}, nextEvent(t, tr))
			_, err := n.SendAfter(0, to, nothing)
			require.NoError(t, err)
			assert.Equal(t, trace.Event{Kind: trace.Receive, Process: to, Message: "shown"}, nextEvent(t, tr))
			noEvent(t, tr)
		})
	}
}

// A trace shows a call as a message, and its reply as another.
func TestTraceCalls(t *testing.T) {
	n := nodetest.Start(t, node.Config{})
	to, err := n.Spawn(node.ActorFunc(func(c *node.Context, msg any) error {
		if r, ok := c.Node().AsRequest(msg); ok {
			c.Reply(r.From, 2*r.Body.(int))
		}
		return nil
	}))
	require.NoError(t, err)
	h := nodetest.NewProbe(t, n)
	show := func(m any) any {
		if r, ok := m.(node.Request[int]); ok {
			return r.Body
		}
		return m
	}
	tr := traceOf(t, n, trace.Config{Show: show}, h.Self())
	v, err := actortest.CallWithin[int](testkit.Limit, h, to, 21)
	require.NoError(t, err)
	assert.Equal(t, 42, v)
	assert.Equal(t, trace.Event{Kind: trace.Send, Process: h.Self(), Other: to, Message: 21}, nextEvent(t, tr))
	assert.Equal(t, trace.Event{Kind: trace.Receive, Process: h.Self(), Other: to,
		Message: wire.Tuple{wire.Atom("$go_reply"), 42}}, nextEvent(t, tr))
}

// A trace shows what a caller does after a call only after the answer.
func TestTraceCallsInOrder(t *testing.T) {
	n := nodetest.Start(t, node.Config{})
	to := spawn(t, n, func(_ *node.Context, msg any) error {
		r := msg.(node.Request[int])
		return r.Reply(r.Body)
	})
	h := nodetest.NewProbe(t, n)
	const calls = 3000
	tr := traceOf(t, n, trace.Config{Kinds: trace.Receive | trace.Register, Buffer: 2 * calls}, h.Self())
	for i := range calls {
		_, err := actortest.CallWithin[int](testkit.Limit, h, to, i)
		require.NoError(t, err)
		require.NoError(t, n.Register("caller", h.Self()))
		require.NoError(t, n.Unregister("caller"))
	}
	for range calls {
		require.Equal(t, trace.Receive, nextEvent(t, tr).Kind)
		require.Equal(t, trace.Register, nextEvent(t, tr).Kind)
	}
}

func TestTraceFar(t *testing.T) {
	a, b, self, remote := startFar(t)
	near := traceOf(t, a, trace.Config{}, self.Self())
	far := traceOf(t, b, trace.Config{Kinds: trace.Receive | trace.Linked | trace.Unlinked | trace.Exit | trace.Signal}, remote)
	require.NoError(t, self.Send(remote, "one"))
	require.NoError(t, self.Send(node.At{Name: "echo", Node: b.Name()}, "two"))
	require.NoError(t, node.Deliver(testkit.Context(t), self, remote, any("three")))
	self.Link(remote)
	assert.Equal(t, trace.Event{Kind: trace.Send, Process: self.Self(), Other: remote, Message: "one"}, nextEvent(t, near))
	assert.Equal(t, trace.Event{Kind: trace.Send, Process: self.Self(), Name: "echo", Node: b.Name(), Message: "two"}, nextEvent(t, near))
	assert.Equal(t, trace.Event{Kind: trace.Send, Process: self.Self(), Other: remote, Message: "three"}, nextEvent(t, near))
	assert.Equal(t, trace.Receive, nextEvent(t, near).Kind, "the receipt, which is an answer")
	assert.Equal(t, trace.Link, nextEvent(t, near).Kind)
	for _, want := range []string{"one", "two", "three"} {
		e := nextEvent(t, far)
		assert.Equal(t, trace.Receive, e.Kind)
		assert.Equal(t, self.Self(), e.Other)
		text, _ := wire.AsText(e.Message)
		assert.Equal(t, want, text)
	}
	assert.Equal(t, trace.Event{Kind: trace.Linked, Process: remote, Other: self.Self()}, nextEvent(t, far))
	self.Exit(remote, wire.Atom("enough"))
	assert.Equal(t, trace.Event{Kind: trace.Signal, Process: remote, Other: self.Self(), Message: wire.Atom("enough")}, nextEvent(t, far))
	assert.Equal(t, trace.Event{Kind: trace.Exit, Process: remote, Message: wire.Atom("enough")}, nextEvent(t, far))
	_, more := <-far.C
	assert.False(t, more, "a trace of nobody ends")
	e := nextEvent(t, near)
	assert.Equal(t, trace.Signal, e.Kind)
	assert.Equal(t, remote, e.Other)
	e = nextEvent(t, near)
	assert.Equal(t, trace.Event{Kind: trace.Receive, Process: self.Self(), Message: node.Exited{From: remote, Reason: wire.Atom("enough")}}, e)
}

func TestTraceSignals(t *testing.T) {
	n := nodetest.Start(t, node.Config{})
	h := nodetest.NewProbe(t, n)
	h.TrapExit(true)
	other, err := n.Spawn(node.ActorFunc(func(*node.Context, any) error { return nil }))
	require.NoError(t, err)
	tr := traceOf(t, n, trace.Config{}, h.Self(), other)
	h.Link(other)
	h.Unlink(other)
	ref := h.Monitor(other)
	h.DemonitorFlush(ref)
	require.NoError(t, n.Register("other", other))
	require.NoError(t, n.Unregister("other"))
	h.Exit(other, node.Normal)
	h.Monitor(other)
	h.Exit(other, "oops")
	me := h.Self()
	for _, want := range []trace.Event{
		{Kind: trace.Link, Process: me, Other: other}, {Kind: trace.Linked, Process: other, Other: me},
		{Kind: trace.Unlink, Process: me, Other: other}, {Kind: trace.Unlinked, Process: other, Other: me},
		{Kind: trace.Monitor, Process: me, Other: other}, {Kind: trace.Demonitor, Process: me, Other: other},
		{Kind: trace.Register, Process: other, Name: "other"}, {Kind: trace.Unregister, Process: other, Name: "other"},
		{Kind: trace.Signal, Process: other, Other: me, Message: node.Normal},
		{Kind: trace.Monitor, Process: me, Other: other},
		{Kind: trace.Signal, Process: other, Other: me, Message: "oops"},
		{Kind: trace.Exit, Process: other, Message: "oops"},
	} {
		assert.Equal(t, want, nextEvent(t, tr))
	}
	e := nextEvent(t, tr)
	assert.Equal(t, trace.Receive, e.Kind)
	assert.Equal(t, "oops", e.Message.(node.Down).Reason)
	noEvent(t, tr)
	i, err := n.Info(me)
	require.NoError(t, err)
	assert.True(t, i.Traced)
	assert.True(t, tr.Remove(me))
	assert.False(t, tr.Remove(me))
	i, err = n.Info(me)
	require.NoError(t, err)
	assert.False(t, i.Traced)
	require.NoError(t, n.Send(me, "x"))
	noEvent(t, tr)
	require.NoError(t, tr.Add(me))
	require.NoError(t, n.Send(me, "x"))
	nextEvent(t, tr)
}

// A trace takes in children of children, as far as there is room.
func TestTraceChildren(t *testing.T) {
	n := nodetest.Start(t, node.Config{})
	h := nodetest.NewProbe(t, n)
	var breed node.ActorFunc
	breed = func(c *node.Context, msg any) error {
		k := msg.(int)
		if k == 0 {
			return c.Send(h.Self(), "all there")
		}
		child, err := c.Spawn(breed)
		if err != nil {
			return err
		}
		return c.Send(child, k-1)
	}
	root, err := n.Spawn(breed)
	require.NoError(t, err)
	tr := traceOf(t, n, trace.Config{Kinds: trace.Spawn, Children: true, Processes: 6}, root)
	require.NoError(t, n.Send(root, 10))
	parent := root
	for range 6 {
		e := nextEvent(t, tr)
		assert.Equal(t, parent, e.Process)
		parent = e.Other
	}
	assert.Equal(t, "all there", h.Receive())
	assert.EqualValues(t, 1, tr.Missed(), "the seventh, and who is not traced has no children")
	noEvent(t, tr)
	other, err := n.Spawn(breed)
	require.NoError(t, err)
	assert.ErrorIs(t, tr.Add(other), trace.ErrFull)
}

func TestTraceBounds(t *testing.T) {
	n := nodetest.Start(t, node.Config{})
	h := nodetest.NewProbe(t, n)
	var shown atomic.Int32
	tr := traceOf(t, n, trace.Config{Buffer: 3, Show: func(m any) any { shown.Add(1); return m }}, h.Self())
	for i := range 10 {
		require.NoError(t, n.Send(h.Self(), i))
	}
	assert.EqualValues(t, 7, tr.Missed())
	assert.EqualValues(t, 3, shown.Load(), "what is dropped is not looked at")
	for i := range 3 {
		assert.Equal(t, i, nextEvent(t, tr).Message)
	}
	tr.Close()
	tr.Close()
	_, more := <-tr.C
	assert.False(t, more)
	assert.Error(t, tr.Add(h.Self()))
	require.NoError(t, n.Send(h.Self(), 1))

	dead, err := n.Spawn(node.ActorFunc(func(*node.Context, any) error { return nil }))
	require.NoError(t, err)
	n.Exit(dead, node.Kill)
	_, err = trace.Open(n, trace.Config{}, h.Self(), dead)
	assert.ErrorIs(t, err, node.ErrNoProcess)
	i, err := n.Info(h.Self())
	require.NoError(t, err)
	assert.False(t, i.Traced, "all or nobody")
	_, err = trace.Open(n, trace.Config{Buffer: -1}, h.Self())
	assert.Error(t, err)
	_, err = trace.Open(n, trace.Config{Kinds: 1 << 15}, h.Self())
	assert.Error(t, err)
}

// Two traces of one process are independent.
func TestTraceTwice(t *testing.T) {
	n := nodetest.Start(t, node.Config{})
	h := nodetest.NewProbe(t, n)
	one := traceOf(t, n, trace.Config{}, h.Self())
	two := traceOf(t, n, trace.Config{Kinds: trace.Exit}, h.Self(), h.Self())
	require.NoError(t, n.Send(h.Self(), 1))
	assert.Equal(t, trace.Receive, nextEvent(t, one).Kind)
	one.Close()
	i, err := n.Info(h.Self())
	require.NoError(t, err)
	assert.True(t, i.Traced)
	h.Close("over")
	assert.Equal(t, trace.Exit, nextEvent(t, two).Kind)
	_, more := <-two.C
	assert.False(t, more)
}

func TestTraceEndsWithNode(t *testing.T) {
	n, err := node.Start(node.Config{})
	require.NoError(t, err)
	pid, err := n.Spawn(node.ActorFunc(func(*node.Context, any) error { return nil }))
	require.NoError(t, err)
	tr, err := trace.Open(n, trace.Config{}, pid)
	require.NoError(t, err)
	require.NoError(t, n.Stop())
	var last trace.Event
	for e := range tr.C {
		last = e
	}
	assert.Equal(t, trace.Event{Kind: trace.Exit, Process: pid, Message: node.Shutdown, At: last.At}, last)
	_, err = trace.Open(n, trace.Config{}, pid)
	assert.Error(t, err)
}

// Traces come and go while processes send, spawn and die.
func TestTraceStress(t *testing.T) {
	n := nodetest.Start(t, node.Config{})
	boss, err := n.Spawn(node.ActorFunc(func(c *node.Context, msg any) error {
		child, err := c.Spawn(node.ActorFunc(func(_ *node.Context, msg any) error {
			msg.(node.Request[int]).Reply(0)
			return node.ErrStop
		}))
		if err == nil {
			c.Send(child, msg)
		}
		return err
	}))
	require.NoError(t, err)
	done := make(chan struct{})
	var wg sync.WaitGroup
	for range 3 {
		wg.Go(func() {
			for {
				select {
				case <-done:
					return
				default:
					actortest.CallWithin[int](testkit.Limit, n, boss, 1)
				}
			}
		})
	}
	for range 200 {
		tr, err := trace.Open(n, trace.Config{Children: true, Processes: 10, Buffer: 8}, boss)
		require.NoError(t, err)
		for range 5 {
			nextEvent(t, tr)
		}
		tr.Close()
	}
	close(done)
	wg.Wait()
	assert.Nil(t, n.Inside(process.Key{}).Tracing().View(), "nothing is left")
}

// While no process is traced, and while others are, a message costs no extra allocation.
func TestTraceCostsNothing(t *testing.T) {
	n := nodetest.Start(t, node.Config{})
	h := nodetest.NewProbe(t, n)
	other := nodetest.NewProbe(t, n)
	var msg any = "a message"
	allocs := func() float64 {
		return testing.AllocsPerRun(1000, func() {
			h.Send(h.Self(), msg)
			h.Receive()
		})
	}
	assert.Zero(t, allocs())
	tr := traceOf(t, n, trace.Config{}, other.Self())
	assert.Zero(t, allocs())
	tr.Close()
	assert.Zero(t, allocs())
	tr = traceOf(t, n, trace.Config{Buffer: 10_000}, h.Self())
	assert.LessOrEqual(t, allocs(), 1.0)
	assert.NotZero(t, len(tr.C))
}
