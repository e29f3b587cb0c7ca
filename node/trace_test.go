package node_test

import (
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/mailbox"
	"github.com/actornode/actornode/node"
	"github.com/actornode/actornode/wire"
)

// traceOf opens a trace that is closed at the end of the test.
func traceOf(t testing.TB, n *node.Node, cfg node.TraceConfig, pids ...node.PID) *node.Trace {
	t.Helper()
	tr, err := n.Trace(cfg, pids...)
	require.NoError(t, err)
	t.Cleanup(tr.Close)
	return tr
}

// nextEvent takes an event, which must come, without its time.
func nextEvent(t testing.TB, tr *node.Trace) node.TraceEvent {
	t.Helper()
	select {
	case e, ok := <-tr.C:
		require.True(t, ok, "the trace has ended")
		require.WithinDuration(t, time.Now(), e.At, limit)
		e.At = time.Time{}
		return e
	case <-time.After(limit):
		require.Fail(t, "no event")
		panic("unreachable")
	}
}

// noEvent checks that there is none.
func noEvent(t testing.TB, tr *node.Trace) {
	t.Helper()
	select {
	case e := <-tr.C:
		require.Fail(t, "unexpected event", "%v %+v", e.Kind, e)
	default:
	}
}

// styles are the ways to write a process that sends to another what it is told.
func styles() map[string]func(n *node.Node) (node.PID, error) {
	type order = func(s node.Caller)
	process := node.ProcessFunc(func(p *node.Process) error {
		for {
			node.ReceiveOf[order](p)(p)
		}
	})
	actor := node.ActorFunc(func(c *node.Context, msg any) error { msg.(order)(c); return nil })
	return map[string]func(n *node.Node) (node.PID, error){
		"actor":     func(n *node.Node) (node.PID, error) { return n.Spawn(actor) },
		"detached":  func(n *node.Node) (node.PID, error) { return n.SpawnOpt(node.Options{Place: node.Detached()}, actor) },
		"process":   func(n *node.Node) (node.PID, error) { return n.Spawn(process) },
		"coroutine": func(n *node.Node) (node.PID, error) { return n.SpawnOpt(node.Options{Coroutine: true}, process) },
		"bounded": func(n *node.Node) (node.PID, error) {
			return n.SpawnOpt(node.Options{Limits: mailbox.Limits{Messages: 100}}, actor)
		},
		"bounded process": func(n *node.Node) (node.PID, error) {
			return n.SpawnOpt(node.Options{Limits: mailbox.Limits{Messages: 100}}, process)
		},
	}
}

// Every way to send is shown, of every kind of process, at both ends.
func TestTraceMessages(t *testing.T) {
	for name, start := range styles() {
		t.Run(name, func(t *testing.T) {
			n := startNode(t, node.Config{})
			from, err := start(n)
			require.NoError(t, err)
			to, err := start(n)
			require.NoError(t, err)
			h := openHandle(t, n)
			require.NoError(t, n.Register("to", to))
			tr := traceOf(t, n, node.TraceConfig{Kinds: node.TraceSend | node.TraceReceive, Show: func(any) any { return "shown" }}, from, to)
			nothing := func(node.Caller) {}
			for _, send := range []func(node.Caller){
				func(s node.Caller) { node.Send(s, to, nothing) },
				func(s node.Caller) { node.Send(s, node.Atom("to"), nothing) },
				func(s node.Caller) { node.Send(s, node.At{Name: "to", Node: n.Name()}, nothing) },
				func(s node.Caller) { node.Deliver(t.Context(), s, to, nothing) },
			} {
				require.NoError(t, h.Send(from, send))
				assert.Equal(t, node.TraceEvent{Kind: node.TraceReceive, Process: from, Other: h.Self(), Message: "shown"}, nextEvent(t, tr))
				assert.Equal(t, node.TraceEvent{Kind: node.TraceSend, Process: from, Other: to, Message: "shown"}, nextEvent(t, tr))
				assert.Equal(t, node.TraceEvent{Kind: node.TraceReceive, Process: to, Other: from, Message: "shown"}, nextEvent(t, tr))
			}
			require.NoError(t, n.Send(to, nothing)) // from nobody
			assert.Equal(t, node.TraceEvent{Kind: node.TraceReceive, Process: to, Message: "shown"}, nextEvent(t, tr))
			_, err = n.SendAfter(0, to, nothing)
			require.NoError(t, err)
			assert.Equal(t, node.TraceEvent{Kind: node.TraceReceive, Process: to, Message: "shown"}, nextEvent(t, tr))
			noEvent(t, tr)
		})
	}
}

