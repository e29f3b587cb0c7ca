package sched

import (
	"runtime"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"
)

// The owner counts without an atomic operation while others do the same under
// Lock: nothing is lost.
func TestBias(t *testing.T) {
	const others, ours, theirs = 3, 200_000, 500
	for _, procs := range []int{1, 2, 4} {
		func() {
			defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(procs))
			var b Bias
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

// A lease is never with two: not with its worker and whoever has revoked it.
func TestLease(t *testing.T) {
	var cur atomic.Pointer[lease]
	var n int // guarded by the lease, and by the one who revoked it
	const rounds = 3000
	done := make(chan struct{})
	go func() { // the worker; ends with the rounds
		defer close(done)
		for cur.Load() == nil {
			runtime.Gosched()
		}
		for {
			l := cur.Load()
			if l == nil {
				return
			}
			if l.enter() {
				n++
				l.leave()
			}
		}
	}()
	for range rounds {
		l := new(lease)
		cur.Store(l)
		for range 20 {
			runtime.Gosched()
		}
		l.revoke()
		n++
		was := n
		runtime.Gosched()
		require.Equal(t, was, n, "once revoked, always revoked")
	}
	cur.Store(nil)
	<-done
}

// Dekker's protocol with a plain store on one side: either Store's caller sees
// what Barrier's caller wrote, or the other way round. That neither sees the other
// is what a store buffer would do to it.
func TestStoreAndBarrier(t *testing.T) {
	const rounds = 30_000
	var x uint32
	var y, turn atomic.Uint32
	sawY := make([]bool, rounds)
	done := make(chan struct{})
	go func() { // ends after the rounds
		defer close(done)
		for i := range uint32(rounds) {
			for turn.Load() != i+1 {
				runtime.Gosched()
			}
			Store(&x, i+1)
			sawY[i] = y.Load() > i // the other may be a round further
		}
	}()
	sawX := make([]bool, rounds)
	for i := range uint32(rounds) {
		turn.Store(i + 1)
		y.Store(i + 1)
		Barrier()
		sawX[i] = atomic.LoadUint32(&x) == i+1
		for atomic.LoadUint32(&x) != i+1 {
			runtime.Gosched()
		}
	}
	<-done
	for i := range sawX {
		require.True(t, sawX[i] || sawY[i], "round %d", i)
	}
}

// What the owner pays: two stores and a load; no fence where plain stores do.
func BenchmarkBiasEnterLeave(b *testing.B) {
	var l Bias
	for b.Loop() {
		l.Enter()
		l.Leave()
	}
}

// What everybody else pays: the mutex and a membarrier, which interrupts every
// core that runs a thread of the program.
func BenchmarkBiasLock(b *testing.B) {
	var l Bias
	for b.Loop() {
		l.Lock()
		l.Unlock()
	}
}
