package process_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"fmt"

	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/internal/kernel/calls"
	"github.com/actornode/actornode/internal/kernel/process"
	"github.com/actornode/actornode/internal/mailbox/inbox"
	"github.com/actornode/actornode/mailbox"

	"github.com/actornode/actornode/node/observe"
	"github.com/actornode/actornode/wire"
)

func bounded(n int, p mailbox.Policy) *inbox.Bounded {
	return inbox.NewBounded(mailbox.Bounds{Messages: n, Policy: p})
}

// strict is a user's box that takes nothing past its bound.
type strict struct{ mailbox.Box }

// Messages that come before the process looks cause one wake-up, and are taken in the order in which they came. A
// message is handled once; one that was left is offered again when the behaviour changes.
func TestDeliver(t *testing.T) {
	s := newSystem(t)
	for _, box := range []bool{false, true} {
		p := s.spawn()
		if box {
			p = s.spawn(boxed(bounded(10, 0)))
		}
		p.took()
		require.Equal(t, box, p.Intake().Arm(), "a box arms itself; an inbox is armed once")
		for i := range 3 {
			require.NoError(t, p.Deliver(&s.Plain, i))
		}
		p.Signal(&s.Plain, 3)
		p.Intake().Try(&inbox.Node{Msg: 4})
		require.Equal(t, 1, p.wakes)
		require.Equal(t, 5, p.Intake().Len())
		require.Equal(t, []any{0, 1, 2, 3, 4}, p.took())
		require.Zero(t, p.Intake().Len())
		require.EqualValues(t, 5, p.Handled.Load())
		require.NoError(t, p.Deliver(&s.Plain, 5))
		require.Equal(t, 2, p.wakes)

		require.True(t, p.Refill())
		p.Settle(nil, process.ErrUnhandled)
		require.False(t, p.Queue.More(), "it is left")
		require.EqualValues(t, 5, p.Handled.Load())
		p.Rewind = true
		require.NoError(t, p.Deliver(&s.Plain, 6))
		require.True(t, p.Refill())
		p.Settle(nil, nil)
		require.False(t, p.Rewind)
		require.True(t, p.Queue.More())
		require.Equal(t, []any{5}, p.took())
		require.EqualValues(t, 7, p.Handled.Load())

		p.die("x")
		require.NoError(t, p.Deliver(&s.Plain, "late"), "a message to the dead is lost without an error, as in Erlang")
		p.Signal(&s.Plain, "signal")
		p.Intake().Try(&inbox.Node{Msg: "try"})
		require.Equal(t, []string{fmt.Sprint("no_process ", p.PID(), " late"), fmt.Sprint("no_process ", p.PID(), " signal"),
			fmt.Sprint("no_process ", p.PID(), " try")}, s.dead())
	}
}

