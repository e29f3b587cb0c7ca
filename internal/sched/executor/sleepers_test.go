package executor

import (
	"fmt"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/internal/mailbox/inbox"
	"github.com/actornode/actornode/mailbox"
)

// An actor behind two hundred handlers that block without saying so waits for two or three of them, and for the looks
// that take the stage away from each of the others; on their stage and on another.
func TestBehindSleepers(t *testing.T) {
	const sleepers, nap = 200, 5 * time.Millisecond
	for _, workers := range []int{1, 2, 4} {
		for _, stages := range []int{1, 8} {
			t.Run(fmt.Sprintf("workers=%d stages=%d", workers, stages), func(t *testing.T) {
				bubble(t, Config{Workers: workers, Stages: stages}, func(t *testing.T, p *Pool) {
					var when record[time.Duration]
					start := time.Now()
					for round := range 3 {
						for i := range sleepers {
							newActor(p, i%stages, func(*Worker, any) { work(nap) }).send(nil, "m")
						}
						start = time.Now()
						for k := range stages {
							newActor(p, k, func(*Worker, any) { when.add(time.Since(start)) }).send(nil, "m")
						}
						pass(time.Second)
						require.Len(t, when.got(), (round+1)*stages)
					}
					assert.LessOrEqual(t, slices.Max(when.got()), 4*nap)
				})
			})
		}
	}
}

// However many handlers block for good, the next has its turn after a few looks; it takes no more than maxApart
// goroutines at once.
func TestManyStuck(t *testing.T) {
	for _, workers := range []int{1, 2} {
		for _, stuck := range []int{200, 2 * maxApart} {
			t.Run(fmt.Sprintf("workers=%d stuck=%d", workers, stuck), func(t *testing.T) {
				bubble(t, Config{Workers: workers, Stages: 2}, func(t *testing.T, p *Pool) {
					release := make(chan struct{})
					var ran atomic.Bool
					for range stuck {
						newActor(p, 0, func(*Worker, any) { holdUp(release) }).send(nil, "m")
					}
					newActor(p, 0, func(*Worker, any) { ran.Store(true) }).send(nil, "m")
					pass(20 * time.Millisecond)
					assert.Equal(t, stuck < maxApart, ran.Load())
					assert.LessOrEqual(t, p.Stats().DetachedTurns, maxApart+workers*10)
					close(release)
					pass(time.Second)
					assert.True(t, ran.Load())
					assert.LessOrEqual(t, p.Stats().Goroutines, workers+maxSpare+1, "others have ended")
					assert.LessOrEqual(t, len(p.free), maxApart+workers*10)
				})
			})
		}
	}
}

// The turns of a stage with handlers that block begin in the order in which their actors were woken.
func TestSleepersKeepOrder(t *testing.T) {
	bubble(t, Config{Workers: 1, Stages: 1}, func(t *testing.T, p *Pool) {
		var began record[int]
		var want []int
		for i := range 200 {
			a := newActor(p, 0, func(*Worker, any) { work(5 * time.Millisecond) })
			a.starts = func() { began.add(i) }
			a.send(nil, "m")
			want = append(want, i)
		}
		pass(time.Second)
		assert.Equal(t, want, began.got()[:len(want)])
	})
}

// An inline worker is not held up by every blocking handler that it meets.
func TestInlineWorkerBehindSleepers(t *testing.T) {
	needInline(t)
	bubble(t, Config{Workers: 2, Stages: 8}, func(t *testing.T, p *Pool) {
		const sleepers, nap = 200, 5 * time.Millisecond
		start := time.Now()
		var over record[time.Duration]
		var read func(i int)
		read = func(i int) {
			var g *InlineWorker
			next := make(chan int, 1)
			g = p.NewInlineWorker(func() { go read(<-next) })
			for ; i < sleepers; i++ {
				a := newActor(p, i%8, func(*Worker, any) { work(nap) })
				require.Equal(t, mailbox.Wake, a.in.Push(&inbox.Node{Msg: i}))
				g.Inject(&a.Entity)
				next <- i + 1
				if !g.RunPending() {
					return
				}
				<-next
			}
			over.add(time.Since(start))
		}
		go read(0)
		pass(time.Second)
		require.Len(t, over.got(), 1)
		assert.LessOrEqual(t, over.got()[0], 3*nap)
	})
}

// Looks come at once after one that has taken a stage away, and after several that have found tasks waiting; and only
// for a few looks.
func TestPaceAtOnce(t *testing.T) {
	p := newPace(10 * time.Millisecond)
	quiet := found{ran: true, active: true}
	next := func(f found) time.Duration { return p.next(f) }
	require.Equal(t, p.short, next(quiet))
	require.Equal(t, p.soon, next(found{active: true, slow: true, waits: true, taken: true}))
	for range soonLooks - 1 {
		require.Equal(t, p.soon, next(quiet))
	}
	require.Equal(t, p.short, next(quiet))

	waits := found{active: true, slow: true, waits: true}
	for i := range 100 { // one now and then
		if i%(2*heldLooks) == 0 {
			require.Equal(t, p.short, next(waits))
		} else {
			require.Equal(t, p.short, next(quiet))
		}
	}
	for range 2 * heldLooks {
		next(quiet)
	}
	require.Equal(t, []time.Duration{p.short, p.soon}, []time.Duration{next(waits), next(waits)})
}

// An exclusive stage is not taken away sooner: its handlers run one at a time, however long they take.
func TestSleepersOnAnExclusiveStage(t *testing.T) {
	bubble(t, Config{Workers: 2, Stages: 1}, func(t *testing.T, p *Pool) {
		s := p.NewStage(true)
		var inside, most atomic.Int32
		for range 20 {
			a := newActor(p, 0, func(*Worker, any) {
				most.Store(max(most.Load(), inside.Add(1)))
				work(5 * time.Millisecond)
				inside.Add(-1)
			})
			a.Adopt(a, s, true)
			a.send(nil, "m")
		}
		pass(time.Second)
		assert.EqualValues(t, 1, most.Load())
	})
}

// A worker is used again when its goroutine has ended, so Config.Local is called for no more workers than run at a
// time.
func TestWorkersAreUsedAgain(t *testing.T) {
	const blocked = 100
	var made atomic.Int32
	bubble(t, Config{Workers: 2, Stages: 1, Local: func(*Worker) Local { made.Add(1); return nil }}, func(t *testing.T, p *Pool) {
		for range 5 {
			for range blocked {
				newActor(p, 0, func(w *Worker, _ any) {
					w.Block()
					work(5 * time.Millisecond)
				}).send(nil, "m")
			}
			pass(time.Second)
		}
	})
	assert.LessOrEqual(t, made.Load(), int32(blocked+2))
}
