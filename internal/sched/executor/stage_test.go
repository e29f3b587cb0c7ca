package executor

import (
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/internal/mailbox/inbox"
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
	require.EqualValues(t, 3, s.n.Load())
	for _, a := range all {
		require.Same(t, &a.Entity, s.pop())
		s.Wake(&a.Entity) // it is still marked as queued: its turn is on
	}
	require.Zero(t, s.n.Load())
	require.Nil(t, s.pop())
	require.Nil(t, s.tail)
	s.push(&all[0].Entity)
	require.Same(t, &all[0].Entity, s.pop())
}

// names pops all of s's run queue.
func names(s *Stage) (all []string) {
	for e := s.pop(); e != nil; e = s.pop() {
		all = append(all, e.task.Name())
	}
	return all
}

// named returns an actor on stage k with a name.
func named(p *Pool, k int, name string) *actor {
	a := newActor(p, k, nil)
	a.name = name
	return a
}

// Fresh tasks come after all others, the newest first; but after freshAfter turns of others one of them is next.
func TestFresh(t *testing.T) {
	p := New(Config{Workers: 1, Stages: 1})
	s := p.Stage(0)
	for _, name := range []string{"f1", "f2", "f3"} {
		f := named(p, 0, name)
		s.WakeFresh(&f.Entity)
		s.WakeFresh(&f.Entity)
		s.Wake(&f.Entity) // queued already
	}
	for _, name := range []string{"a", "b"} {
		s.Wake(&named(p, 0, name).Entity)
	}
	require.EqualValues(t, 5, s.n.Load())
	require.EqualValues(t, 3, s.nfresh)
	require.Equal(t, []string{"a", "b", "f3", "f2", "f1"}, names(s))
	require.Zero(t, s.n.Load())
	require.Zero(t, s.nfresh)

	f, a := named(p, 0, "fresh"), named(p, 0, "again")
	s.WakeFresh(&f.Entity)
	s.push(&a.Entity)
	turns := 0
	for ; s.pop() == &a.Entity; turns++ {
		s.push(&a.Entity)
	}
	require.Equal(t, freshAfter, turns)
	require.Equal(t, []string{"again"}, names(s))
}

// The later half of the queue is shared out, and of the fresh the older half; pinned and suspended entities stay, and
// so do those whose wake-up somebody else owes.
func TestShareHalves(t *testing.T) {
	w := bare(t, Config{Workers: 2, Stages: 2})
	p, s, to := w.pool, w.stage, w.pool.Stage(1)
	actors := make(map[string]*actor)
	for _, name := range []string{"a", "b", "c", "d", "e", "f", "g", "h"} {
		actors[name] = named(p, 0, name)
		s.Wake(&actors[name].Entity)
	}
	for _, name := range []string{"f1", "f2", "f3", "f4"} {
		actors[name] = named(p, 0, name)
		s.WakeFresh(&actors[name].Entity)
	}
	actors["f"].Pin()
	actors["g"].set(suspended)
	actors["h"].in.Push(&inbox.Node{})
	actors["f2"].Pin()
	require.True(t, w.share(s, 0))

	require.EqualValues(t, 10, s.n.Load())
	require.EqualValues(t, 3, s.nfresh)
	require.Equal(t, []string{"a", "b", "c", "d", "f", "g", "h", "f4", "f3", "f2"}, names(s))
	require.Nil(t, s.tail)
	require.Equal(t, stageQueued, to.state)
	var moved []string
	for e := to.inject.Load(); e != nil; e = e.inj {
		require.Same(t, to, e.Stage())
		require.False(t, e.is(queued))
		moved = append(moved, e.task.Name())
	}
	require.Equal(t, []string{"f1", "e"}, moved, "newest first, as an inject list is")
}

// The states of an inject list: nil (the poster must make the stage ready), listening (the stage will look), and a
// list.
func TestPostAndGather(t *testing.T) {
	p := New(Config{Workers: 1, Stages: 1})
	s := p.Stage(0)
	var order []*actor
	next := func() *actor {
		a := newActor(p, 0, nil)
		a.entered = func(*Stage) { order = append(order, a) }
		a.in.Push(&inbox.Node{Msg: "m"})
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
	assert.EqualValues(t, 4, s.n.Load())
	for _, want := range []*actor{a, b, c, d} {
		e := s.pop()
		assert.Same(t, &want.Entity, e)
		assert.Nil(t, e.inj)
	}
}

// An entity that leaves belongs to its new stage before the old one is released: at no time do both think that they
// guard it, or neither.
func TestGatherMovesWhileHeld(t *testing.T) {
	p := New(Config{Workers: 1, Stages: 2})
	s, to := p.Stage(0), p.Stage(1)
	a := newActor(p, 0, nil)
	a.in.Push(&inbox.Node{Msg: "m"})
	a.from, a.foreignWaker, a.foreignWakes = 2, 2, migrateAfter-1
	s.post(&a.Entity, &a.Entity)
	s.gather()
	require.Same(t, to, a.Stage())
	require.Same(t, &a.Entity, s.leaving)
	require.True(t, a.in.Pending(), "its new stage takes the messages in")
	require.False(t, a.is(queued))
	require.Zero(t, a.foreignWakes)
	require.False(t, a.Claim(), "the wake-up is owed, so nobody else moves it")

	s.leaving = nil
	to.gather() // it listens
	p.deliverMigrants(&a.Entity, nil)
	to.gather()
	require.Same(t, &a.Entity, to.pop())
	require.Equal(t, 1, a.q.Len())
}

// Many post at once, one gathers: everybody arrives, and exactly one of those who post to a nil list is told so.
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
				a.in.Push(&inbox.Node{Msg: "m"})
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
	require.EqualValues(t, posters*count, s.n.Load())
	require.Equal(t, nils, ready)
}

// A stage's surplus nodes serve others.
func TestNodesChangeStages(t *testing.T) {
	p := New(Config{Workers: 1, Stages: 2})
	from, to := p.Stage(0), p.Stage(1)
	mine := make(map[*inbox.Node]bool)
	for range 4*inbox.Batch - 1 {
		n := &inbox.Node{Msg: "m"}
		mine[n] = true
		from.Recycle(n)
	}
	require.False(t, mine[to.Node("m")], "not enough yet")
	n := &inbox.Node{}
	mine[n] = true
	from.Recycle(n)
	require.Equal(t, 3*inbox.Batch, from.nodes.Len())
	for range inbox.Batch {
		n := to.Node("m")
		require.True(t, mine[n])
		require.Equal(t, "m", n.Msg)
		delete(mine, n)
	}
	require.False(t, mine[to.Node("m")])
	for range 3 * inbox.Batch {
		n := from.Node("m")
		require.True(t, mine[n])
		delete(mine, n)
	}
	require.Empty(t, mine)
}

// The number of nodes that the pool keeps for others is bounded.
func TestNodesAreBounded(t *testing.T) {
	p := New(Config{Workers: 1, Stages: 1})
	for range (maxBatches + 10) * inbox.Batch {
		p.Stage(0).Recycle(new(inbox.Node))
	}
	require.Len(t, p.nodes, maxBatches)
}
