package process_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/internal/kernel/calls"
	"github.com/actornode/actornode/internal/kernel/process"
	"github.com/actornode/actornode/node/observe"
	"github.com/actornode/actornode/wire"
)

// answered is a Blocker that is told of an answer.
type answered func()

func (f answered) Answered(*process.Acting)            { f() }
func (f answered) Deliver(*process.Process, any) error { panic("not asked") }
func (f answered) Promise() *process.Call              { panic("not asked") }
func (f answered) Await(context.Context, process.Ticket, calls.WaitKind, wire.Dest) (any, error) {
	return "awaited", nil
}
func (f answered) Context() context.Context              { panic("not asked") }
func (f answered) Unwind()                               { f() }
func (f answered) WaitLocked(observe.State) observe.Wait { panic("not asked") }

// ask calls target, which gets a message with the tag.
func (p *proc) ask(tag any, target *proc) process.Ticket {
	call := p.as.Requested(tag)
	call.Target = &target.Process
	t := call.NewTicket()
	if !call.List() {
		t.Settle(&p.as, nil, failed(target.Reason()))
	}
	return t
}

// A call is settled once: by its answer, by the end of its target, or because there was no target.
func TestCallSettledOnce(t *testing.T) {
	s := newSystem(t)
	p, server := s.spawn(), s.spawn()
	one, two := p.ask("one", server), p.ask("two", server)
	require.True(t, one.Pending())
	require.False(t, one.Done())
	require.Equal(t, 2, server.Cold.Calls.Len())
	require.True(t, one.Settle(&server.as, 1, nil))
	require.False(t, one.Settle(&server.as, 2, nil))
	require.False(t, one.Pending())
	require.Equal(t, 1, server.Cold.Calls.Len())
	also := p.ask("also", server)
	server.die("x")
	require.False(t, two.Settle(&server.as, 2, nil), "a late reply")
	require.False(t, also.Pending(), "each call is told of the end")
	three := p.ask("three", server)
	require.False(t, three.Pending())
	got := p.took()
	require.Equal(t, result("one", 1, nil), got[0])
	require.ElementsMatch(t, []any{result("two", nil, failed("x")), result("also", nil, failed("x"))}, got[1:3])
	require.Equal(t, []any{result("three", nil, failed("x"))}, got[3:])
	require.False(t, process.Ticket{}.Settle(&s.Plain, 1, nil))
	require.False(t, process.Ticket{}.Pending())
}

// Invariant 1 of Call: an old ticket has no effect on the next use of the same call. The worker that has settled a call
// keeps it for another.
func TestCallUsedAgain(t *testing.T) {
	s := newSystem(t)
	p, server := s.spawn(), s.spawn()
	old := p.ask("old", server)
	old.Settle(&p.as, 1, nil)
	next := p.ask("next", server)
	require.Same(t, old.Call, next.Call)
	require.NotEqual(t, old.N, next.N)
	require.True(t, old.Done())
	require.False(t, old.Pending())
	require.False(t, old.Settle(&server.as, "late", nil))
	require.True(t, next.Pending())
	require.True(t, next.Settle(&p.as, 2, nil))
	require.Equal(t, []any{result("old", 1, nil), result("next", 2, nil)}, p.took())

	s.Plain.Requested("x")
	other := s.spawn()
	require.NotSame(t, next.Call, other.as.Requested("y"), "another worker's")
	same := p.as.Requested("z")
	require.Same(t, next.Call, same)
	require.Equal(t, "z", same.Tag)
	require.Same(t, &p.Process, same.Asker)
	require.NotSame(t, same, p.as.Requested("w"), "that is in use")

	tickets := []process.Ticket{}
	for range 100 {
		tickets = append(tickets, p.ask("many", server))
	}
	for _, k := range tickets {
		k.Settle(&p.as, nil, nil)
	}
	kept := make(map[*process.Call]bool)
	for _, k := range tickets {
		kept[k.Call] = true
	}
	again := 0
	for range 100 {
		if kept[p.as.Requested("t")] {
			again++
		}
	}
	require.Equal(t, 64, again, "no more than so many are kept")
}

// An answer to a process that is dead is a dead letter.
func TestCallOfTheDead(t *testing.T) {
	s := newSystem(t)
	p, server := s.spawn(), s.spawn()
	k := p.ask("tag", server)
	p.die("x")
	require.True(t, k.Settle(&server.as, 1, nil))
	require.Len(t, s.dead(), 1)
}

// An answer is not held back by a bound.
func TestCallPastBound(t *testing.T) {
	s := newSystem(t)
	p, server := s.spawn(boxed(bounded(1, 0))), s.spawn()
	require.NoError(t, p.Deliver(&s.Plain, "full"))
	require.Error(t, p.Deliver(&s.Plain, "no room"))
	p.ask("tag", server).Settle(&server.as, 1, nil)
	require.Equal(t, []any{"full", result("tag", 1, nil)}, p.took())
}

