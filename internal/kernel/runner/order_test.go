package runner_test

import (
	"fmt"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/internal/kernel/process"
	"github.com/actornode/actornode/internal/kernel/runner"
	"github.com/actornode/actornode/internal/sched/executor"
	"github.com/actornode/actornode/internal/testkit"
	"github.com/actornode/actornode/mailbox"
)

// ordered is a stage whose actors handle messages in the order in which they were sent to any of them.
type ordered struct {
	*placedSystem
	place  runner.Place
	actors []*placedActor

	mu  sync.Mutex
	got []string
}

func newOrdered(t *testing.T, n int) *ordered {
	s := newPlacedSystem(t)
	o := &ordered{placedSystem: s, place: runner.Place{Kind: runner.Own, Stage: s.Pool.NewStage(false), Order: new(runner.Order)}}
	for i := range n {
		o.actors = append(o.actors, s.spawn(o.place.Stage, &o.place, func(_ *process.Acting, msg any) {
			o.mu.Lock()
			defer o.mu.Unlock()
			o.got = append(o.got, fmt.Sprint(i, " ", msg))
		}))
	}
	return o
}

// until waits until n messages were handled.
func (o *ordered) until(n int) []string {
	testkit.UntilTrue(o.t, func() bool {
		o.mu.Lock()
		defer o.mu.Unlock()
		return len(o.got) >= n
	}, fmt.Sprint(n, " messages"))
	return o.got
}

// Messages to the actors of an ordered stage are handled in the order in which they were sent.
func TestOrder(t *testing.T) {
	o := newOrdered(t, 5)
	r := testkit.Rand(t)
	var want []string
	for i := range testkit.By(2000, 20_000, 200_000) {
		k := r.IntN(5)
		o.send(o.actors[k], i)
		want = append(want, fmt.Sprint(k, " ", i))
		if r.IntN(200) == 0 {
			o.until(len(want)) // all are at rest, and are woken again
		}
	}
	require.Equal(t, want, o.until(len(want)))
	for _, a := range o.actors {
		testkit.UntilTrue(t, func() bool { return a.Intake().Len() == 0 }, "nothing counts any more")
	}
}

// A message that waits for an actor that ends does not hold up the others.
func TestOrderAndExits(t *testing.T) {
	o := newOrdered(t, 3)
	in, goOn := make(chan struct{}), make(chan struct{})
	o.actors[0].receive = func(*process.Acting, any) {
		close(in)
		<-goOn
		o.actors[0].Exit(&o.Plain, "x")
	}
	o.send(o.actors[0], "wait")
	testkit.Receive(t, in)
	for i := range 10 {
		for _, a := range o.actors {
			o.send(a, i)
		}
	}
	o.actors[1].Exit(&o.Plain, "x")
	require.Equal(t, mailbox.Closed, o.actors[1].Cold.Box.Push(1))
	close(goOn)
	got := o.until(10)
	for i := range 10 {
		require.Equal(t, fmt.Sprint("2 ", i), got[i])
	}
	require.Len(t, got, 10)
	o.actors[2].Exit(&o.Plain, "x") // the last one, which has nothing left
	late := o.spawn(o.place.Stage, &o.place, nil)
	o.send(late, 1)
	testkit.UntilTrue(t, func() bool { return late.handled.Load() == 1 }, "the order goes on")
}

// If a process is killed before its message becomes the oldest, the message is passed over at once: invariant 3.
func TestOrderWakesTheNext(t *testing.T) {
	o := newOrdered(t, 2)
	for i := range 300 {
		o.actors = append(o.actors[:1], o.spawn(o.place.Stage, &o.place, nil))
		o.send(o.actors[1], "first")
		o.send(o.actors[0], i)
		o.actors[1].Exit(&o.Plain, "x")
		require.Equal(t, fmt.Sprint("0 ", i), o.until(i + 1)[i])
	}
}

// woken is an Actor that never runs: it notes that it was woken.
type woken struct {
	runner.Actor
	ch chan struct{}
}

func (w *woken) Turn(*executor.Worker) executor.TurnResult { panic("it is not run") }
func (w *woken) Prod(*process.Acting)                      { w.ch <- struct{}{} }

// A box on its own: invariants 2 and 3, and the results it returns.
func TestBox(t *testing.T) {
	s := newPlacedSystem(t)
	place := runner.Place{Kind: runner.Own, Stage: s.Pool.NewStage(false), Order: new(runner.Order)}
	free := runner.Place{}
	var plain process.Process
	free.Apply(&plain)
	require.False(t, plain.Boxed)
	box := func(k int) (mailbox.Box, *woken) {
		w := &woken{ch: make(chan struct{}, 9)}
		w.System = &s.System
		w.Adopt(w, s.Pool.Stage(k), true)
		place.Apply(&w.Process)
		require.True(t, w.Boxed)
		return w.Cold.Box, w
	}
	a, _ := box(0)
	b, owner := box(1) // of another stage: it cannot be woken by a call
	require.Equal(t, mailbox.Queued, a.Push(1), "it is awake")
	require.Equal(t, mailbox.Queued, b.(mailbox.Forcer).Force(2))
	require.Equal(t, mailbox.Queued, a.Push(3))
	require.Equal(t, 2, a.Len())
	msg, ok := a.Pop()
	require.True(t, ok)
	require.Equal(t, 1, msg)
	require.Equal(t, 2, a.Len(), "it counts until it is done")
	a.Done()
	require.Equal(t, 1, a.Len())
	msg, ok = b.Pop()
	require.True(t, ok)
	require.Equal(t, 2, msg)
	b.Done()
	_, ok = b.Pop()
	require.False(t, ok, "the oldest is another's")
	require.Equal(t, mailbox.Queued, b.Push(4), "it is another's turn, who wakes it")
	require.Empty(t, owner.ch)
	msg, _ = a.Pop()
	require.Equal(t, 3, msg)
	testkit.Receive(t, owner.ch)
	msg, _ = b.Pop()
	require.Equal(t, 4, msg)
	_, ok = b.Pop()
	require.False(t, ok)
	require.Equal(t, mailbox.Wake, b.Push(5), "it is armed, and the oldest")
	msg, _ = b.Pop()
	require.Equal(t, 5, msg)
	_, ok = b.Pop()
	require.False(t, ok)

	a.Push(6)
	b.Push(7)
	b.Push(8)
	require.Empty(t, owner.ch)
	a.Close()
	testkit.Receive(t, owner.ch)
	require.Equal(t, mailbox.Closed, a.Push(9))
	msg, _ = b.Pop()
	require.Equal(t, 7, msg)
	b.Close()
	require.Empty(t, owner.ch, "once")
}
