package etfcodec

import (
	"runtime"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/internal/wire/box"
	"github.com/actornode/actornode/wire"
)

// Tuples, lists and binaries of every length at which their form in memory changes come out as they went in, can be
// appended to without harm, and outlive the bytes that they were in and a garbage collection.
func TestBoxes(t *testing.T) {
	var d Decoder
	var all, want []any
	for n := range 150 {
		tuple, list, data := make(wire.Tuple, n), make(wire.List, n), make([]byte, n)
		for i := range n {
			tuple[i], list[i], data[i] = 1000*n+i, -1000*n-i-1, byte(n+i)
		}
		for _, term := range []any{tuple, list, data} {
			b, err := Append(nil, term)
			require.NoError(t, err)
			got, rest, err := d.Decode(b)
			require.NoError(t, err)
			require.Empty(t, rest)
			clear(b)
			all, want = append(all, got), append(want, term)
			switch got := got.(type) { // the rest of the term is not overwritten
			case wire.Tuple:
				require.Equal(t, len(got), cap(got))
			case []byte:
				require.Equal(t, len(got), cap(got))
			}
		}
		if n%25 == 0 {
			runtime.GC()
		}
	}
	runtime.GC()
	for i := range all {
		if !wire.Equal(want[i], all[i]) {
			assert.Equal(t, want[i], all[i])
		}
		assert.IsType(t, all[i], want[i])
	}
}

// An improper list whose elements are in the tail of an empty one is written in place, without overwriting what lies
// beside it.
func TestImproperTails(t *testing.T) {
	in := []byte{131, tagList, 0, 0, 0, 0, tagList, 0, 0, 0, 0, tagList, 0, 0, 0, 1, tagSmallInteger, 1, tagSmallInteger, 2}
	var all [][]any
	for range 1000 {
		beside := make([]any, 1)
		beside[0] = beside
		v, _, err := Decode(in)
		require.NoError(t, err)
		other := make([]any, 1)
		other[0] = other
		all = append(all, beside, []any{v}, other)
	}
	runtime.GC()
	for i, l := range all {
		if i%3 == 1 {
			require.Equal(t, wire.ImproperList{Head: []any{1}, Tail: 2}, l[0])
		} else {
			require.Same(t, &l[0], &l[0].([]any)[0])
		}
	}
}

// needJoined skips a test of allocations where interfaces are ordinary ones.
func needJoined(t *testing.T) {
	if !box.Joined {
		t.Skip("built with ordinary interface values: more allocations")
	}
}

// A tuple or a list costs two allocations, a small map one, and so does a binary as long as it is short; integers up to
// 65,535 cost none, others one for many.
func TestBoxesAllocate(t *testing.T) {
	needJoined(t)
	ints := func(from, n int) wire.List {
		l := make(wire.List, n)
		for i := range l {
			l[i] = from + i
		}
		return l
	}
	for _, c := range []struct {
		term any
		most float64
	}{
		{wire.Tuple{wire.Atom("update"), wire.Atom("account"), 42, 1_000_000, make([]byte, 64)}, 3},
		{wire.Tuple{wire.Atom("a"), wire.Tuple{wire.Atom("b"), 1}, wire.List{wire.Atom("c"), wire.Tuple{2, 3}}}, 8},
		{wire.Tuple{1000, 2000, 3000, 4000}, 2},
		{wire.Tuple{1_000_000, -1_000_000}, 2},
		{ints(1000, 16), 2},
		{ints(1000, 10_000), 2},
		{ints(100_000, 10_000), 2 + (10_000+127)/128},
		{wire.Tuple(ints(0, 200)), 2},
		{wire.NewMap(wire.Atom("id"), 7, wire.Atom("left"), wire.Tuple{1, 2}, wire.Atom("ok"), true), 3},
		{wire.Charlist("what it says"), 2},
		{make([]byte, 1000), 1},
		{make([]byte, 10_000), 2},
	} {
		b, err := Append(nil, c.term)
		require.NoError(t, err)
		var d Decoder
		n := testing.AllocsPerRun(100, func() { _, _, err = d.Decode(b) })
		require.NoError(t, err)
		assert.LessOrEqual(t, n, c.most, "%.60s", wire.Format(c.term))
	}
}
