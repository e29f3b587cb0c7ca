package executor

import (
	"context"
	"fmt"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/internal/sched/fiber"
	"github.com/actornode/actornode/internal/testkit"
)

// work takes d on the bubble's clock.
func work(d time.Duration) { <-time.After(d) }

// pass advances the bubble's clock by d, and then waits for all that happens at once.
func pass(d time.Duration) {
	work(d)
	synctest.Wait()
}

// bubble runs f in a bubble with a pool that is stopped at the end; the bubble itself checks that no goroutine of it is
// left.
func bubble(t *testing.T, c Config, f func(*testing.T, *Pool)) {
	synctest.Test(t, func(t *testing.T) {
		p := New(c)
		p.Start()
		f(t, p)
		require.NoError(t, p.Stop(context.Background()))
	})
}

// holdUp blocks until c is closed; tests look for its name in stacks.
func holdUp(c chan struct{}) { <-c }

func TestBlockedHandler(t *testing.T) {
	for _, workers := range []int{1, 2} {
		t.Run(fmt.Sprint("workers=", workers), func(t *testing.T) {
			r := new(record[Blocked])
			bubble(t, Config{Workers: workers, Stages: 2, OnBlocked: r.add}, func(t *testing.T, p *Pool) {
				start := time.Now()
				release := make(chan struct{})
				var log record[string]
				blocker := newActor(p, 1, func(_ *Worker, msg any) {
					if msg == "block" {
						holdUp(release)
					}
					log.add(msg.(string))
				})
				other := newActor(p, 1, func(_ *Worker, msg any) {
					log.add(fmt.Sprint(msg, time.Since(start).Round(10*time.Millisecond)))
				})
				blocker.send(nil, "block")
				synctest.Wait()
				blocker.send(nil, "after")
				other.send(nil, "other")
				synctest.Wait()
				require.Empty(t, log.got(), "one at a time")
				pass(time.Second)
				if workers == 1 {
					assert.Equal(t, []string{"other10ms"}, log.got()) // in time for the others of the stage
				} else {
					assert.Equal(t, []string{"other0s"}, log.got()) // at once: a worker had nothing to do
				}
				require.Len(t, r.got(), 1, "reported once")
				b := r.got()[0]
				assert.Equal(t, Task(blocker), b.Task)
				assert.Equal(t, 1, b.Stage)
				assert.GreaterOrEqual(t, b.For, 10*time.Millisecond)
				assert.Less(t, b.For, 15*time.Millisecond)
				if fiber.GoroutineID() != 0 { // tracebacks are read
					assert.Contains(t, string(b.Stack()), "executor.holdUp")
				}
				assert.EqualValues(t, 1, p.BlockedTurns())
				p.Look(&blocker.Entity, func(stage int, queued, running bool) {
					assert.Equal(t, 1, stage)
					assert.True(t, queued)
					assert.True(t, running)
				})

				other.send(nil, "on")
				pass(time.Second)
				require.Len(t, log.got(), 2, "the stage goes on")
				close(release)
				synctest.Wait()
				assert.Equal(t, []string{"block", "after"}, log.got()[2:], "the detached turn gives its actor back")
				pass(time.Second)
				assert.Len(t, r.got(), 1)
			})
		})
	}
}

func TestManyBlockedHandlers(t *testing.T) {
	const n = 20
	r := new(record[Blocked])
	bubble(t, Config{Workers: 2, Stages: 1, OnBlocked: r.add}, func(t *testing.T, p *Pool) {
		release := make(chan struct{})
		for range n {
			newActor(p, 0, func(*Worker, any) { holdUp(release) }).send(nil, "m")
		}
		pass(time.Minute)
		assert.Len(t, r.got(), n)
		p.mu.Lock()
		assert.Len(t, p.detached, n)
		assert.Zero(t, p.active)
		p.mu.Unlock()
		close(release)
		synctest.Wait()
		p.mu.Lock()
		assert.LessOrEqual(t, len(p.idle), 2+maxSpare, "the workers that are too many have ended")
		assert.Empty(t, p.detached)
		p.mu.Unlock()
	})
}

// Many turns that together take long block nobody.
func TestShortTurnsAreNotReported(t *testing.T) {
	r := new(record[Blocked])
	bubble(t, Config{Workers: 1, Stages: 1, OnBlocked: r.add}, func(t *testing.T, p *Pool) {
		var a *actor
		a = newActor(p, 0, func(w *Worker, msg any) {
			work(7 * time.Millisecond)
			if i := msg.(int); i > 0 {
				a.send(w, i-1)
			}
		})
		a.budget = 1
		a.send(nil, 100)
		pass(time.Second)
		assert.Empty(t, r.got())
		assert.Zero(t, a.q.Len())
	})
}

// A look at a stage takes it from a handler, but the handler is not reported as slow.
func TestLookIsNoReport(t *testing.T) {
	r := new(record[Blocked])
	bubble(t, Config{Workers: 2, Stages: 1, OnBlocked: r.add}, func(t *testing.T, p *Pool) {
		a := newActor(p, 0, func(*Worker, any) { work(7 * time.Millisecond) })
		look := func() (running bool) {
			p.Look(&a.Entity, func(_ int, _, r bool) { running = r })
			return running
		}
		for range 20 {
			a.send(nil, "m")
			pass(time.Millisecond / 2)
			require.True(t, look())
			pass(20 * time.Millisecond)
			require.False(t, look())
		}
		assert.Empty(t, r.got())

		a.receive = func(*Worker, any) { work(50 * time.Millisecond) }
		a.send(nil, "m")
		pass(time.Millisecond / 2)
		require.True(t, look())
		pass(time.Second)
		assert.Len(t, r.got(), 1, "one that was looked at is reported all the same")
	})
}

