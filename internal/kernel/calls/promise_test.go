package calls_test

import (
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/internal/kernel/calls"
	"github.com/actornode/actornode/internal/testkit"
)

// Random operations with old and new tickets, compared with a one-line model of each.
func TestPromiseAsModel(t *testing.T) {
	r := testkit.Rand(t)
	var p calls.Promise
	const waiting, settling, done = 0, 1, 2
	tickets := []calls.Ticket{p.Arm()}
	state, value := waiting, any(nil) // of the last ticket
	for i := range 50_000 {
		k := len(tickets) - 1 - min(r.IntN(4), len(tickets)-1)
		ticket, last := tickets[k], k == len(tickets)-1
		switch r.IntN(4) {
		case 0:
			if ok := p.Begin(ticket, i, nil); ok { // of an old ticket: a late reply
				require.True(t, last && state == waiting)
				state, value = settling, i
			} else {
				require.False(t, last && state == waiting)
			}
		case 1:
			if state == settling {
				p.Finish(tickets[len(tickets)-1])
				state = done
			}
		case 2:
			if state == done {
				tickets = append(tickets, p.Arm())
				state = waiting
			} else {
				require.Panics(t, func() { p.Arm() }, "somebody waits")
			}
		}
		require.Equal(t, tickets[len(tickets)-1], p.Current())
		for k, ticket := range tickets[max(0, len(tickets)-4):] {
			last := k == min(len(tickets), 4)-1
			require.Equal(t, last && state != done, p.Pending(ticket))
			require.Equal(t, !last || state == done, p.Done(ticket))
		}
		if state == done {
			v, err := p.Result()
			require.Equal(t, value, v)
			require.NoError(t, err)
		}
	}
}

// Of many goroutines that settle a ticket at the same time, one succeeds, and the owner reads its value.
func TestOneSettles(t *testing.T) {
	var p calls.Promise
	for round := range 500 {
		ticket := p.Arm()
		var wins atomic.Int64
		var winner atomic.Int64
		var all sync.WaitGroup
		for k := range 8 {
			all.Go(func() {
				if p.Begin(ticket, k, nil) {
					wins.Add(1)
					winner.Store(int64(k))
					p.Finish(ticket)
				}
				p.Begin(ticket-4, -1, nil) // the ticket before: late
			})
		}
		for !p.Done(ticket) {
			require.True(t, p.Pending(ticket) || p.Done(ticket))
		}
		v, _ := p.Result()
		all.Wait()
		require.EqualValues(t, 1, wins.Load(), "round %d", round)
		require.EqualValues(t, winner.Load(), v)
	}
}

// Watches added before and after the end are each called once, in order, and channels close.
func TestWatches(t *testing.T) {
	var said []int
	w := calls.Then(func(a int) { said = append(said, a) })
	w.Add(7, func(a int) { said = append(said, 10+a) })
	ch := w.Signal()
	require.Equal(t, ch, w.Signal())
	select {
	case <-ch:
		require.Fail(t, "closed too early")
	default:
	}
	w.Tell(1)
	<-ch
	<-w.Signal()
	w.Add(7, func(a int) { said = append(said, 20+a) })
	require.Equal(t, []int{1, 11, 27}, said)

	var late calls.Watches[int]
	late.Tell(1)
	<-late.Signal()
}

// waiter notes that it has been told.
type waiter struct {
	said *[]int
	n    int
}

func (w waiter) Completed(a int) { *w.said = append(*w.said, w.n+a) }

// Waiters are told once, in the order in which they came, also when they are mixed with functions.
func TestWaiters(t *testing.T) {
	var said []int
	var w calls.Watches[int]
	w.Wait(7, waiter{&said, 10})
	w.Add(7, func(a int) { said = append(said, 20+a) })
	w.Wait(7, waiter{&said, 30})
	w.Remove(w.Add(7, func(a int) { said = append(said, 40+a) }))
	w.Tell(1)
	w.Wait(7, waiter{&said, 50})
	require.Equal(t, []int{11, 21, 31, 57}, said)
}

// Watches added during the end are each called once.
func TestWatchesAtTheEnd(t *testing.T) {
	for range 200 {
		var w calls.Watches[int]
		var called atomic.Int64
		var all sync.WaitGroup
		for range 4 {
			all.Go(func() { w.Add(0, func(int) { called.Add(1) }); <-w.Signal() })
		}
		all.Go(func() { w.Tell(0) })
		all.Wait()
		require.EqualValues(t, 4, called.Load())
	}
}

// A removed watch is not called and takes no room.
func TestWatchesRemoved(t *testing.T) {
	var w calls.Watches[int]
	var said []int
	stays := w.Add(0, func(int) { said = append(said, 1) })
	for range 100 {
		n := w.Add(0, func(int) { said = append(said, 2) })
		require.LessOrEqual(t, n, 3)
		if n == 1 {
			w.Add(0, func(int) { said = append(said, 3) })
		}
		w.Remove(n)
	}
	w.Remove(stays)
	w.Tell(0)
	w.Remove(0)
	require.Equal(t, []int{3}, said)
}
