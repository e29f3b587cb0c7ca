package executor

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/internal/testkit"
)

// moved is the Moved that moves an actor; Done calls done.
func moved(a *actor, done func()) Moved {
	return Moved{Claim: a.in.Claim, Gone: func() bool { return false }, Done: func(bool) { done() }}
}

// ahead is a message of the stress test: its number among those from its sender to its receiver, and how many more it
// causes.
type ahead struct{ from, seq, left int }

// peer is an actor of the stress test.
type peer struct {
	*actor
	id      int
	sent    []int // by receiver
	got     []int // by sender
	running atomic.Int32
}

// Actors send to each other, from their stages and from outside, block, are observed, and are moved over all stages
// meanwhile: each message is handled once, in the order of its sender; no two handlers of an actor, or of an exclusive
// stage whose handlers do not say that they block, run at a time.
func TestMoveStress(t *testing.T) {
	for _, procs := range []int{1, 2, 8} {
		for _, blocks := range []bool{false, true} {
			t.Run(fmt.Sprint(procs, blocks), func(t *testing.T) {
				defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(procs))
				moveStress(t, blocks)
			})
		}
	}
}

func moveStress(t *testing.T, blocks bool) {
	const actors, outside, ttl = 12, 3, 40
	first := testkit.By(6, 20, 60)
	r := testkit.Rand(t)
	p := startPool(t, Config{Workers: 2, Stages: 3, Blocked: time.Millisecond})
	stages := []*Stage{p.NewStage(false), p.NewStage(true), p.NewStage(true)}
	for k := range 3 {
		stages = append(stages, p.Stage(k))
	}
	busy := make(map[*Stage]*atomic.Int32)
	for _, s := range stages {
		busy[s] = new(atomic.Int32)
	}
	var all sync.WaitGroup
	var wrong atomic.Int32
	var peers []*peer
	for id := range actors {
		rng := rand.New(rand.NewPCG(r.Uint64(), uint64(id)))
		me := &peer{id: id, sent: make([]int, actors), got: make([]int, actors+outside)}
		me.actor = newActor(p, id%3, func(w *Worker, msg any) {
			defer all.Done()
			m := msg.(ahead)
			s := me.Stage()
			if me.running.Add(1) != 1 || me.got[m.from] != m.seq {
				wrong.Add(1)
			}
			if s.IsExclusive() && !blocks && busy[s].Add(1) != 1 {
				wrong.Add(1)
			}
			me.got[m.from]++
			switch rng.IntN(200) {
			case 0:
				compute(2 * time.Millisecond)
			case 1, 2, 5, 6:
				if blocks {
					w.Blocking(func() { runtime.Gosched() })
				}
			case 3, 7, 8:
				w.Yield()
			case 4, 9:
				if blocks {
					w.Block()
				}
			}
			if m.left > 0 {
				to := peers[rng.IntN(actors)]
				all.Add(1)
				to.send(w, ahead{id, me.sent[to.id], m.left - 1})
				me.sent[to.id]++
			}
			if s.IsExclusive() && !blocks {
				busy[s].Add(-1)
			}
			me.running.Add(-1)
		})
		me.Pin()
		peers = append(peers, me)
	}
	all.Add(outside * actors * first)
	for g := range outside {
		go func() { // ends by itself
			for seq := range first {
				for _, to := range peers {
					to.send(nil, ahead{actors + g, seq, ttl})
				}
			}
		}()
	}
	quiet := make(chan struct{})
	go func() { // ends by itself
		all.Wait()
		close(quiet)
	}()
	var moves sync.WaitGroup
	for over := false; !over; {
		a := peers[r.IntN(actors)]
		switch r.IntN(10) {
		case 0:
			p.Look(&a.Entity, func(int, bool, bool) {})
		default:
			moves.Add(1)
			p.Move(&a.Entity, stages[r.IntN(len(stages))], moved(a.actor, moves.Done))
		}
		runtime.Gosched()
		select {
		case <-quiet:
			over = true
		default:
		}
	}
	moves.Wait()
	require.Zero(t, wrong.Load(), "handlers that ran beside others, or messages out of order")
	testkit.UntilTrue(t, func() bool { return p.Stats().DetachedTurns == 0 }, "the last turns end after their handlers")
}

// An actor that is to be moved while its handler runs is moved when the handler is over.
func TestMoveWhileHandlerRuns(t *testing.T) {
	for _, give := range []bool{false, true} {
		p := startPool(t, Config{Workers: 2, Stages: 2, Blocked: time.Hour})
		to := p.NewStage(false)
		in, out, where := make(chan struct{}), make(chan struct{}), make(chan *Stage, 1)
		var a *actor
		a = newActor(p, 0, func(w *Worker, msg any) {
			if msg == "wait" {
				if give {
					w.Block()
				}
				close(in)
				<-out
				return
			}
			where <- a.Stage()
		})
		a.Pin()
		a.send(nil, "wait")
		testkit.Receive(t, in)
		done := make(chan struct{})
		p.Move(&a.Entity, to, moved(a, func() { close(done) }))
		require.Same(t, p.Stage(0), a.Stage())
		close(out)
		testkit.Receive(t, done)
		a.send(nil, "where")
		require.Same(t, to, testkit.Receive(t, where))
	}
}

