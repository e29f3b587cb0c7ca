package wire

import (
	"fmt"
	"maps"
	"math/big"
	"slices"
	"strconv"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/internal/testkit"
)

func TestMapTakesAnyKey(t *testing.T) {
	keys := []any{
		1, 1.0, AtomOK, "text", Charlist("text"), NewBitstring([]byte{0x80}, 1), Tuple{}, Tuple{1}, Tuple{1.0}, List{}, List{1},
		ImproperList{[]any{1}, 2}, Map{}, NewMap(1, 2), NewMap(1.0, 2), new(big.Int).Lsh(big.NewInt(1), 70),
		NewOrigin(NodeID{"a@h", 1}).PID(1), NewOrigin(NodeID{"a@h", 1}).Ref(1), NewOrigin(NodeID{"a@h", 1}).Port(1),
		Fun{Module: "m"}, Export{"m", "f", 1}, point{1, 2}, point{2, 1}, point{0, 0}, color(1),
	}
	for _, m := range []Map{{}, MakeMap(10), MakeMap(100)} {
		for i, k := range keys {
			m.Put(k, i)
		}
		require.Equal(t, len(keys), m.Len())
		for i, k := range keys {
			v, ok := m.Get(k)
			require.True(t, ok, "%v", k)
			require.Equal(t, i, v, "%v", k)
		}
		for _, k := range []any{2, Atom("no"), Tuple{2}, "no", point{9, 9}, color(2), []any{}, func() {}} {
			_, ok := m.Get(k)
			require.False(t, ok)
			require.False(t, m.Delete(k))
		}
		for i, k := range keys {
			require.True(t, m.Delete(k))
			require.False(t, m.Delete(k))
			require.Equal(t, len(keys)-i-1, m.Len())
		}
	}
}

func TestMapZeroValueAndSharing(t *testing.T) {
	var m Map
	assert.Zero(t, m.Len())
	assert.False(t, m.Delete(1))
	_, ok := m.Get(1)
	assert.False(t, ok)
	assert.Empty(t, maps.Collect(m.Unordered()))
	assert.Empty(t, slices.Collect(func(yield func(any) bool) { m.All()(func(k, _ any) bool { return yield(k) }) }))
	assert.True(t, Equal(Map{}, MakeMap(100)))
	assert.Equal(t, hashOf(Map{}), hashOf(MakeMap(100)))

	m.Put(AtomOK, 1)
	shared, own := m, m.Clone()
	shared.Put(AtomOK, 2)
	v, _ := m.Get(AtomOK)
	assert.Equal(t, 2, v)
	v, _ = own.Get(AtomOK)
	assert.Equal(t, 1, v)
	//lint:ignore SA5012 one is missing
	assert.Panics(t, func() { NewMap(AtomOK) })
}

func TestMapKeepsKeysInDecodersForm(t *testing.T) {
	m := NewMap(int8(1), "a", true, "b", float32(0.5), "c", big.NewInt(7), "d", uint64(9), "e")
	want := []any{1, 7, 9, 0.5, AtomTrue}
	var keys []any
	for k := range m.All() {
		keys = append(keys, k)
	}
	assert.Equal(t, want, keys)
	v, _ := m.Get(true)
	assert.Equal(t, "b", v)
	v, _ = m.Get(AtomTrue)
	assert.Equal(t, "b", v)
}

func TestMapIteratesInKeyOrder(t *testing.T) {
	g := newGen(t)
	for _, n := range []int{0, 1, 10, maxSorted, maxSorted + 1, 500} {
		want := MakeMap(n)
		for want.Len() < n {
			want.Put(g.term(2), want.Len())
		}
		var last any
		m, i := g.respell(want).(Map), 0
		for k, v := range m.All() {
			if i > 0 {
				require.Negative(t, compare(last, k, exact))
			}
			w, ok := want.Get(k)
			require.True(t, ok)
			require.Equal(t, Format(w), Format(v))
			last = k
			i++
		}
		require.Equal(t, n, i)
		var again Map
		for k, v := range m.Unordered() {
			again.Put(k, v)
		}
		require.True(t, Equal(m, again))
		for range m.All() {
			break // stops
		}
	}
}

// TestMapModel plays random operations on a Map and on a list of pairs, and checks mapBody's invariants after each.
func TestMapModel(t *testing.T) {
	g := newGen(t)
	for range testkit.By(8, 30, 300) {
		keys := g.terms(10+g.IntN(100), 1)
		m, model := MakeMap(g.IntN(2*maxSorted)), []pair{}
		for i := range 500 {
			k := keys[g.IntN(len(keys))]
			at := slices.IndexFunc(model, func(p pair) bool { return Equal(p.Key, k) })
			switch put := g.IntN(3) > 0; {
			case put && at < 0:
				m.Put(g.respell(k), i)
				model = append(model, pair{k, i})
				at = len(model) - 1
			case put:
				m.Put(g.respell(k), i)
				model[at].Value = i
			default:
				require.Equal(t, at >= 0, m.Delete(g.respell(k)), plainly(k))
				if at >= 0 {
					model = slices.Delete(model, at, at+1)
				}
				at = -1
			}
			require.Equal(t, len(model), m.Len())
			requireBody(t, m.body)
			v, ok := m.Get(g.respell(k))
			require.Equal(t, at >= 0, ok, plainly(k))
			if ok {
				require.Equal(t, model[at].Value, v, plainly(k))
			}
		}
	}
}