// A call is a message, and so is its reply for those who watch.
func TestTraceCalls(t *testing.T) {
	n := startNode(t, node.Config{})
	to, err := n.Spawn(node.ActorFunc(func(c *node.Context, msg any) error {
		if r, ok := c.Node().AsRequest(msg); ok {
			c.Reply(r.From, 2*r.Body.(int))
		}
		return nil
	}))
	require.NoError(t, err)
	h := openHandle(t, n)
	show := func(m any) any {
		if r, ok := m.(node.Request[int]); ok {
			return r.Body
		}
		return m
	}
	tr := traceOf(t, n, node.TraceConfig{Show: show}, h.Self())
	v, err := node.CallWithin[int](limit, h, to, 21)
	require.NoError(t, err)
	assert.Equal(t, 42, v)
	assert.Equal(t, node.TraceEvent{Kind: node.TraceSend, Process: h.Self(), Other: to, Message: 21}, nextEvent(t, tr))
	assert.Equal(t, node.TraceEvent{Kind: node.TraceReceive, Process: h.Self(), Other: to,
		Message: wire.Tuple{wire.Atom("$go_reply"), 42}}, nextEvent(t, tr))
}

// What a caller does after a call is shown after the answer.
func TestTraceCallsInOrder(t *testing.T) {
	n := startNode(t, node.Config{})
	to := flavours[0].spawn(t, n, node.Options{}, parrot)
	h := openHandle(t, n)
	const calls = 3000
	tr := traceOf(t, n, node.TraceConfig{Kinds: node.TraceReceive | node.TraceRegister, Buffer: 2 * calls}, h.Self())
	for i := range calls {
		_, err := node.CallWithin[int](limit, h, to, i)
		require.NoError(t, err)
		require.NoError(t, n.Register("caller", h.Self()))
		require.NoError(t, n.Unregister("caller"))
	}
	for range calls {
		require.Equal(t, node.TraceReceive, nextEvent(t, tr).Kind)
		require.Equal(t, node.TraceRegister, nextEvent(t, tr).Kind)
	}
}

func TestTraceFar(t *testing.T) {
	a, b, self, remote := two(t)
	near := traceOf(t, a, node.TraceConfig{}, self.Self())
	far := traceOf(t, b, node.TraceConfig{Kinds: node.TraceReceive | node.TraceLinked | node.TraceUnlinked | node.TraceExit | node.TraceSignal}, remote)
	require.NoError(t, self.Send(remote, "one"))
	require.NoError(t, self.Send(node.At{Name: "echo", Node: b.Name()}, "two"))
	require.NoError(t, node.Deliver(soon(t), self, remote, any("three")))
	self.Link(remote)
	assert.Equal(t, node.TraceEvent{Kind: node.TraceSend, Process: self.Self(), Other: remote, Message: "one"}, nextEvent(t, near))
	assert.Equal(t, node.TraceEvent{Kind: node.TraceSend, Process: self.Self(), Name: "echo", Node: b.Name(), Message: "two"}, nextEvent(t, near))
	assert.Equal(t, node.TraceEvent{Kind: node.TraceSend, Process: self.Self(), Other: remote, Message: "three"}, nextEvent(t, near))
	assert.Equal(t, node.TraceReceive, nextEvent(t, near).Kind, "the receipt, which is an answer")
	assert.Equal(t, node.TraceLink, nextEvent(t, near).Kind)
	for _, want := range []string{"one", "two", "three"} {
		e := nextEvent(t, far)
		assert.Equal(t, node.TraceReceive, e.Kind)
		assert.Equal(t, self.Self(), e.Other)
		text, _ := wire.Text(e.Message)
		assert.Equal(t, want, text)
	}
	assert.Equal(t, node.TraceEvent{Kind: node.TraceLinked, Process: remote, Other: self.Self()}, nextEvent(t, far))
	self.Exit(remote, wire.Atom("enough"))
	assert.Equal(t, node.TraceEvent{Kind: node.TraceSignal, Process: remote, Other: self.Self(), Message: wire.Atom("enough")}, nextEvent(t, far))
	assert.Equal(t, node.TraceEvent{Kind: node.TraceExit, Process: remote, Message: wire.Atom("enough")}, nextEvent(t, far))
	_, more := <-far.C
	assert.False(t, more, "a trace of nobody ends")
	e := nextEvent(t, near)
	assert.Equal(t, node.TraceSignal, e.Kind)
	assert.Equal(t, remote, e.Other)
	e = nextEvent(t, near)
	assert.Equal(t, node.TraceEvent{Kind: node.TraceReceive, Process: self.Self(), Message: node.Exited{From: remote, Reason: wire.Atom("enough")}}, e)
}