// The policy answers for a message that does not get in; signals get in past a bound.
func TestBounds(t *testing.T) {
	s := newSystem(t)
	for _, c := range []struct {
		policy  mailbox.Policy
		offer   error // for a sender that does not wait
		deliver error // for one that might
		letter  bool
	}{
		{mailbox.Refuse, process.ErrMailboxFull, process.ErrMailboxFull, true},
		{mailbox.Block, process.ErrNoRoom, nil, true},
		{mailbox.DropNewest, process.ErrDropped, nil, false},
	} {
		p := s.spawn(boxed(bounded(2, c.policy)))
		require.NoError(t, p.Deliver(&s.Plain, 1))
		require.NoError(t, p.Offer(&s.Plain, 2, nil))
		require.Equal(t, c.offer, p.Offer(&s.Plain, 3, nil), c.policy)
		letter := []string(nil)
		if c.letter {
			letter = []string{fmt.Sprint("mailbox_full ", p.PID(), " 3")}
		}
		require.Equal(t, letter, s.dead())
		if c.policy != mailbox.Block {
			require.Equal(t, c.deliver, p.Deliver(&s.Plain, 3), c.policy)
			s.dead()
		}
		p.Signal(&s.Plain, "signal")
		p.Intake().Try(&inbox.Node{Msg: 5})
		require.Equal(t, []any{1, 2, "signal"}, p.took())
		if c.policy != mailbox.DropNewest {
			require.Equal(t, []string{fmt.Sprint("mailbox_full ", p.PID(), " 5")}, s.dead())
			require.Equal(t, []string{"5 node: the mailbox is full false"}, s.unanswered)
		}
		s.unanswered = nil
		require.NoError(t, p.Deliver(&s.Plain, 6), "there is room again")
		p.die("x")
		require.Equal(t, process.ErrNoProcess, p.Offer(&s.Plain, 7, nil))
		require.NoError(t, p.Deliver(&s.Plain, 8))
		require.Len(t, s.dead(), 2)
	}
	require.ErrorIs(t, process.ErrNoRoom, process.ErrMailboxFull)

	p := s.spawn(func(p *proc) { p.ColdPart().Box, p.Boxed = strict{bounded(1, 0)}, true })
	p.Signal(&s.Plain, 1)
	p.Signal(&s.Plain, 2)
	require.Equal(t, []any{1}, p.took())
	require.Len(t, s.dead(), 1)
	require.Len(t, s.unanswered, 1)
	s.Stopped.Store(true)
	p.die("x")
	require.ErrorIs(t, p.Offer(&s.Plain, 1, nil), process.ErrNodeStopped)
}

// A sender waits for room until there is some, it is dead, its context ends, or the receiver is gone. Meanwhile others
// can see what it waits for.
func TestWaitsForRoom(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSystem(t)
		send := func(p *proc, from *proc, ctx context.Context) <-chan error {
			done := make(chan error, 1)
			require.NoError(t, p.Offer(&s.Plain, "fills", nil))
			go func() {
				u := &process.Patience{Ctx: ctx}
				a := &s.Plain
				if from != nil {
					u.From, a = &from.Process, &process.Acting{System: &s.System, Process: &from.Process}
				}
				done <- p.Offer(a, "waits", u)
			}()
			synctest.Wait()
			require.Empty(t, done)
			return done
		}
		receiver := func() *proc { return s.spawn(boxed(bounded(1, mailbox.Block))) }

		p, from := receiver(), s.spawn()
		done := send(p, from, nil)
		w := from.WaitLocked(observe.Running)
		require.Equal(t, "space", w.For)
		require.Equal(t, p.PID(), w.On)
		require.Equal(t, []any{"fills"}, p.took())
		require.NoError(t, <-done)
		require.Equal(t, []any{"waits"}, p.took())
		require.Zero(t, from.WaitLocked(observe.Running))

		done = send(p, from, t.Context())
		from.Exit(&s.Plain, "x")
		require.Equal(t, process.ErrExited, <-done)
		require.Equal(t, []any{"fills"}, p.took())

		ctx, cancel := context.WithCancelCause(t.Context())
		done = send(p, s.spawn(), ctx)
		cancel(errTest)
		err := <-done
		require.ErrorIs(t, err, errTest)
		require.ErrorIs(t, err, context.Canceled)

		p = receiver()
		done = send(p, nil, nil)
		p.die("x")
		require.Equal(t, process.ErrNoProcess, <-done)
	})
}

// A wait leaves nothing behind when it is over.
func TestPatience(t *testing.T) {
	s := newSystem(t)
	for _, from := range []*process.Process{nil, &s.spawn().Process} {
		ctx, stop := (&process.Patience{From: from}).Within()
		require.NoError(t, ctx.Err())
		stop()
		require.Equal(t, from != nil, ctx.Err() != nil)
		own, _ := (&process.Patience{From: from, Ctx: t.Context()}).Within()
		require.NoError(t, own.Err())
	}
}