type forgets struct{ n int }

func (f *forgets) Forget() { f.n++ }

type replies struct {
	got   []any
	gone  func()
	stops int
}

func (r *replies) WhenGone(f func()) (stop func() bool) {
	r.gone = f
	return func() bool { r.stops++; return true }
}

func (r *replies) Reply(_ *process.Acting, c *process.Call) {
	v, err := c.Result()
	r.got = append(r.got, v, err)
}

// Each waiter is told in its own way: one that is parked, one on another node, a future. The call's Away, which waits
// for an answer of another node, forgets it.
func TestCallTells(t *testing.T) {
	s := newSystem(t)
	p := s.spawn()
	n := 0
	c := &process.Call{System: &s.System, Waiter: answered(func() { n++ }), Asker: &p.Process}
	k := c.NewTicket()
	away := &forgets{}
	c.Away = away
	require.True(t, k.Settle(&s.Plain, 1, nil))
	require.Equal(t, 1, n)
	require.Equal(t, 1, away.n)
	require.Nil(t, c.Away)
	require.Empty(t, p.took())

	r := &replies{}
	c = &process.Call{System: &s.System, Far: r}
	k = c.NewTicket()
	k.Settle(&s.Plain, 1, errTest)
	require.Equal(t, []any{1, errTest}, r.got)

	f := s.Plain.Promise()
	k = f.NewTicket()
	f.More.Add(&s.Plain, func(a *process.Acting) {
		require.True(t, k.Done())
		require.Same(t, &p.as, a)
		n++
	})
	require.True(t, k.Settle(&p.as, "v", nil))
	require.Equal(t, 2, n)
	v, err := k.Wait(t.Context())
	require.NoError(t, err)
	require.Equal(t, "v", v)

	a := process.Acting{System: &s.System, Process: &p.Process, Blocks: answered(nil)}
	v, err = a.Await(t.Context(), k, calls.WaitReply, nil)
	require.NoError(t, err)
	require.Equal(t, "awaited", v)
}

// A waiter gets the answer, or gives up with the cause of its context; the answer is then too late.
func TestWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSystem(t)
		server := s.spawn()
		fresh := func() (*process.Call, process.Ticket) {
			c := s.Plain.Promise()
			c.Target = &server.Process
			k := c.NewTicket()
			require.True(t, c.List())
			return c, k
		}
		_, k := fresh()
		go func() { k.Settle(&server.as, 1, nil) }()
		v, err := k.Wait(t.Context())
		require.NoError(t, err)
		require.Equal(t, 1, v)

		_, k = fresh()
		ctx, cancel := context.WithTimeoutCause(t.Context(), time.Second, errTest)
		defer cancel()
		_, err = s.Plain.Await(ctx, k, calls.WaitReply, nil)
		require.ErrorIs(t, err, errTest)
		require.ErrorIs(t, err, context.DeadlineExceeded)
		require.False(t, k.Settle(&server.as, 1, nil))
		require.Zero(t, server.Cold.Calls.Len(), "the server knows it no longer")

		_, k = fresh()
		go server.die("x")
		_, err = k.Wait(t.Context())
		require.Equal(t, failed("x"), err)
	})
}

// A waiter that gives up while another is about to settle the call gets the result of the settling.
func TestWaitsForWhoSettles(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSystem(t)
		c := s.Plain.Promise()
		k := c.NewTicket()
		require.True(t, c.Begin(k.N, "v", nil))
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		done := make(chan any, 1)
		go func() {
			v, _ := k.Wait(ctx)
			done <- v
		}()
		synctest.Wait()
		require.Empty(t, done)
		c.Finish(k.N)
		c.More.Tell(&s.Plain)
		require.Equal(t, "v", <-done)
	})
}

// Where cycles are detected, the graph forgets the wait of a blocking process when the wait is over.
func TestAwaitNoted(t *testing.T) {
	s := newSystem(t)
	s.Cycles = new(calls.WaitGraph[process.Waiter])
	p, q := s.spawn(), s.spawn()
	k := p.ask("tag", q)
	require.NoError(t, p.as.MayAwait(process.Ticket{}, k, calls.WaitReply, nil))
	require.Equal(t, 1, s.Cycles.Len())
	a := process.Acting{System: &s.System, Process: &p.Process, Blocks: answered(nil)}
	v, err := a.Await(t.Context(), k, calls.WaitReply, nil)
	require.NoError(t, err)
	require.Equal(t, "awaited", v)
	require.Zero(t, s.Cycles.Len())
}

