package bias

import (
	"runtime"
	"sync/atomic"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/internal/testkit"
)

// Dekker's protocol with a plain store on one side: either Store's caller sees
// what Barrier's caller wrote, or the other way round. That neither sees the other
// is what a store buffer would do to it.
func TestStoreAndBarrier(t *testing.T) {
	rounds := 30_000
	if testkit.Race { // its atomic stores carry a fence: there is nothing to find but data races
		rounds = 1000
	}
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

// What StoreUint64 takes for granted: an atomic.Uint64 is its number and nothing else.
func TestStoreUint64(t *testing.T) {
	var p [2]atomic.Uint64
	require.Equal(t, 16, int(unsafe.Sizeof(p)))
	StoreUint64(&p[0], 1<<63+1)
	StoreUint64(&p[1], 2)
	require.Equal(t, uint64(1<<63+1), p[0].Load())
	require.EqualValues(t, 3, p[1].Add(1))
}
