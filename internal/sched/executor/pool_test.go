package executor

import (
	"context"
	"runtime"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/internal/testkit"
)

func TestConfigDefaults(t *testing.T) {
	var c Config
	c.fill()
	assert.Equal(t, runtime.GOMAXPROCS(0), c.Workers)
	assert.Equal(t, 8*c.Workers, c.Stages)
	assert.Equal(t, 10*time.Millisecond, c.Blocked)
	c = Config{Workers: 3}
	c.fill()
	assert.Equal(t, 24, c.Stages)
	p := New(c)
	assert.Equal(t, 24, p.Stages())
	for k := range p.Stages() {
		assert.Equal(t, k, p.Stage(k).Index())
	}
}

// Entities that are made together share a stage.
func TestSpread(t *testing.T) {
	p := New(Config{Workers: 1, Stages: 3})
	for i := range 4 * block {
		require.Equal(t, i/block%3, p.Spread().Index())
	}
}

func TestNewStartsNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		New(Config{})
		require.NoError(t, New(Config{}).Stop(context.Background()))
	})
}

func TestStop(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := New(Config{Workers: 2, Stages: 4})
		p.Start()
		release := make(chan struct{})
		handled := 0
		a := newActor(p, 0, func(w *Worker, _ any) {
			w.Block()
			holdUp(release)
			handled++
		})
		a.send(nil, "one")
		a.send(nil, "two")
		synctest.Wait()
		stop := func() error {
			ctx, cancel := context.WithTimeout(context.Background(), time.Second)
			defer cancel()
			return p.Stop(ctx)
		}
		require.ErrorIs(t, stop(), context.DeadlineExceeded, "a handler does not return")
		require.ErrorIs(t, stop(), context.DeadlineExceeded)
		close(release)
		require.NoError(t, stop())
		require.Equal(t, 2, handled, "what was under way is done, messages that waited too")
		require.NoError(t, stop())

		a.send(nil, "three")
		p.Start()
		synctest.Wait()
		require.Equal(t, 2, handled, "a pool that has stopped starts nobody")
		require.Zero(t, p.live)
	})
}

// Wake-ups from outside that come while the pool stops, or later, may or may not be in time; the pool ends all the
// same.
func TestInjectDuringStop(t *testing.T) {
	for range 200 {
		p := New(Config{Workers: 2, Stages: 2})
		p.Start()
		var wg sync.WaitGroup
		for k := range 2 {
			a := newActor(p, k, func(*Worker, any) {})
			wg.Go(func() {
				for range 20 {
					a.send(nil, "m")
				}
			})
		}
		ctx, cancel := context.WithTimeout(context.Background(), testkit.Limit)
		require.NoError(t, p.Stop(ctx))
		cancel()
		wg.Wait()
		p.mu.Lock()
		require.Zero(t, p.live)
		p.mu.Unlock()
	}
}

// Goroutines that many handlers needed at once do not stay for ever.
func TestIdleWorkersAreFew(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := New(Config{Workers: 3, Stages: 2})
		p.Start()
		release := make(chan struct{})
		for range 100 {
			newActor(p, 0, func(w *Worker, _ any) {
				w.Block()
				holdUp(release)
			}).send(nil, "m")
		}
		synctest.Wait()
		p.mu.Lock()
		require.GreaterOrEqual(t, p.live, 100)
		p.mu.Unlock()
		close(release)
		synctest.Wait()
		p.mu.Lock()
		require.LessOrEqual(t, p.live, 1+3+maxSpare)
		require.Len(t, p.idle, p.live-1)
		require.Zero(t, p.active)
		require.EqualValues(t, 3, p.freeSlots.Load())
		p.mu.Unlock()
		require.NoError(t, p.Stop(context.Background()))
	})
}

// A task that a borrower wakes is run.
func TestBorrowerWakes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := New(Config{Workers: 1, Stages: 1})
		p.Start()
		turns := 0
		e := &endless{turn: func() bool { turns++; return false }}
		e.Adopt(e, p.Stage(0), false)
		for i := range 3 { // of a stage that has never run, and of one that has
			p.Borrow(p.Stage(0), func() {
				p.Stage(0).Wake(&e.Entity)
				p.Stage(0).Wake(&e.Entity) // queued already
			})
			synctest.Wait()
			require.Equal(t, 2*i+1, turns)
			p.Inject(&e.Entity, nil)
			synctest.Wait()
			require.Equal(t, 2*i+2, turns)
		}
		require.NoError(t, p.Stop(context.Background()))
	})
}