// With cycles detected, a call that would close a cycle is refused; the error says who would wait for whom.
func TestCycle(t *testing.T) {
	s := newSystem(t)
	s.Cycles = new(calls.WaitGraph[process.Waiter])
	a, b, c := s.spawn(), s.spawn(), s.spawn()
	a.register("a")
	wait := func(p, q *proc) (process.Ticket, error) {
		k := p.ask("tag", q)
		return k, p.as.MayAwait(process.Ticket{}, k, calls.WaitReply, nil)
	}
	_, err := wait(a, b)
	require.NoError(t, err)
	second, err := wait(b, c)
	require.NoError(t, err)
	_, err = wait(c, a)
	require.ErrorIs(t, err, process.ErrCycle)
	require.ErrorContains(t, err, c.PID().String()+" calls a ("+a.PID().String()+") calls "+b.PID().String()+" calls "+
		c.PID().String())
	b.as.Waited(process.Ticket{})
	_, err = wait(c, a)
	require.NoError(t, err)
	_, err = wait(b, c)
	require.ErrorIs(t, err, process.ErrCycle)
	second.Settle(&c.as, nil, nil)

	a.die("x") // a dead process waits for nobody
	_, err = wait(b, c)
	require.NoError(t, err)
	require.NoError(t, s.Plain.MayAwait(process.Ticket{}, second, calls.WaitReply, nil))
	require.Equal(t, "others, which", processWho(process.Waiter{}))
	require.Equal(t, "a method of "+b.PID().String(), processWho(process.Waiter{Process: &b.Process, Own: second}))
	require.NoError(t, process.CycleError(nil))
}

// processWho describes a Waiter for people.
func processWho(w process.Waiter) string {
	err := process.CycleError([]calls.WaitStep[process.Waiter]{{Waiter: w, Kind: calls.WaitReply}})
	text := err.Error()[len(process.ErrCycle.Error())+2:]
	half := (len(text) - len(" calls ")) / 2
	return text[:half]
}

// An aim counts while its call waits, and for as long as its waiter says so.
func TestAim(t *testing.T) {
	s := newSystem(t)
	p, q := s.spawn(), s.spawn()
	k := p.ask("tag", q)
	on := true
	for _, waits := range []func() bool{nil, func() bool { return on }} {
		aim := process.Aim(k, waits)
		require.Equal(t, [2]process.Waiter{{Process: &q.Process, Own: k}, {Process: &q.Process}}, aim.To)
		require.True(t, aim.Waits())
		on = false
		require.Equal(t, waits == nil, aim.Waits())
		on = true
	}
	k.Settle(&q.as, 1, nil)
	require.False(t, process.Aim(k, nil).Waits())
}

// An observer of a call is told when it is settled or the far caller is gone, and holds nothing of that caller afterwards.
func TestObserve(t *testing.T) {
	sys := newSystem(t)
	far := &replies{}
	p := &process.Call{System: &sys.System, Far: far}
	ticket := p.NewTicket()
	var told watched
	require.True(t, ticket.Observe(&told))
	far.gone()
	require.Equal(t, 1, told.times)
	require.Zero(t, far.stops)
	require.True(t, ticket.Settle(&sys.Plain, 1, nil))
	require.Equal(t, 2, told.times)
	require.Equal(t, 1, far.stops)
	require.False(t, ticket.Observe(&told))
	require.Equal(t, 2, far.stops)
	require.Equal(t, 2, told.times)
	require.False(t, process.Ticket{}.Observe(&told))
}

type watched struct{ times int }

func (w *watched) Forget() { w.times++ }

// A deadline belongs to one ticket, and counts from the time that it is set.
func TestCallDeadline(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		sys := newSystem(t)
		p := &process.Call{System: &sys.System}
		first := p.NewTicket()
		//lint:ignore SA1012 a request without a context has none
		p.SetDeadline(nil)
		_, ok := first.Deadline()
		require.False(t, ok)
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		p.SetDeadline(ctx)
		at, ok := first.Deadline()
		require.True(t, ok)
		require.Equal(t, time.Minute, time.Until(at))
		require.True(t, first.Settle(&sys.Plain, 1, nil))
		_, ok = first.Deadline()
		require.False(t, ok)

		second := p.NewTicket()
		p.SetDeadline(t.Context())
		_, ok = second.Deadline()
		require.False(t, ok)
		time.Sleep(time.Second)
		p.SetWait(time.Millisecond)
		at, ok = second.Deadline()
		require.True(t, ok)
		require.Equal(t, time.Millisecond, time.Until(at))
		_, ok = first.Deadline()
		require.False(t, ok)
		require.True(t, second.Settle(&sys.Plain, 1, nil))
		_, ok = process.Ticket{}.Deadline()
		require.False(t, ok)

		third := p.NewTicket()
		for _, far := range []time.Time{time.Now().Add(1<<63 - 1), time.Now().Round(0).Add(time.Hour), time.Now().Add(-time.Hour)} {
			ctx, cancel := context.WithDeadline(context.Background(), far)
			p.SetDeadline(ctx)
			cancel()
			at, ok := third.Deadline()
			require.True(t, ok)
			require.Equal(t, far.After(time.Now()), at.After(time.Now()), far)
		}
	})
}
