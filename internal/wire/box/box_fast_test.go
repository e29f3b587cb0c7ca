//go:build linux && amd64 && !go1.27 && !actornode_portable && !actornode_no_box

package box

import (
	"bytes"
	"math"
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/wire"
)

// Binaries around the length at which they stop sharing a block with their slice.
func TestLongBytes(t *testing.T) {
	for n := oneBytes - 3; n <= oneBytes+3; n++ {
		data := bytes.Repeat([]byte{byte(n)}, n)
		v := Bytes(data)
		require.Equal(t, data, v)
		require.Equal(t, n, cap(v.([]byte)))
	}
}

// Lists of every size class of the runtime, and around the length at which they stop sharing a block with their head:
// each is whole when its memory is the only one that holds its elements.
func TestLong(t *testing.T) {
	setUp.Do(findSizes)
	lengths := []int{MaxJoined - 1, MaxJoined, MaxJoined + 1}
	for _, all := range [][]size{sizes, pages[:]} {
		for i := range all {
			lengths = append(lengths, max(1, all[i].slots), all[i].slots+1)
		}
	}
	for _, n := range lengths {
		slots, v := List(n)
		require.Len(t, slots, n)
		require.Equal(t, n, cap(slots), "an append copies")
		if v == nil {
			require.Greater(t, n, MaxJoined)
			v = wire.List(slots)
		}
		for i := range slots {
			require.Nil(t, slots[i])
			slots[i] = &[]int{i}
		}
		slots = nil
		if n < 100 || n%4096 < 3 {
			runtime.GC()
		}
		for i, e := range v.(wire.List) {
			if got := (*e.(*[]int))[0]; got != i {
				t.Fatalf("%d is at %d of %d", got, i, n)
			}
		}
	}
}

// A long list takes no more memory than its elements and its head would.
func TestNothingWasted(t *testing.T) {
	var v any
	for _, n := range []int{17, 100, 1000, 10_000, MaxJoined} {
		cost := func(f func()) uint64 { // the least: the runtime takes memory of its own now and then
			least := uint64(math.MaxUint64)
			for range 10 {
				var before, after runtime.MemStats
				runtime.ReadMemStats(&before)
				f()
				runtime.ReadMemStats(&after)
				least = min(least, after.TotalAlloc-before.TotalAlloc)
			}
			return least
		}
		two := cost(func() { v = wire.List(make([]any, n)) })
		one := cost(func() { _, v = List(n) })
		require.LessOrEqual(t, one, two*9/8, "%d", n)
	}
	_ = v
}

func TestOneAllocation(t *testing.T) {
	var v any
	for _, n := range []int{1, 64, oneBytes} {
		data := make([]byte, n)
		require.EqualValues(t, 1, testing.AllocsPerRun(100, func() { v = Bytes(data) }))
	}
	require.EqualValues(t, 1, testing.AllocsPerRun(100, func() { _, v = Tuple(5) }))
	for _, n := range []int{16, 17, 255, 256, 2046, 2047, 10_000, MaxJoined} {
		require.EqualValues(t, 1, testing.AllocsPerRun(100, func() { _, v = List(n) }))
	}
	_ = v
}
func TestIntsAllocate(t *testing.T) {
	var x Ints
	slots := make([]any, 256)
	var few, many []byte
	for i := range int32(len(slots)) {
		few, many = appendTagged(few, 100*i), appendTagged(many, 1_000_000+i)
	}
	require.Zero(t, testing.AllocsPerRun(100, func() { clear(slots); x.Run(slots, few, tag, len(slots)) }))
	require.EqualValues(t, 2, testing.AllocsPerRun(100, func() { clear(slots); x.Run(slots, many, tag, len(slots)) }))
	require.Zero(t, testing.AllocsPerRun(100, func() { clear(slots); FillBytes(slots, few[:256]) }))
}

// A block takes one allocation for all of its binaries, and they fill it.
func TestBlockAllocates(t *testing.T) {
	all, data := make([]any, 4), make([]byte, 64)
	var block Block
	require.EqualValues(t, 1, testing.AllocsPerRun(100, func() {
		block = NewBlock(len(all) * SizeInBlock(len(data)))
		for i := range all {
			all[i] = block.Add(data)
		}
	}))
	require.Empty(t, block.free)
	require.Equal(t, [2]int{lowest, highest}, [2]int{least, most}, "as the tests of both have it")
}
