package admin_test

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/internal/daemon/admin"
	"github.com/actornode/actornode/internal/testkit"
	"github.com/actornode/actornode/node"
	"github.com/actornode/actornode/node/deadletter"
	"github.com/actornode/actornode/node/nodetest"
	"github.com/actornode/actornode/wire"
)

func TestTrace(t *testing.T) {
	far, near := two(t, admin.Config{})
	pid := spawn(t, far, "echo", node.ActorFunc(echo))
	s, err := admin.Trace(testkit.Context(t), nodetest.NewProbe(t, near), far.Name(), admin.TraceQuery{Targets: []any{"echo"}})
	require.NoError(t, err)
	require.NoError(t, near.Send(node.At{Name: "echo", Node: far.Name()}, wire.Tuple{wire.Atom("add"), 5}))
	e := next(t, s)
	assert.EqualValues(t, "receive", e.Type)
	assert.Equal(t, pid, e.Process)
	assert.Equal(t, near.Name(), e.Other.Node(), "who has sent it")
	assert.True(t, wire.Equal(wire.Tuple{wire.Atom("add"), 5}, e.Message), "%v", e.Message)
	assert.False(t, e.At.IsZero())

	v, err := node.Call[int](testkit.Context(t), near, pid, 7)
	require.NoError(t, err)
	assert.Equal(t, 7, v)
	assert.EqualValues(t, "receive", next(t, s).Type) // '$gen_call'
	answer := next(t, s)
	assert.EqualValues(t, "send", answer.Type)
	assert.Equal(t, pid, answer.Process)

	d, err := admin.Info(testkit.Context(t), near, far.Name(), pid)
	require.NoError(t, err)
	assert.True(t, d.Traced)

	far.Exit(pid, node.Atom("enough"))
	e = next(t, s)
	assert.EqualValues(t, "signal", e.Type)
	e = next(t, s)
	assert.EqualValues(t, "exit", e.Type)
	assert.Equal(t, node.Atom("enough"), e.Message)
	assert.Empty(t, drained(t, s))
	assert.NoError(t, s.Err())
	assert.EqualValues(t, "exited", s.Why())
	assert.Zero(t, s.Dropped())
	settles(t, func() bool { return noStreams(t, far) })
}

// noStreams reports whether no process of a stream is left.
func noStreams(t *testing.T, n *node.Node) bool {
	l, err := admin.Processes(testkit.Context(t), n, n.Name(), admin.Query{Text: "actornode: "})
	require.NoError(t, err)
	return l.Matched == 1 // the process that has made the list
}

// A trace shows the requested kinds of events, and no others.
func TestTraceKinds(t *testing.T) {
	far, near := two(t, admin.Config{})
	pid := spawn(t, far, "parent", node.ActorFunc(func(c *node.Context, _ any) error {
		child, err := c.Spawn(node.ActorFunc(echo))
		if err != nil {
			return err
		}
		c.Link(child)
		ref := c.Monitor(child)
		c.DemonitorFlush(ref)
		c.Send(child, strings.Repeat("x", 10_000))
		c.Unlink(child)
		return nil
	}))
	s, err := admin.Trace(testkit.Context(t), near, far.Name(),
		admin.TraceQuery{Targets: []any{pid}, Events: []node.Atom{"spawn", "signal"}})
	require.NoError(t, err)
	all, err := admin.Trace(testkit.Context(t), near, far.Name(), admin.TraceQuery{Targets: []any{pid}, Children: true, Size: 100,
		StreamOptions: admin.StreamOptions{Max: 11}})
	require.NoError(t, err)
	require.NoError(t, far.Send(pid, "go"))
	var child node.PID
	for i, want := range []node.Atom{"spawn", "link", "monitor", "demonitor", "unlink"} {
		e := next(t, s)
		assert.Equal(t, want, e.Type)
		assert.Equal(t, pid, e.Process)
		if i == 0 {
			child = e.Other
		}
		assert.Equal(t, child, e.Other)
	}
	s.Close()
	require.NoError(t, s.Err())

	require.NoError(t, far.Register("kid", child))
	require.NoError(t, far.Unregister("kid"))
	var types []node.Atom
	events := drained(t, all)
	for _, e := range events {
		if e.Process == child {
			types = append(types, "child "+e.Type)
		} else {
			types = append(types, e.Type)
		}
	}
	assert.Equal(t, []node.Atom{"receive", "spawn", "link", "child linked", "monitor", "demonitor", "send", "child receive",
		"unlink",
		"child unlinked", "child register"}, types)
	assert.EqualValues(t, "max", all.Why())
	text, _ := wire.AsText(events[6].Message)
	assert.Less(t, len(text), 110)
	settles(t, func() bool { return noStreams(t, far) })
}