// A later move replaces an earlier one, and the move of an actor that is gone ends, too.
func TestMoveIsReplaced(t *testing.T) {
	p := startPool(t, Config{Workers: 2, Stages: 3, Blocked: time.Hour})
	in, out := make(chan struct{}), make(chan struct{})
	a := newActor(p, 0, func(w *Worker, msg any) {
		w.Block()
		close(in)
		<-out
	})
	a.Pin()
	a.send(nil, "wait")
	testkit.Receive(t, in)
	second := make(chan struct{})
	const many = 1000
	replaced := 0
	for k := range many {
		p.Move(&a.Entity, p.Stage(1+k%2), Moved{Claim: a.in.Claim, Gone: func() bool { return false }, Done: func(here bool) {
			require.False(t, here)
			replaced++
		}})
	}
	p.Move(&a.Entity, p.Stage(2), moved(a, func() { close(second) }))
	require.Equal(t, many, replaced)
	require.Len(t, p.movers.of, 1, "one task waits, however often somebody asks")
	close(out)
	testkit.Receive(t, second)
	require.Same(t, p.Stage(2), a.Stage())
	gone := make(chan struct{})
	p.Move(&a.Entity, p.Stage(1), Moved{Claim: a.in.Claim, Gone: func() bool { return true }, Done: func(bool) { close(gone) }})
	testkit.Receive(t, gone)
	require.Empty(t, p.movers.of)
	require.Same(t, p.Stage(2), a.Stage())
}

// A stage that is closed while a move to it waits gets nobody: the actor goes to an open one.
func TestMoveToStageThatCloses(t *testing.T) {
	p := startPool(t, Config{Workers: 2, Stages: 4, Blocked: time.Hour})
	own := p.NewStage(true)
	for to, ends := range map[*Stage]func(){own: own.Close, p.Stage(3): func() { p.SetStages(2) }} {
		a, out := busyActor(t, p)
		done := make(chan struct{})
		p.Move(&a.Entity, to, moved(a, func() { close(done) }))
		ends()
		require.True(t, to.IsClosed())
		close(out)
		testkit.Receive(t, done)
		require.False(t, a.Stage().IsClosed())
	}
}

// busyActor returns an actor on stage 0 whose handler runs until out is closed.
func busyActor(t *testing.T, p *Pool) (a *actor, out chan struct{}) {
	in, out := make(chan struct{}), make(chan struct{})
	a = newActor(p, 0, func(*Worker, any) {
		close(in)
		<-out
	})
	a.send(nil, "wait")
	testkit.Receive(t, in)
	return a, out
}

// A caller that only wants an actor to leave its stage does not change a move's target; callers that no longer wait are
// forgotten.
func TestMoveIsJoined(t *testing.T) {
	p := startPool(t, Config{Workers: 2, Stages: 2, Blocked: time.Hour})
	a, out := busyActor(t, p)
	to, done := p.NewStage(false), make(chan bool, 2)
	tell := func(here bool) { done <- here }
	m := moved(a, nil)
	m.Done = tell
	p.Move(&a.Entity, to, m)
	for k := range 1000 {
		m.Joins = func() bool { return k == 500 }
		if m.Done = func(bool) {}; k == 500 {
			m.Done = tell
		}
		p.Move(&a.Entity, p.Stage(1), m)
	}
	require.Len(t, p.movers.of[&a.Entity].told, 3, "the first, the one that waits, and the last")
	require.Empty(t, done)
	close(out)
	require.True(t, testkit.Receive(t, done))
	require.True(t, testkit.Receive(t, done))
	require.Same(t, to, a.Stage())
	require.True(t, a.Pinned())
}

// While another has the right to the wake-up of an actor, its mover has no turn: it gets one when the wake-up has come,
// whether that finds a message or not.
func TestMoveWaitsForWakeUp(t *testing.T) {
	for _, message := range []bool{false, true} {
		p := startPool(t, Config{Workers: 1, Stages: 2, Blocked: time.Hour})
		got := make(chan struct{}, 1)
		a := newActor(p, 0, func(*Worker, any) { got <- struct{}{} })
		require.True(t, a.in.Claim())
		done := make(chan struct{})
		p.Move(&a.Entity, p.Stage(1), moved(a, func() { close(done) }))
		for waits := false; !waits; runtime.Gosched() {
			p.mu.Lock()
			s := p.Stage(0)
			waits = s.state == stageIdle && s.moves[&a.Entity] != nil
			p.mu.Unlock()
		}
		if message {
			a.send(nil, 1)
		}
		p.Inject(&a.Entity, nil)
		testkit.Receive(t, done)
		require.Same(t, p.Stage(1), a.Stage())
		if message {
			testkit.Receive(t, got)
		}
	}
}