// requireBody checks the invariants 2 and 3 of mapBody.
func requireBody(t *testing.T, b *mapBody) {
	t.Helper()
	if b.index == nil {
		require.LessOrEqual(t, len(b.pairs), maxSorted)
		require.Nil(t, b.links)
		require.True(t, slices.IsSortedFunc(b.pairs, func(x, y pair) int { return compare(x.Key, y.Key, exact) }))
		return
	}
	require.Equal(t, len(b.pairs), len(b.links))
	reached := 0
	for h, i := range b.index {
		for ; i >= 0; i = b.links[i].next {
			require.Equal(t, h, b.links[i].hash)
			require.Equal(t, h, hashOf(b.pairs[i].Key))
			reached++
			require.LessOrEqual(t, reached, len(b.pairs))
		}
	}
	require.Equal(t, len(b.pairs), reached)
}

func TestMapsWithCollidingHashes(t *testing.T) {
	m := MakeMap(100) // foreign values of one type all hash alike
	for i := range 50 {
		m.Put(point{i, i}, i)
	}
	requireBody(t, m.body)
	for i := range 50 {
		if i%3 != 0 {
			require.True(t, m.Delete(point{i, i}))
			requireBody(t, m.body)
		}
	}
	for i := range 50 {
		_, ok := m.Get(point{i, i})
		require.Equal(t, i%3 == 0, ok)
	}
}

// Equal maps are one key and hash alike, whatever their form and history.
func TestMapsWithTiesAreEqualInAnyOrder(t *testing.T) {
	a, b, c := NewMap(point{1, 1}, 1, point{2, 2}, 2), NewMap(point{2, 2}, 2, point{1, 1}, 1), MakeMap(100)
	c.Put(point{2, 2}, 2)
	c.Put(point{1, 1}, 1)
	d := NewMap(1, 1, point{3, 3}, 3)
	d.Put(point{1, 1}, 1)
	d.Put(point{2, 2}, 2)
	d.Delete(1)
	d.Delete(point{3, 3})
	all := []Map{a, b, c, d}
	for _, x := range all {
		for _, y := range all {
			require.True(t, Equal(x, y), "%v %v", x, y)
			require.True(t, Equal(Tuple{x}, Tuple{y}))
			require.Equal(t, hashOf(x), hashOf(y), "%v %v", x, y)
		}
	}
	assert.False(t, Equal(a, NewMap(point{2, 2}, 1, point{1, 1}, 2)))
	assert.False(t, Equal(a, NewMap(point{2, 2}, 2, point{3, 3}, 1)))
	shrunk := NewMap(point{1, 1}, 1)
	shrunk.Put(point{2, 2}, 1)
	shrunk.Delete(point{2, 2})
	assert.True(t, Equal(shrunk, NewMap(point{1, 1}, 1)))
	assert.Equal(t, hashOf(shrunk), hashOf(NewMap(point{1, 1}, 1)))
}

// A small map with spare room is one allocation, and stays so while the room lasts.
func TestMakeMap(t *testing.T) {
	for n := 1; n <= maxSorted+1; n++ {
		fill := func(pairs int) (m Map) {
			m = MakeMap(n)
			for i := range pairs {
				m.Put(Atom("key"), i)
				m.Put(i, true)
				m.Delete(Atom("key"))
			}
			return m
		}
		for _, pairs := range []int{0, 1, n, n + 1, 3 * n} {
			m, want := fill(pairs), make(map[int]bool)
			for i := range pairs {
				want[i] = true
			}
			require.Equal(t, pairs, m.Len())
			for k, v := range m.All() {
				require.Equal(t, want[k.(int)], v)
			}
			requireBody(t, m.body)
		}
		if n <= maxSorted {
			var m Map
			require.EqualValues(t, 1, testing.AllocsPerRun(10, func() {
				m = MakeMap(n)
				for i := range n {
					m.Put(i, n)
				}
			}), "%d", n)
		}
	}
}

func BenchmarkMapGet(b *testing.B) {
	for _, n := range []int{3, 8, 32, 33, 10_000} {
		atoms, ints, tuples := MakeMap(n), MakeMap(n), MakeMap(n)
		for i := range n {
			atoms.Put(Atom("key_"+strconv.Itoa(i)), i)
			ints.Put(i, i)
			tuples.Put(Tuple{AtomOK, i}, i)
		}
		for _, c := range []struct {
			name string
			m    Map
			key  any
		}{
			{"atom", atoms, Atom("key_" + strconv.Itoa(n/2))}, {"int", ints, n / 2}, {"tuple", tuples, Tuple{AtomOK, n / 2}},
		} {
			b.Run(fmt.Sprintf("%s/%d", c.name, n), func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					if _, ok := c.m.Get(c.key); !ok {
						b.Fatal("not found")
					}
				}
			})
		}
	}
}

func BenchmarkMapPut(b *testing.B) {
	for _, n := range []int{3, 32, 1000} {
		keys := make([]any, n)
		for i := range keys {
			keys[i] = Atom("key_" + strconv.Itoa(i*7919%n))
		}
		b.Run(strconv.Itoa(n), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				m := MakeMap(n)
				for _, k := range keys {
					m.Put(k, nil)
				}
			}
		})
	}
}
