package bias

import (
	"runtime"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

// Hands, one of them on two mutexes, and others without a hand count under a mutex that
// leans now towards this one and now towards that: nothing is lost.
func TestMutex(t *testing.T) {
	for _, procs := range []int{1, 2, 4} {
		func() {
			defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(procs))
			var m, other Mutex
			n, besides, leant := 0, 0, 0
			var wg sync.WaitGroup
			const hands, turns, often = 3, 40, 3 * worth
			for i := range hands {
				wg.Go(func() {
					var h Hand
					for range turns {
						for range often {
							m.LockBy(&h)
							n++
							if m.holder.Load() == &h {
								leant++
							}
							m.UnlockBy(&h)
							if i == 0 {
								other.LockBy(&h)
								besides++
								other.UnlockBy(&h)
							}
						}
						runtime.Gosched()
					}
				})
			}
			const others = 500
			for range 2 {
				wg.Go(func() {
					for range others {
						m.Lock()
						n++
						m.Unlock()
						other.LockBy(nil)
						besides++
						other.UnlockBy(nil)
						runtime.Gosched()
					}
				})
			}
			wg.Wait()
			require.Equal(t, hands*turns*often+2*others, n)
			require.Equal(t, turns*often+2*others, besides)
			require.NotZero(t, leant)
		}()
	}
}

// A mutex leans towards who takes it again and again, not towards those who take turns,
// and less and less easily where it was taken away soon.
func TestMutexLeans(t *testing.T) {
	var m Mutex
	var a, b Hand
	take := func(h *Hand, times int) (leans bool) {
		for range times {
			m.LockBy(h)
			leans = m.holder.Load() == h
			m.UnlockBy(h)
		}
		return leans
	}
	for range 10 * leastRun {
		require.False(t, take(&a, 1))
		require.False(t, take(&b, 1))
	}
	require.False(t, take(&a, leastRun-1))
	require.True(t, take(&a, 1))
	require.True(t, take(&a, worth))
	m.Lock() // as one who empties a buffer does
	m.Unlock()
	require.True(t, take(&a, 1), "it was worth it, and is again")

	need := 0
	for soon := 1; need < mostRun; soon++ {
		m.Lock()
		m.Unlock()
		was := need
		for need = 1; !take(&a, 1); need++ {
		}
		require.Greater(t, need, was)
		require.Less(t, soon, 20)
	}
	for range 20 {
		require.True(t, take(&a, worth))
		m.Lock()
		m.Unlock()
		for !take(&a, 1) {
		}
	}
	require.Zero(t, m.skip, "forgotten")
	require.True(t, take(&a, worth))
	require.False(t, take(&b, leastRun-1))
	require.True(t, take(&b, 1))
	require.Zero(t, a.busy)
}

// What the hand pays towards which it leans: three stores and a load.
func BenchmarkMutexBy(b *testing.B) {
	var m Mutex
	var h Hand
	for b.Loop() {
		m.LockBy(&h)
		m.UnlockBy(&h)
	}
}

// What they pay who are not leant towards: a sync.Mutex, as long as it does not lean.
func BenchmarkMutex(b *testing.B) {
	benchLocker(b, new(Mutex))
}

// What it costs to take it from a hand.
func BenchmarkMutexTaken(b *testing.B) {
	var m Mutex
	var h Hand
	for b.Loop() {
		m.skip, m.run, m.last = 0, leastRun, &h
		m.LockBy(&h)
		m.UnlockBy(&h)
		m.Lock()
		m.Unlock()
	}
}
