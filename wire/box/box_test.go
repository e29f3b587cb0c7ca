package box

import (
	"bytes"
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
			require.Equal(t, n > 16 || n == 0, v == nil)
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

// Binaries about as long as those that are one with their slice.
func TestLongBytes(t *testing.T) {
	for n := oneBytes - 3; n <= oneBytes+3; n++ {
		data := bytes.Repeat([]byte{byte(n)}, n)
		v := Bytes(data)
		require.Equal(t, data, v)
		require.Equal(t, n, cap(v.([]byte)))
	}
}

// The heads of a row are slices like any other, and what they point to is the block.
func TestRow(t *testing.T) {
	block, row := []byte("onetwothree"), new(Row)
	all := []any{row.Put(0, block[:3]), row.Put(1, block[3:6]), row.Put(len(row)-1, block[6:]), row.Put(2, nil)}
	runtime.GC()
	require.Equal(t, []any{[]byte("one"), []byte("two"), []byte("three"), []byte(nil)}, all)
	_ = append(all[0].([]byte), '!')
	require.Equal(t, "onetwothree", string(block), "an append copies")
}

func TestOneAllocation(t *testing.T) {
	var v any
	for _, n := range []int{1, 64, oneBytes} {
		data := make([]byte, n)
		require.EqualValues(t, 1, testing.AllocsPerRun(100, func() { v = Bytes(data) }))
	}
	require.EqualValues(t, 1, testing.AllocsPerRun(100, func() { _, v = Tuple(5) }))
	require.EqualValues(t, 1, testing.AllocsPerRun(100, func() { _, v = List(16) }))
	_ = v
}