func TestTraceSignals(t *testing.T) {
	n := startNode(t, node.Config{})
	h := openHandle(t, n)
	h.TrapExit(true)
	other, err := n.Spawn(node.ActorFunc(func(*node.Context, any) error { return nil }))
	require.NoError(t, err)
	tr := traceOf(t, n, node.TraceConfig{}, h.Self(), other)
	h.Link(other)
	h.Unlink(other)
	ref := h.Monitor(other)
	h.Demonitor(ref, true)
	require.NoError(t, n.Register("other", other))
	require.NoError(t, n.Unregister("other"))
	h.Exit(other, node.Normal)
	h.Monitor(other)
	h.Exit(other, "oops")
	me := h.Self()
	for _, want := range []node.TraceEvent{
		{Kind: node.TraceLink, Process: me, Other: other}, {Kind: node.TraceLinked, Process: other, Other: me},
		{Kind: node.TraceUnlink, Process: me, Other: other}, {Kind: node.TraceUnlinked, Process: other, Other: me},
		{Kind: node.TraceMonitor, Process: me, Other: other}, {Kind: node.TraceDemonitor, Process: me, Other: other},
		{Kind: node.TraceRegister, Process: other, Name: "other"}, {Kind: node.TraceUnregister, Process: other, Name: "other"},
		{Kind: node.TraceSignal, Process: other, Other: me, Message: node.Normal},
		{Kind: node.TraceMonitor, Process: me, Other: other},
		{Kind: node.TraceSignal, Process: other, Other: me, Message: "oops"},
		{Kind: node.TraceExit, Process: other, Message: "oops"},
	} {
		assert.Equal(t, want, nextEvent(t, tr))
	}
	e := nextEvent(t, tr)
	assert.Equal(t, node.TraceReceive, e.Kind)
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

// Children of children are traced, as far as there is room.
func TestTraceChildren(t *testing.T) {
	n := startNode(t, node.Config{})
	h := openHandle(t, n)
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
	tr := traceOf(t, n, node.TraceConfig{Kinds: node.TraceSpawn, Children: true, Processes: 6}, root)
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
	assert.ErrorIs(t, tr.Add(other), node.ErrTraceFull)
}

func TestTraceBounds(t *testing.T) {
	n := startNode(t, node.Config{})
	h := openHandle(t, n)
	var shown atomic.Int32
	tr := traceOf(t, n, node.TraceConfig{Buffer: 3, Show: func(m any) any { shown.Add(1); return m }}, h.Self())
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
	_, err = n.Trace(node.TraceConfig{}, h.Self(), dead)
	assert.ErrorIs(t, err, node.ErrNoProcess)
	i, err := n.Info(h.Self())
	require.NoError(t, err)
	assert.False(t, i.Traced, "all or nobody")
	_, err = n.Trace(node.TraceConfig{Buffer: -1}, h.Self())
	assert.Error(t, err)
	_, err = n.Trace(node.TraceConfig{Kinds: 1 << 15}, h.Self())
	assert.Error(t, err)
}

// Two traces of one process are two.
func TestTraceTwice(t *testing.T) {
	n := startNode(t, node.Config{})
	h := openHandle(t, n)
	one := traceOf(t, n, node.TraceConfig{}, h.Self())
	two := traceOf(t, n, node.TraceConfig{Kinds: node.TraceExit}, h.Self(), h.Self())
	require.NoError(t, n.Send(h.Self(), 1))
	assert.Equal(t, node.TraceReceive, nextEvent(t, one).Kind)
	one.Close()
	i, err := n.Info(h.Self())
	require.NoError(t, err)
	assert.True(t, i.Traced)
	h.Close("over")
	assert.Equal(t, node.TraceExit, nextEvent(t, two).Kind)
	_, more := <-two.C
	assert.False(t, more)
}

func TestTraceEndsWithNode(t *testing.T) {
	n, err := node.Start(node.Config{})
	require.NoError(t, err)
	pid, err := n.Spawn(node.ActorFunc(func(*node.Context, any) error { return nil }))
	require.NoError(t, err)
	tr, err := n.Trace(node.TraceConfig{}, pid)
	require.NoError(t, err)
	require.NoError(t, n.Stop())
	var last node.TraceEvent
	for e := range tr.C {
		last = e
	}
	assert.Equal(t, node.TraceEvent{Kind: node.TraceExit, Process: pid, Message: node.Shutdown, At: last.At}, last)
	_, err = n.Trace(node.TraceConfig{}, pid)
	assert.Error(t, err)
}

// Traces come and go while processes send, spawn and die.
func TestTraceStress(t *testing.T) {
	n := startNode(t, node.Config{})
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
					node.CallWithin[int](limit, n, boss, 1)
				}
			}
		})
	}
	for range 200 {
		tr, err := n.Trace(node.TraceConfig{Children: true, Processes: 10, Buffer: 8}, boss)
		require.NoError(t, err)
		for range 5 {
			nextEvent(t, tr)
		}
		tr.Close()
	}
	close(done)
	wg.Wait()
	assert.True(t, node.NobodyTraced(n), "nothing is left")
}

// While nobody is traced, and while others are, a message costs no allocation that
// it would not cost otherwise.
func TestTraceCostsNothing(t *testing.T) {
	n := startNode(t, node.Config{})
	h := openHandle(t, n)
	other := openHandle(t, n)
	var msg any = "a message"
	allocs := func() float64 {
		return testing.AllocsPerRun(1000, func() {
			h.Send(h.Self(), msg)
			h.Receive()
		})
	}
	assert.Zero(t, allocs())
	tr := traceOf(t, n, node.TraceConfig{}, other.Self())
	assert.Zero(t, allocs())
	tr.Close()
	assert.Zero(t, allocs())
	tr = traceOf(t, n, node.TraceConfig{Buffer: 10_000}, h.Self())
	assert.LessOrEqual(t, allocs(), 1.0)
	assert.NotZero(t, len(tr.C))
}