// A reader that does not read takes no more memory than the buffer, and learns how many events it has missed; the
// traced process is not held up.
func TestSlowReader(t *testing.T) {
	const window, buffer, messages = 10, 50, 20_000
	far, near := two(t, admin.Config{})
	var got sync.WaitGroup
	got.Add(messages)
	pid := spawn(t, far, "", node.ActorFunc(func(*node.Context, any) error { got.Done(); return nil }))
	s, err := admin.Trace(testkit.Context(t), near, far.Name(),
		admin.TraceQuery{Targets: []any{pid}, Events: []node.Atom{"receive"},
			StreamOptions: admin.StreamOptions{Window: window, Buffer: buffer}})
	require.NoError(t, err)
	for i := range messages {
		require.NoError(t, far.Send(pid, i))
	}
	got.Wait()
	far.Exit(pid, node.Kill)
	events := drained(t, s)
	assert.LessOrEqual(t, len(events), window+buffer+1, "the event pump holds one")
	assert.EqualValues(t, messages, len(events)+int(s.Dropped()))
	for i, e := range events[:window] {
		assert.True(t, wire.Equal(i, e.Message), "the first are shown in order")
	}
	assert.EqualValues(t, "exited", s.Why())
}

// A reader that keeps up loses nothing.
func TestQuickReader(t *testing.T) {
	const messages = 5000
	far, near := two(t, admin.Config{})
	pid := spawn(t, far, "", node.ActorFunc(func(*node.Context, any) error { return nil }))
	s, err := admin.Trace(testkit.Context(t), near, far.Name(),
		admin.TraceQuery{Targets: []any{pid}, Events: []node.Atom{"receive"},
			StreamOptions: admin.StreamOptions{Window: 100, Buffer: messages}})
	require.NoError(t, err)
	go func() {
		for i := range messages {
			far.Send(pid, i)
		}
	}()
	for i := range messages {
		require.True(t, wire.Equal(i, next(t, s).Message))
	}
	assert.Zero(t, s.Dropped())
	s.Close()
}

// A stream ends with its client, at once or later: nothing is left.
func TestClientGone(t *testing.T) {
	far, near := two(t, admin.Config{Streams: 3})
	pid := spawn(t, far, "", node.ActorFunc(echo))
	ctx := testkit.Context(t)
	q := admin.TraceQuery{Targets: []any{pid}}
	ended, cancel := context.WithCancelCause(ctx)
	first, err := admin.Trace(ended, near, far.Name(), q)
	require.NoError(t, err)
	second, err := admin.DeadLetters(ctx, near, far.Name(), admin.LetterQuery{})
	require.NoError(t, err)
	third, err := admin.Trace(ctx, near, far.Name(), q)
	require.NoError(t, err)
	_, err = admin.Trace(ctx, near, far.Name(), q)
	require.ErrorIs(t, err, admin.ErrBusy)
	for range 10 { // without a reader
		require.NoError(t, far.Send(pid, "x"))
	}
	why := errors.New("that is enough")
	cancel(why)
	drained(t, first)
	assert.ErrorIs(t, first.Err(), why)
	second.Close()
	assert.NoError(t, second.Err())
	near.Disconnect(far.Name())
	drained(t, third)
	assert.ErrorIs(t, third.Err(), admin.ErrLost)
	settles(t, func() bool { return noStreams(t, far) })
	settles(t, func() bool { // a process that is gone from the list forgets a moment later whom it watched
		i, err := far.Info(pid)
		return err == nil && !i.Traced && len(i.Watchers) == 0
	})

	// The client is killed in the middle, with events under way.
	h := nodetest.NewProbe(t, near)
	_, err = node.Call[any](ctx, h, node.At{Name: admin.Name, Node: far.Name()},
		wire.Tuple{wire.Atom("trace"), wire.NewMap(wire.Atom("targets"), wire.List{pid})})
	require.NoError(t, err)
	for range 2000 {
		require.NoError(t, far.Send(pid, "x"))
	}
	near.Exit(h.Self(), node.Kill)
	settles(t, func() bool { return noStreams(t, far) })
	h.Close(nil)
}

// The process of a stream can be killed like any other, and the service too: their clients learn of it.
func TestSourceKilled(t *testing.T) {
	far, near := two(t, admin.Config{})
	pid := spawn(t, far, "", node.ActorFunc(echo))
	s, err := admin.Trace(testkit.Context(t), near, far.Name(), admin.TraceQuery{Targets: []any{pid}})
	require.NoError(t, err)
	l, err := admin.Processes(testkit.Context(t), near, far.Name(), admin.Query{Text: "actornode: trace"})
	require.NoError(t, err)
	require.Len(t, l.Processes, 1)
	far.Exit(l.Processes[0].PID, node.Kill)
	drained(t, s)
	assert.ErrorIs(t, s.Err(), admin.ErrLost)
	settles(t, func() bool { i, err := far.Info(pid); return err == nil && !i.Traced })
}

