package executor

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestPacePeriods(t *testing.T) {
	for _, test := range []struct{ blocked, short, long time.Duration }{
		{10 * time.Millisecond, 2 * time.Millisecond, 64 * time.Millisecond},
		{time.Millisecond, 200 * time.Microsecond, 6400 * time.Microsecond},
		{time.Second, 200 * time.Millisecond, 200 * time.Millisecond},
		{1, time.Microsecond, 32 * time.Microsecond},
	} {
		p := newPace(test.blocked)
		assert.Equal(t, test.short, p.short, test.blocked)
		assert.Equal(t, test.long, p.long, test.blocked)
	}
}

func TestPace(t *testing.T) {
	const short, long = 2 * time.Millisecond, 64 * time.Millisecond
	ran, active, slow := found{ran: true}, found{ran: true, active: true}, found{ran: true, active: true, slow: true}
	p := newPace(10 * time.Millisecond)
	for i, step := range []struct {
		f    found
		next time.Duration
	}{
		{ran, long}, {ran, long}, {found{}, 0}, // from rest, and to rest
		{ran, long}, {active, short}, {found{}, long}, {found{}, 0},
		{active, short}, {active, short}, {ran, long},
	} {
		assert.Equal(t, step.next, p.next(step.f), "step %d", i)
	}
	assert.Equal(t, short, p.next(slow))
	for range closeLooks {
		assert.Equal(t, short, p.next(found{}))
	}
	assert.Equal(t, long, p.next(found{}))
	assert.Zero(t, p.next(found{}))
}

// Whatever looks find: while something runs the next look comes soon, and the watcher rests after a long period in
// which nothing has run, and only then.
func TestPaceModel(t *testing.T) {
	seed := rand.Uint64()
	defer func() {
		if t.Failed() {
			t.Log("seed", seed)
		}
	}()
	r := rand.New(rand.NewPCG(seed, 0))
	for range 1000 {
		p := newPace(10 * time.Millisecond)
		last, sinceSlow := p.short, closeLooks+1
		for range 100 {
			f := found{ran: r.IntN(2) == 0, active: r.IntN(3) == 0}
			f.slow = f.active && r.IntN(20) == 0
			next := p.next(f)
			if f.active {
				require.Equal(t, p.short, next)
			}
			if f.slow {
				sinceSlow = 0
			}
			if sinceSlow++; sinceSlow <= closeLooks {
				require.Equal(t, p.short, next)
			}
			if next == 0 {
				require.False(t, f.ran || f.active)
				require.Equal(t, p.long, last)
				break
			}
			last = next
		}
		looks := 0
		for p.next(found{}) != 0 {
			looks++
			require.LessOrEqual(t, looks, closeLooks+1)
		}
	}
}

// looks counts the looks of p's watcher while f runs.
func looks(p *Pool, f func(each func())) (n int) {
	last := p.Clock()
	f(func() {
		synctest.Wait()
		if now := p.Clock(); now != last {
			last = now
			n++
		}
	})
	return n
}

// A message now and then does not make the watcher look more often than that.
func TestFewMessagesHaveFewLooks(t *testing.T) {
	for _, every := range []time.Duration{time.Millisecond, 5 * time.Millisecond, 10 * time.Millisecond} {
		t.Run(fmt.Sprint(every), func(t *testing.T) {
			bubble(t, Config{Workers: 2, Stages: 2}, func(t *testing.T, p *Pool) {
				a := newActor(p, 0, func(*Worker, any) {})
				g := p.NewInlineWorker(func() { t.Error("nothing keeps it") })
				n := looks(p, func(each func()) {
					for range 2 * time.Second / every {
						require.True(t, g.call(a, "m"))
						pass(every)
						each()
					}
				})
				assert.LessOrEqual(t, n, int(2*time.Second/longPeriod)+2)
				pass(time.Second)
				p.mu.Lock()
				defer p.mu.Unlock()
				assert.False(t, p.watching)
			})
		})
	}
}

// seldomLooks brings p to a state in which its watcher looks seldom.
func seldomLooks(t *testing.T, p *Pool) {
	a := newActor(p, 0, func(*Worker, any) {})
	for i := 0; !p.seldom.Load(); i++ {
		require.Less(t, i, 100)
		a.send(nil, "m")
		pass(time.Millisecond)
	}
}

// A task that is woken on a held stage does not wait for a look that comes seldom.
func TestWhoWaitsHasTheWatcherLook(t *testing.T) {
	bubble(t, Config{Workers: 2, Stages: 1}, func(t *testing.T, p *Pool) {
		seldomLooks(t, p)
		release := make(chan struct{})
		newActor(p, 0, func(*Worker, any) { holdUp(release) }).send(nil, "block")
		synctest.Wait()
		start := time.Now()
		var when time.Duration
		newActor(p, 0, func(*Worker, any) { when = time.Since(start) }).send(nil, "m")
		pass(time.Second)
		assert.NotZero(t, when)
		assert.LessOrEqual(t, when, 4*time.Millisecond)
		close(release)
	})
}

// A handler that keeps the goroutine of an inline worker is found by the next look and the one after; then looks come
// often.
func TestAGuestIsKeptNoLongerThanALongPeriod(t *testing.T) {
	needInline(t)
	bubble(t, Config{Workers: 2, Stages: 1}, func(t *testing.T, p *Pool) {
		release := make(chan struct{})
		kept := func(most time.Duration) {
			t.Helper()
			start, left := time.Now(), time.Duration(0)
			blocker := newActor(p, 0, func(*Worker, any) { holdUp(release) })
			g := p.NewInlineWorker(func() { left = time.Since(start) })
			done := make(chan struct{})
			go func() {
				defer close(done)
				g.call(blocker, "m")
			}()
			pass(200 * time.Millisecond)
			assert.NotZero(t, left)
			assert.LessOrEqual(t, left, most)
			release <- struct{}{}
			<-done
		}
		kept(4 * time.Millisecond) // from rest
		pass(time.Minute)
		seldomLooks(t, p)
		kept(66 * time.Millisecond)
		pass(100 * time.Millisecond)
		kept(4 * time.Millisecond)
	})
}