// With cycles detected, two processes that wait for room in each other's mailbox do not wait for ever.
func TestRoomCycle(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSystem(t)
		s.Cycles = new(calls.WaitGraph[process.Waiter])
		p, q := s.spawn(boxed(bounded(1, mailbox.Block))), s.spawn(boxed(bounded(1, mailbox.Block)))
		done := make(chan error, 2)
		for _, d := range [][2]*proc{{p, q}, {q, p}} {
			require.NoError(t, d[1].Offer(&s.Plain, "fills", nil))
			a := process.Acting{System: &s.System, Process: &d[0].Process}
			go func() { done <- d[1].Deliver(&a, "waits") }()
			synctest.Wait()
		}
		require.ErrorIs(t, <-done, process.ErrCycle)
		pass(time.Second)
		require.Empty(t, done, "the other waits still")
		p.took()
		q.took()
		require.NoError(t, <-done)
		require.Zero(t, s.Cycles.Len())
	})
}

// A message that cannot be delivered is a dead letter; it is an error only if the node stops, or the process belongs to
// another one.
func TestUndeliverable(t *testing.T) {
	s := newSystem(t)
	for _, c := range []struct {
		to    wire.PID
		cause string
		err   error
	}{
		{s.Origin.PID(99), "no_process", nil},
		{wire.PID{}, "no_process", process.ErrNoDest},
		{earlier(1), "old_incarnation", nil},
		{far(1), "not_connected", process.ErrNotHere},
	} {
		require.Equal(t, c.err, s.Undeliverable(c.to, "m"))
		require.Equal(t, []string{fmt.Sprint(c.cause, " ", c.to, " m")}, s.dead())
	}
	s.Stopped.Store(true)
	require.Equal(t, process.ErrNodeStopped, s.Undeliverable(far(1), "m"))
	require.Equal(t, []string{fmt.Sprint("node_stopped ", far(1), " m")}, s.dead())
}

// A timer sends to a process as others do; it ends with the process, or when the node stops.
func TestTimers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSystem(t)
		p, b := s.spawn(), s.spawn(boxed(bounded(1, mailbox.Block)))
		for _, q := range []*proc{p, b} {
			q.took()
			require.Same(t, q.Timers(), q.Timers())
			require.True(t, q.Timers().Start(new(process.Timer), time.Second, 0, "one"))
			require.True(t, q.Timers().Start(new(process.Timer), 2*time.Second, 0, "two"))
		}
		require.Equal(t, 4, s.Timers.Len())
		pass(3 * time.Second)
		require.Equal(t, []any{"one", "two"}, p.took())
		require.Equal(t, 1, b.wakes)
		require.Equal(t, []any{"one"}, b.took(), "there was no room for two yet")
		pass(time.Second)
		require.Equal(t, []any{"two"}, b.took())
		require.Zero(t, s.Timers.Len())

		p.Timers().Start(new(process.Timer), time.Second, 0, "three")
		p.EndTimers()
		s.spawn().EndTimers()
		s.Stopped.Store(true)
		require.Nil(t, b.Timers())
		require.Zero(t, s.Timers.Len())
		pass(2 * time.Second)
		require.Empty(t, p.took())
		require.Empty(t, s.dead())
	})
}

// What a process waits for is shown while it waits; a nil process shows nothing.
func TestWaits(t *testing.T) {
	s := newSystem(t)
	p := s.spawn()
	require.Zero(t, p.WaitLocked(observe.Idle))
	p.WaitsFor(calls.WaitFuture, far(1))
	w := p.WaitLocked(observe.Idle)
	require.Equal(t, "future", w.For)
	require.Equal(t, far(1), w.On)
	require.False(t, w.Since.IsZero())
	p.WaitsNoMore()
	require.Zero(t, p.WaitLocked(observe.Idle))
	var nobody *process.Process
	nobody.WaitsFor(calls.WaitFuture, nil)
	nobody.WaitsNoMore()
}