func TestDeadLetters(t *testing.T) {
	far, near := two(t, admin.Config{})
	dead := spawn(t, far, "", node.ActorFunc(echo))
	far.Exit(dead, node.Kill)
	all, err := admin.DeadLetters(testkit.Context(t), near, far.Name(), admin.LetterQuery{})
	require.NoError(t, err)
	some, err := admin.DeadLetters(testkit.Context(t), near, far.Name(), admin.LetterQuery{Causes: []node.Atom{"no_alias"}})
	require.NoError(t, err)
	require.NoError(t, far.Send(dead, wire.Tuple{wire.Atom("add"), 5}))
	require.Error(t, far.Send(node.Atom("nobody"), "x"))
	ref := far.MakeRef()
	require.NoError(t, far.Send(ref, 1))
	l := next(t, all)
	assert.EqualValues(t, "no_process", l.Cause)
	assert.Equal(t, dead, l.To)
	assert.True(t, wire.Equal(wire.Tuple{wire.Atom("add"), 5}, l.Message))
	l = next(t, all)
	assert.EqualValues(t, "nobody", l.Name)
	l = next(t, all)
	assert.EqualValues(t, "no_alias", l.Cause)
	assert.Equal(t, ref, l.Alias)
	assert.EqualValues(t, "no_alias", next(t, some).Cause)
	assert.Equal(t, "1", wire.Format(l.Message))
	all.Close()
	some.Close()
	assert.Empty(t, near.Stats().DeadLetters, "nothing comes to a stream that is closed")
}

// A stream that has ended leaves no dead letter: what its client sent before it heard of the end is not shown by other
// streams.
func TestEndedStreamLeavesNothing(t *testing.T) {
	far, near := two(t, admin.Config{})
	all, err := admin.DeadLetters(testkit.Context(t), near, far.Name(), admin.LetterQuery{})
	require.NoError(t, err)
	for i := range 20 {
		one, err := admin.DeadLetters(testkit.Context(t), near, far.Name(), admin.LetterQuery{StreamOptions: admin.StreamOptions{Max: 1}})
		require.NoError(t, err)
		require.NoError(t, far.Send(far.MakeRef(), i))
		next(t, one)
		one.Close()
		assert.EqualValues(t, "no_alias", next(t, all).Cause)
	}
	all.Close()
}

// A process that got the events of its own trace would never finish.
func TestNoEcho(t *testing.T) {
	n := startNode(t, nil, "alone")
	require.NoError(t, admin.Start(testkit.Context(t), n, admin.Config{}))
	h := nodetest.NewProbe(t, n)
	request := func(target, to node.PID) any {
		v, err := node.Call[any](testkit.Context(t), n, admin.Name, any(wire.Tuple{wire.Atom("trace"), wire.NewMap(
			wire.Atom("targets"), wire.List{target}, wire.Atom("to"), to)}))
		require.NoError(t, err)
		return v.(wire.Tuple)[0]
	}
	assert.Equal(t, wire.AtomError, request(h.Self(), h.Self()))
	other := spawn(t, n, "", node.ActorFunc(func(*node.Context, any) error { return nil }))
	require.Equal(t, wire.AtomOK, request(h.Self(), other)) // each gets the events of the other
	require.Equal(t, wire.AtomOK, request(other, h.Self()))
	require.NoError(t, n.Send(other, "one"))
	settles(t, func() bool { i, err := n.Info(other); return err == nil && i.Handled == 1 })
	m, err := h.ReceiveWithin(testkit.Limit, nil)
	require.NoError(t, err)
	assert.Equal(t, wire.Atom("events"), m.(wire.Tuple)[2].(wire.Tuple)[0])
	settles(t, func() bool { i, err := n.Info(other); return err == nil && i.Handled == 1 })
	_, err = h.ReceiveWithin(0, nil)
	assert.ErrorIs(t, err, node.ErrTimeout)
}

func TestTraceNobody(t *testing.T) {
	far, near := two(t, admin.Config{})
	for target, want := range map[any]error{"nobody": node.ErrNoName, "<0.999.0>": node.ErrNoProcess} {
		_, err := admin.Trace(testkit.Context(t), near, far.Name(), admin.TraceQuery{Targets: []any{target}})
		assert.ErrorIs(t, err, want)
	}
	_, err := admin.Trace(testkit.Context(t), near, far.Name(),
		admin.TraceQuery{Targets: []any{admin.Name}, Events: []node.Atom{"all"}})
	assert.ErrorIs(t, err, admin.ErrBadRequest)
	settles(t, func() bool { return noStreams(t, far) }) // the one that has refused goes after that
}

// The end of a stream causes no dead letter of its own, whatever arrives meanwhile.
func TestStreamEndsWithoutDeadLetters(t *testing.T) {
	far, near := two(t, admin.Config{})
	gone := spawn(t, far, "gone", node.ActorFunc(echo))
	far.Exit(gone, node.Kill)
	testkit.Until(t, func() string {
		if _, ok := far.Whereis("gone"); ok {
			return "it is there"
		}
		return ""
	})
	sent := uint64(0)
	for range 100 {
		s, err := admin.DeadLetters(testkit.Context(t), nodetest.NewProbe(t, near), far.Name(), admin.LetterQuery{})
		require.NoError(t, err)
		for range 20 {
			require.NoError(t, far.Send(gone, "late"))
			sent++
		}
		s.Close()
	}
	settles(t, func() bool { return noStreams(t, far) })
	all := far.Stats().DeadLetters
	require.Equal(t, sent, all[deadletter.NoProcess], "%v", all)
}
