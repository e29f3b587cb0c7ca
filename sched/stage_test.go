package sched

import (
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/mailbox"
)

func TestRunQueue(t *testing.T) {
	p := New(Config{Workers: 1, Stages: 1})
	s := p.Stage(0)
	require.Nil(t, s.pop())
	var all []*actor
	for range 3 {
		a := newActor(p, 0, nil)
		all = append(all, a)
		s.Wake(&a.Entity)
		s.Wake(&a.Entity)
	}
	require.EqualValues(t, 3, s.n)
	for _, a := range all {
		require.Same(t, &a.Entity, s.pop())
		s.Wake(&a.Entity) // it is still marked as queued: its turn is on
	}
	require.Zero(t, s.n)
	require.Nil(t, s.pop())
	require.Nil(t, s.tail)
	s.push(&all[0].Entity)
	require.Same(t, &all[0].Entity, s.pop())
}

// The states of an inject list: nil (who posts must make the stage ready), listening
// (it will look), and a list.
func TestPostAndGather(t *testing.T) {
	p := New(Config{Workers: 1, Stages: 1})
	s := p.Stage(0)
	var order []*actor
	next := func() *actor {
		a := newActor(p, 0, nil)
		a.entered = func(*Stage) { order = append(order, a) }
		a.in.Push(&mailbox.Node{Msg: "m"})
		return a
	}
	a, b, c, d := next(), next(), next(), next()
	assert.False(t, s.injected())
	assert.True(t, s.post(&a.Entity, &a.Entity), "the first must make the stage ready")
	assert.False(t, s.post(&b.Entity, &b.Entity), "the second need not")
	assert.True(t, s.injected())
	s.gather()
	assert.Equal(t, []*actor{a, b}, order, "oldest first")
	assert.False(t, s.injected())
	assert.Same(t, listening, s.inject.Load())
	s.gather() // nothing
	assert.Len(t, order, 2)

	d.inj = &c.Entity // a list, as share makes it: newest first
	assert.False(t, s.post(&d.Entity, &c.Entity), "the stage listens")
	s.gather()
	assert.Equal(t, []*actor{a, b, c, d}, order)
	assert.EqualValues(t, 4, s.n)
	for _, want := range []*actor{a, b, c, d} {
		e := s.pop()
		assert.Same(t, &want.Entity, e)
		assert.Nil(t, e.inj)
	}
}

// Many post at once, one gathers: everybody arrives, and exactly one of those who
// post to a nil list is told so.
func TestPostConcurrently(t *testing.T) {
	const posters, count = 4, 2000
	p := New(Config{Workers: 1, Stages: 1})
	s := p.Stage(0)
	told := make(chan bool, posters*count)
	var wg sync.WaitGroup
	for range posters {
		wg.Go(func() {
			for range count {
				a := newActor(p, 0, nil)
				a.in.Push(&mailbox.Node{Msg: "m"})
				told <- s.post(&a.Entity, &a.Entity)
			}
		})
	}
	done := make(chan struct{})
	go func() { // ends with the posters
		wg.Wait()
		close(done)
	}()
	nils := 1 // the list starts as nil
	for posting := true; posting; {
		select {
		case <-done:
			posting = false
		default:
		}
		if s.injected() {
			s.gather()
		}
		if s.inject.CompareAndSwap(listening, nil) {
			nils++
		}
	}
	close(told)
	if s.injected() {
		s.gather()
	} else {
		nils-- // nobody ended the last one
	}
	ready := 0
	for t := range told {
		if t {
			ready++
		}
	}
	require.EqualValues(t, posters*count, s.n)
	require.Equal(t, nils, ready)
}

// Nodes that one stage has too many of serve others.
func TestNodesChangeStages(t *testing.T) {
	p := New(Config{Workers: 1, Stages: 2})
	from, to := p.Stage(0), p.Stage(1)
	mine := make(map[*mailbox.Node]bool)
	for range 4*mailbox.Batch - 1 {
		n := &mailbox.Node{Msg: "m"}
		mine[n] = true
		from.Recycle(n)
	}
	require.False(t, mine[to.Node("m")], "not enough yet")
	n := &mailbox.Node{}
	mine[n] = true
	from.Recycle(n)
	require.Equal(t, 3*mailbox.Batch, from.nodes.Len())
	for range mailbox.Batch {
		n := to.Node("m")
		require.True(t, mine[n])
		require.Equal(t, "m", n.Msg)
		delete(mine, n)
	}
	require.False(t, mine[to.Node("m")])
	for range 3 * mailbox.Batch {
		n := from.Node("m")
		require.True(t, mine[n])
		delete(mine, n)
	}
	require.Empty(t, mine)
}

// What the pool keeps for others is bounded.
func TestNodesAreBounded(t *testing.T) {
	p := New(Config{Workers: 1, Stages: 1})
	for range (maxBatches + 10) * mailbox.Batch {
		p.Stage(0).Recycle(new(mailbox.Node))
	}
	require.Len(t, p.nodes, maxBatches)
}
