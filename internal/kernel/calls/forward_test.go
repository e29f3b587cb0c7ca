package calls_test

import (
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/internal/kernel/calls"
)

// counting counts how often it is forgotten.
type counting struct{ atomic.Int64 }

func (c *counting) Forget() { c.Add(1) }

// A watch is forgotten when its ticket is settled or another watch replaces it. A watch of an old ticket is not taken.
func TestForward(t *testing.T) {
	var p calls.Promise
	old := p.Arm()
	p.Begin(old, nil, nil)
	p.Finish(old)
	ticket := p.Arm()
	var first, second, late counting
	require.False(t, p.Forwarded(ticket))
	require.True(t, p.Forward(ticket, &first))
	require.False(t, p.Forward(old, &late))
	require.True(t, p.Forwarded(ticket))
	require.False(t, p.Forwarded(old))
	require.True(t, p.Forward(ticket, &second))
	require.EqualValues(t, 1, first.Load())
	p.Forget(old)
	require.Zero(t, second.Load())
	require.True(t, p.Begin(ticket, nil, nil))
	require.False(t, p.Forward(ticket, &late))
	p.Forget(ticket)
	p.Forget(ticket)
	p.Finish(ticket)
	require.EqualValues(t, 1, second.Load())
	require.Zero(t, late.Load())
	require.False(t, p.Forward(ticket, &late))
	require.False(t, p.Forwarded(ticket))
}

// However a forward, the end of its ticket and the next ticket interleave, each watch is forgotten: by the promise, or
// by the caller that was told that there is none.
func TestForwardAtTheEnd(t *testing.T) {
	var p calls.Promise
	for range 2000 {
		ticket := p.Arm()
		var watches [3]counting
		var all sync.WaitGroup
		for i := range watches {
			all.Go(func() {
				if !p.Forward(ticket, &watches[i]) {
					watches[i].Forget()
				}
			})
		}
		if p.Begin(ticket, nil, nil) {
			p.Forget(ticket)
			p.Finish(ticket)
		}
		next := p.Arm() // while some come late
		all.Wait()
		require.False(t, p.Forwarded(ticket))
		require.False(t, p.Forwarded(next))
		for i := range watches {
			require.Positive(t, watches[i].Load())
		}
		p.Begin(next, nil, nil)
		p.Finish(next)
	}
}

// Unforward removes only the watch that it names, and does not forget it.
func TestUnforward(t *testing.T) {
	var p calls.Promise
	old := p.Arm()
	p.Begin(old, nil, nil)
	p.Finish(old)
	ticket := p.Arm()
	var first, second counting
	require.False(t, p.Unforward(ticket, &first))
	require.True(t, p.Forward(ticket, &first))
	require.True(t, p.Forward(ticket, &second))
	require.False(t, p.Unforward(ticket, &first))
	require.False(t, p.Unforward(old, &second))
	require.True(t, p.Forwarded(ticket))
	require.True(t, p.Unforward(ticket, &second))
	require.False(t, p.Forwarded(ticket))
	require.Zero(t, second.Load())
	require.False(t, p.Unforward(ticket, &second))
	require.True(t, p.Forward(ticket, &first))
	require.True(t, p.Begin(ticket, nil, nil))
	p.Forget(ticket)
	require.False(t, p.Unforward(ticket, &first))
	p.Finish(ticket)
}

// Observers are told when the ticket is settled, or is forwarded; an observer after that hears of the end only.
func TestObserve(t *testing.T) {
	var p calls.Promise
	ticket := p.Arm()
	var first, second, forward, third, late counting
	require.True(t, p.Observe(ticket, &first))
	require.True(t, p.Observe(ticket, &second))
	require.False(t, p.Forwarded(ticket))
	require.True(t, p.Forward(ticket, &forward))
	require.EqualValues(t, 1, first.Load())
	require.EqualValues(t, 1, second.Load())
	require.True(t, p.Observe(ticket, &third))
	require.True(t, p.Forwarded(ticket))
	require.True(t, p.Unforward(ticket, &forward))
	require.False(t, p.Forwarded(ticket))
	require.Zero(t, third.Load())
	require.True(t, p.Begin(ticket, nil, nil))
	require.False(t, p.Observe(ticket, &late))
	require.EqualValues(t, 1, third.Load())
	p.Forget(ticket)
	p.Finish(ticket)
	require.False(t, p.Observe(ticket, &late))
	require.Zero(t, forward.Load())
	require.Zero(t, late.Load())
	next := p.Arm()
	require.False(t, p.Observe(ticket, &late))
	require.True(t, p.Observe(next, &late))
	require.EqualValues(t, 1, third.Load())
}

// However observers, forwards, Unforward and the end of the ticket interleave, each observer is told.
func TestObserveAtTheEnd(t *testing.T) {
	var p calls.Promise
	for i := range 5000 {
		ticket := p.Arm()
		var watches [6]counting
		var all sync.WaitGroup
		for i := range watches {
			all.Go(func() {
				take := p.Observe
				if i == 0 {
					take = p.Forward
				}
				if !take(ticket, &watches[i]) {
					watches[i].Forget()
				} else if i == 0 && p.Unforward(ticket, &watches[0]) {
					watches[0].Forget()
				}
			})
		}
		if i%2 == 0 {
			all.Wait()
		}
		if p.Begin(ticket, nil, nil) {
			p.Forget(ticket)
			p.Finish(ticket)
		}
		all.Wait()
		for i := range watches {
			require.Positive(t, watches[i].Load(), "watch %d", i)
		}
	}
}
