package bias

import (
	"runtime"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

// The owner counts without an atomic operation while others do the same under
// Lock: nothing is lost.
func TestOwned(t *testing.T) {
	const others, ours, theirs = 3, 200_000, 500
	for _, procs := range []int{1, 2, 4} {
		func() {
			defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(procs))
			var b Owned
			n := 0
			var wg sync.WaitGroup
			for range others {
				wg.Go(func() {
					for range theirs {
						b.Lock()
						n++
						b.Unlock()
						runtime.Gosched()
					}
				})
			}
			for range ours {
				b.Enter()
				n++
				b.Leave()
			}
			wg.Wait()
			require.Equal(t, ours+others*theirs, n)
		}()
	}
}

// An owner that is inside for long holds nobody up for good in a bubble, whose time
// does not go on while the owner waits for the lock again; nor does time pass.
func TestOwnedInBubble(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		var b Owned
		var wg sync.WaitGroup
		inside := make(chan struct{})
		wg.Go(func() {
			b.Enter()
			close(inside)
			for range 100_000 { // until the other has looked often enough to be patient
				runtime.Gosched()
			}
			b.Leave()
			b.Enter()
			b.Leave()
		})
		<-inside
		b.Lock()
		//lint:ignore SA2001 only that it was free counts
		b.Unlock()
		wg.Wait()
		require.Zero(t, time.Since(began))
	})
}

// What the owner pays: two stores and a load; no fence where plain stores do.
func BenchmarkOwnedEnterLeave(b *testing.B) {
	var l Owned
	for b.Loop() {
		l.Enter()
		l.Leave()
	}
}

// What everybody else pays: a membarrier, which interrupts every core that runs a thread of
// the program.
func BenchmarkOwnedLock(b *testing.B) { benchLocker(b, new(Owned)) }

func benchLocker(b *testing.B, l sync.Locker) {
	for b.Loop() {
		l.Lock()
		//lint:ignore SA2001 the lock alone is measured
		l.Unlock()
	}
}