// Look sees an entity where it is, however often it is moved meanwhile.
func TestLookFollows(t *testing.T) {
	p := New(Config{Workers: 1, Stages: 4})
	a := newActor(p, 0, nil)
	stop := make(chan struct{})
	var wg sync.WaitGroup
	wg.Go(func() { // what share does
		for k := 0; ; k = (k + 1) % 4 {
			select {
			case <-stop:
				return
			default:
				p.Borrow(a.Stage(), func() { a.stage.Store(p.Stage(k)) })
			}
		}
	})
	for range 2000 {
		p.Look(&a.Entity, func(stage int, queued, running bool) {
			if a.Stage().Index() != stage || queued || running {
				t.Error("not there")
			}
		})
	}
	close(stop)
	wg.Wait()
}

// Benchmarks: the cost of a wake-up, from near to far.

// chatter is two actors, pinned, that send a token to and fro b.N times.
func chatter(b *testing.B, c Config, from, to int) {
	p := startPool(b, c)
	var x, y *actor
	left := b.N
	done := make(chan struct{})
	handle := func(to **actor) func(*Worker, any) {
		return func(w *Worker, msg any) {
			if left--; left > 0 {
				(*to).send(w, msg)
			} else if left == 0 {
				close(done)
			}
		}
	}
	x, y = newActor(p, from, handle(&y)), newActor(p, to, handle(&x))
	x.Pin()
	y.Pin()
	b.ReportAllocs()
	b.ResetTimer()
	x.send(nil, "token")
	<-done
}

// A message between two actors of one stage: append to the queue, append to the run queue, and a turn for one message.
// No atomic read-modify-write, no fence, no allocation; the plain work and two leaves and enters a message bound it.
func BenchmarkWakeSameStage(b *testing.B) { chatter(b, Config{Workers: 2, Stages: 2}, 0, 0) }

// The same across stages with one worker: swaps for the inbox and the inject list, and the pool's lock to queue the
// stage and to take it, bound it. (Actors that are not pinned pay for it a few times: then one follows the other.)
func BenchmarkWakeOtherStageOneWorker(b *testing.B) { chatter(b, Config{Workers: 1, Stages: 2}, 0, 1) }

// With two workers it must cost about the same: the worker that wakes the other stage runs it itself. Waking a
// goroutine for each message would cost ten times as much.
func BenchmarkWakeOtherStage(b *testing.B) { chatter(b, Config{Workers: 2, Stages: 2}, 0, 1) }

// A message from a goroutine outside, which waits for the answer: two switches of goroutines bound it.
func BenchmarkWakeFromOutside(b *testing.B) {
	p := startPool(b, Config{Workers: 2, Stages: 2})
	back := make(chan struct{}, 1)
	a := newActor(p, 0, func(*Worker, any) { back <- struct{}{} })
	b.ReportAllocs()
	for b.Loop() {
		a.send(nil, "m")
		<-back
	}
}

// A look at an actor whose stage is idle: the pool's lock, no barrier.
func BenchmarkLookIdle(b *testing.B) {
	p := startPool(b, Config{Workers: 1, Stages: 1})
	a := newActor(p, 0, nil)
	for b.Loop() {
		p.Look(&a.Entity, func(int, bool, bool) {})
	}
}

// What an entity does is seen while its worker is on the stage and stays there.
func TestObserve(t *testing.T) {
	p := startPool(t, Config{Workers: 1, Stages: 2, Blocked: time.Hour})
	inside, release, done := make(chan struct{}), make(chan struct{}), make(chan struct{})
	a := newActor(p, 1, func(w *Worker, msg any) {
		assert.True(t, w.Enter())
		inside <- struct{}{}
		<-release
		w.Leave()
		close(done)
	})
	b := newActor(p, 1, func(*Worker, any) {})
	check := func(a *actor, want bool) {
		stage, isQueued, isSuspended := a.Observe()
		assert.Equal(t, 1, stage)
		assert.Equal(t, want, isQueued)
		assert.False(t, isSuspended)
	}
	check(a, false)
	a.send(nil, "m")
	<-inside
	check(a, true)
	check(b, false)
	assert.Zero(t, p.Revoked())
	release <- struct{}{}
	<-done
}
