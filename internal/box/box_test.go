package box

import (
	"bytes"
	"math"
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/wire"
)

// What is boxed is what a conversion would give, whatever its length, and stays so.
func TestBoxes(t *testing.T) {
	var all, want []any
	for n := range 200 {
		data := make([]byte, n)
		for i := range data {
			data[i] = byte(n + i)
		}
		v := Bytes(data)
		require.Equal(t, data, v)
		require.Equal(t, n, len(v.([]byte)))
		require.Equal(t, n, cap(v.([]byte)), "an append copies")
		all, want = append(all, v), append(want, append([]byte(nil), data...))
		clear(data)
		tuple, list := make(wire.Tuple, n), make(wire.List, n)
		for _, c := range []struct {
			make func(int) ([]any, any)
			want any
			of   []any
		}{{Tuple, tuple, tuple}, {List, list, list}} {
			slots, v := c.make(n)
			require.Len(t, slots, n)
			for i := range slots {
				slots[i], c.of[i] = n*i, n*i
			}
			require.Equal(t, n == 0, v == nil)
			if v != nil {
				all, want = append(all, v), append(want, c.want)
			}
		}
	}
	runtime.GC()
	for i := range all {
		require.IsType(t, want[i], all[i])
		require.True(t, wire.Equal(want[i], all[i]))
	}
}

// An improper list is the list that it has been, and its tail.
func TestImproper(t *testing.T) {
	var all, want []any
	for n := 1; n < 40; n++ {
		slots, _ := List(n)
		head := make([]any, n)
		for i := range slots {
			slots[i], head[i] = &[]int{i}, &[]int{i}
		}
		all = append(all, Improper(slots, &[]int{n}))
		want = append(want, wire.ImproperList{Head: head, Tail: &[]int{n}})
	}
	runtime.GC()
	require.Equal(t, want, all)
	require.EqualValues(t, 1, testing.AllocsPerRun(100, func() {
		slots, _ := List(1)
		all[0] = Improper(slots, nil)
	}))
}

// Binaries about as long as those that are one with their slice.
func TestLongBytes(t *testing.T) {
	for n := oneBytes - 3; n <= oneBytes+3; n++ {
		data := bytes.Repeat([]byte{byte(n)}, n)
		v := Bytes(data)
		require.Equal(t, data, v)
		require.Equal(t, n, cap(v.([]byte)))
	}
}

// The binaries of a block are slices like any other, of whatever length, each with the
// bytes that it was made of, as long as somebody has one of them.
func TestBlock(t *testing.T) {
	var all, want []any
	for k := range 500 {
		var parts [][]byte
		room := 0
		for len(parts) < BlockMost {
			part := bytes.Repeat([]byte{byte(k + len(parts))}, (k*7+len(parts)*13)%100)
			if room+RoomFor(len(part)) > BlockSize {
				break
			}
			room += RoomFor(len(part))
			parts = append(parts, part)
		}
		block := NewBlock(room)
		for i, part := range parts {
			v := block.Add(part)
			require.Equal(t, len(part), cap(v.([]byte)), "an append copies")
			if i == k%len(parts) { // nobody has the others
				all, want = append(all, v), append(want, bytes.Clone(part))
			}
			clear(part)
		}
		require.Empty(t, block.room)
		if k%50 == 0 {
			runtime.GC()
		}
	}
	runtime.GC()
	for i := range all {
		require.Equal(t, string(want[i].([]byte)), string(all[i].([]byte)))
	}
	require.EqualValues(t, 1, testing.AllocsPerRun(100, func() {
		block := NewBlock(4 * RoomFor(64))
		for i := range 4 {
			all[i] = block.Add(want[i].([]byte)[:0])
		}
	}))
}

// Lists of every size that the runtime has, and about as long as those that are one
// with their head: each is whole when its memory is the only one that has its elements.
func TestLong(t *testing.T) {
	setUp.Do(findSizes)
	lengths := []int{Most - 1, Most, Most + 1}
	for _, all := range [][]size{sizes, pages[:]} {
		for i := range all {
			lengths = append(lengths, max(1, all[i].room), all[i].room+1)
		}
	}
	for _, n := range lengths {
		slots, v := List(n)
		require.Len(t, slots, n)
		require.Equal(t, n, cap(slots), "an append copies")
		if v == nil {
			require.Greater(t, n, Most)
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

// A long list takes no more than its elements and its head would.
func TestNothingWasted(t *testing.T) {
	var v any
	for _, n := range []int{17, 100, 1000, 10_000, Most} {
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
	for _, n := range []int{16, 17, 255, 256, 2046, 2047, 10_000, Most} {
		require.EqualValues(t, 1, testing.AllocsPerRun(100, func() { _, v = List(n) }))
	}
	_ = v
}