// The number of stages may grow and shrink while actors run; each stage keeps its number.
func TestSetStages(t *testing.T) {
	p := startPool(t, Config{Workers: 2, Stages: 2, Blocked: time.Hour})
	first := p.Stage(0)
	p.SetStages(5)
	require.Equal(t, 5, p.Stages())
	fifth := p.Stage(4)
	require.Equal(t, 4, fifth.Index())
	p.SetStages(1)
	require.Equal(t, []any{1, (*Stage)(nil), true}, []any{p.Stages(), p.Stage(4), fifth.IsClosed()})
	got := make(chan any, 1)
	a := &actor{pool: p, name: "actor", budget: 4, receive: func(_ *Worker, msg any) { got <- msg }}
	a.Adopt(a, fifth, false)
	a.send(nil, "on a stage that is closed")
	testkit.Receive(t, got)
	for range 2 * block {
		require.Same(t, first, p.Spread())
	}
	p.SetStages(5)
	require.Same(t, fifth, p.Stage(4))
	require.False(t, fifth.IsClosed())
}

// While a handler of an exclusive stage runs, however long, no other of the stage does; one of another stage does, on
// the worker that the watcher puts in place of this one. Observers change nothing.
func TestExclusiveStageIsKept(t *testing.T) {
	p := startPool(t, Config{Workers: 1, Stages: 1, Blocked: time.Millisecond})
	s := p.NewStage(true)
	in, out := make(chan struct{}), make(chan struct{})
	var over atomic.Bool
	slow := newActor(p, 0, func(*Worker, any) {
		close(in)
		<-out
		over.Store(true)
	})
	late := make(chan bool, 1)
	neighbour := newActor(p, 0, func(*Worker, any) { late <- over.Load() })
	other := make(chan struct{})
	elsewhere := newActor(p, 0, func(*Worker, any) { close(other) })
	for _, a := range []*actor{slow, neighbour} {
		done := make(chan struct{})
		a.Pin()
		p.Move(&a.Entity, s, moved(a, func() { close(done) }))
		testkit.Receive(t, done)
	}
	slow.send(nil, 1)
	testkit.Receive(t, in)
	neighbour.send(nil, 1)
	elsewhere.send(nil, 1)
	testkit.Receive(t, other)
	p.Look(&neighbour.Entity, func(int, bool, bool) {})
	p.Look(&slow.Entity, func(_ int, _, running bool) { require.True(t, running) })
	require.Empty(t, late)
	close(out)
	require.True(t, testkit.Receive(t, late))
}

// During Blocking the others of the stage have turns, also on an exclusive one; afterwards the handler has its stage
// again: nobody else runs until it returns.
func TestBlockingTakesStageAgain(t *testing.T) {
	for _, exclusive := range []bool{false, true} {
		p := startPool(t, Config{Workers: 1, Stages: 1, Blocked: time.Hour})
		s := p.NewStage(exclusive)
		in, out := make(chan struct{}), make(chan struct{})
		var holds, within bool
		ended := make(chan struct{})
		blocks := newActor(p, 0, func(w *Worker, _ any) {
			w.Blocking(func() {
				w.Blocking(func() { within = w.Holds() })
				close(in)
				<-out
			})
			holds = w.Holds()
			close(ended)
		})
		answered := make(chan struct{})
		neighbour := newActor(p, 0, func(*Worker, any) { close(answered) })
		for _, a := range []*actor{blocks, neighbour} {
			a.Pin()
			p.Move(&a.Entity, s, moved(a, func() {}))
		}
		blocks.send(nil, 1)
		testkit.Receive(t, in)
		neighbour.send(nil, 1)
		testkit.Receive(t, answered)
		close(out)
		testkit.Receive(t, ended)
		require.Equal(t, []bool{true, false}, []bool{holds, within})
	}
}

// A handler that panics in Blocking has its stage again when it recovers.
func TestBlockingPanics(t *testing.T) {
	p := startPool(t, Config{Workers: 1, Stages: 1, Blocked: time.Hour})
	got := make(chan any, 1)
	a := newActor(p, 0, func(w *Worker, _ any) {
		defer func() {
			recover()
			got <- w.Holds()
		}()
		w.Blocking(func() { panic("in Blocking") })
	})
	a.send(nil, 1)
	require.Equal(t, true, testkit.Receive(t, got))
}
