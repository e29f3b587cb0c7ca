package box

import (
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
		if n <= 136 {
			require.Equal(t, n, cap(v.([]byte)), "an append copies")
		}
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
		i := n - 100
		var boxed any
		new(Ints).Put(&boxed, i, 1)
		require.Equal(t, i, boxed)
	}
	runtime.GC()
	for i := range all {
		require.IsType(t, want[i], all[i])
		require.True(t, wire.Equal(want[i], all[i]))
	}
}

func TestOneAllocation(t *testing.T) {
	data := make([]byte, 64)
	var v any
	require.EqualValues(t, 1, testing.AllocsPerRun(100, func() { v = Bytes(data) }))
	require.EqualValues(t, 1, testing.AllocsPerRun(100, func() { _, v = Tuple(5) }))
	require.EqualValues(t, 1, testing.AllocsPerRun(100, func() { _, v = List(16) }))
	_ = v
}