// A handler that says that it will wait gives its stage up at once and is not reported.
func TestBlock(t *testing.T) {
	r := new(record[Blocked])
	bubble(t, Config{Workers: 1, Stages: 1, OnBlocked: r.add}, func(t *testing.T, p *Pool) {
		release := make(chan struct{})
		var log record[any]
		a := newActor(p, 0, func(w *Worker, msg any) {
			w.Block()
			assert.False(t, w.Holds())
			holdUp(release)
			assert.False(t, w.Enter())
			w.Block() // again: nothing
			w.Yield() // nothing to yield
			log.add(msg)
		})
		other := newActor(p, 0, func(_ *Worker, msg any) { log.add(msg) })
		a.send(nil, "one")
		a.send(nil, "two")
		synctest.Wait()
		other.send(nil, "other")
		synctest.Wait()
		require.Equal(t, []any{"other"}, log.got())
		pass(time.Second)
		close(release)
		synctest.Wait()
		require.Equal(t, []any{"other", "one", "two"}, log.got())
		require.Empty(t, r.got())
	})
}

// A suspended handler blocks nobody, however long it waits for its turn; once it goes on it is watched like any other.
func TestSuspendedIsNotReported(t *testing.T) {
	r := new(record[Blocked])
	bubble(t, Config{Workers: 1, Stages: 1, OnBlocked: r.add}, func(t *testing.T, p *Pool) {
		var went atomic.Bool
		release := make(chan struct{})
		slow := newActor(p, 0, func(*Worker, any) { work(time.Millisecond / 2) }) // too quick to be noticed
		slow.budget = 1
		a := newActor(p, 0, func(w *Worker, _ any) {
			for range 140 {
				slow.send(w, "m")
				w.Yield()
			}
			went.Store(true)
			holdUp(release)
		})
		a.send(nil, "m")
		pass(60 * time.Millisecond)
		require.False(t, went.Load())
		pass(15 * time.Millisecond)
		require.True(t, went.Load())
		require.Empty(t, r.got())
		pass(time.Second)
		require.Len(t, r.got(), 1)
		require.Equal(t, Task(a), r.got()[0].Task)
		require.Less(t, r.got()[0].For, 15*time.Millisecond, "its time of rest does not count")
		close(release)
	})
}

// The watcher rests when nothing runs, and is there again when something does.
func TestWatcherRests(t *testing.T) {
	r := new(record[Blocked])
	bubble(t, Config{Workers: 2, Stages: 2, OnBlocked: r.add}, func(t *testing.T, p *Pool) {
		watching := func() bool {
			p.mu.Lock()
			defer p.mu.Unlock()
			return p.watching
		}
		require.False(t, watching())
		for i := range 3 {
			release := make(chan struct{})
			a := newActor(p, 0, func(*Worker, any) { holdUp(release) })
			a.send(nil, "m")
			require.True(t, watching())
			pass(time.Second)
			require.Len(t, r.got(), i+1)
			require.True(t, watching(), "while a detached turn runs")
			close(release)
			pass(time.Second)
			require.False(t, watching())
		}
	})
}

// A handler that goes on for long after it has woken somebody elsewhere, a wake-up that its worker meant to see to
// itself, does not keep them waiting.
func TestOwedByASlowHandler(t *testing.T) {
	bubble(t, Config{Workers: 2, Stages: 2}, func(t *testing.T, p *Pool) {
		release := make(chan struct{})
		var when time.Duration
		start := time.Now()
		far := newActor(p, 1, func(*Worker, any) { when = time.Since(start) })
		newActor(p, 0, func(w *Worker, _ any) {
			far.send(w, "m")
			holdUp(release)
		}).send(nil, "m")
		pass(time.Second)
		assert.NotZero(t, when, "at a look of the watcher")
		assert.LessOrEqual(t, when, 2*time.Millisecond)
		close(release)
	})
}

// Once the worker that owes a wake-up has something else to do, another worker is woken for it.
func TestOwedByAWorkerThatGoesOn(t *testing.T) {
	bubble(t, Config{Workers: 2, Stages: 2}, func(t *testing.T, p *Pool) {
		release := make(chan struct{})
		var log record[string]
		far := newActor(p, 1, func(*Worker, any) { log.add("far") })
		near := newActor(p, 0, func(*Worker, any) { holdUp(release) })
		newActor(p, 0, func(w *Worker, _ any) {
			far.send(w, "m")
			near.send(w, "m")
		}).send(nil, "m")
		synctest.Wait() // without a look of the watcher
		assert.Equal(t, []string{"far"}, log.got())
		close(release)
	})
}

// The smallest time that a Config can ask for causes no trouble.
func TestBlockedOfANanosecond(t *testing.T) {
	p := startPool(t, Config{Workers: 2, Stages: 1, Blocked: 1})
	done := make(chan struct{})
	newActor(p, 0, func(*Worker, any) { close(done) }).send(nil, "m")
	testkit.Receive(t, done)
}

func TestStackOfNobody(t *testing.T) {
	require.Empty(t, Blocked{goid: 1 << 60}.Stack())
	if fiber.GoroutineID() == 0 {
		t.Skip("built so that no traceback is read")
	}
	require.Contains(t, string(Blocked{goid: fiber.GoroutineID()}.Stack()), "executor.TestStackOfNobody")
}
