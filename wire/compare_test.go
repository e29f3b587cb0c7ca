package wire

import (
	"cmp"
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/internal/testkit"
)

// requireAscending fails unless each term is less than all that follow.
func requireAscending(t *testing.T, terms []any) {
	t.Helper()
	for i, a := range terms {
		for j, b := range terms {
			require.Equal(t, cmp.Compare(i, j), Compare(a, b), "%s and %s", plainly(a), plainly(b))
			require.Equal(t, i == j, Equal(a, b), "%s and %s", plainly(a), plainly(b))
		}
	}
}

func TestStandardOrder(t *testing.T) {
	o := NewOrigin(NodeID{"a@h", 1})
	b, later := NewOrigin(NodeID{"b@h", 1}), NewOrigin(NodeID{"a@h", 2})
	requireAscending(t, []any{
		-1, 0, 1.5, whole(1 << 40),
		Atom(""), Atom("A"), Atom("a"), Atom("aa"), Atom("b"), false, true, Atom("ж"),
		o.Ref(1), o.Ref(2), o.Ref(1, 1), o.Ref(0, 0, 1), later.Ref(1), b.Ref(1),
		Fun{Module: "a", Index: 2}, Fun{Module: "b"}, Fun{Module: "b", OldUniq: 1}, Fun{Module: "b", OldUniq: 1, Free: []any{2}},
		Fun{Module: "b", OldUniq: 1, Free: []any{3}}, Fun{Module: "b", OldUniq: 1, Free: []any{1, 1}}, Fun{Module: "b", Index: 1},
		Export{"a", "b", 2}, Export{"a", "c", 1}, Export{"a", "c", 2}, Export{"b", "a", 0},
		o.Port(1), o.Port(2), later.Port(1), b.Port(1),
		o.PID(1), later.PID(1), b.PID(1), o.PID(2), o.PID(1 << 32),
		Tuple{}, Tuple{2}, Tuple{1, 1}, Tuple{1, 2},
		Map{}, NewMap(2, 1), NewMap(2, 2), NewMap(1.0, 1), NewMap(1, 1, 2, 1), NewMap(1, 1, 2, 2), NewMap(1, 2, 2, 1),
		List{}, ImproperList{[]any{1}, 1}, List{1}, List{1, 1}, List{1, 1, 1}, ImproperList{[]any{1}, "a"}, List{2}, List{List{}}, List{List{1}},
		[]byte{}, "a", "aa", "b",
		[]any{}, map[string]int{}, color(1), color(2), point{},
	})
}

func TestEqualIsFinerThanCompare(t *testing.T) {
	for _, c := range [][2]any{
		{Tuple{1}, Tuple{1.0}},
		{List{1, 2.0}, List{1.0, 2}},
		{ImproperList{[]any{1}, 2}, ImproperList{[]any{1}, 2.0}},
		{NewMap(AtomOK, 1), NewMap(AtomOK, 1.0)},
		{point{1, 2}, point{2, 1}},
	} {
		assert.Zero(t, Compare(c[0], c[1]))
		assert.False(t, Equal(c[0], c[1]))
	}
	assert.NotZero(t, Compare(NewMap(Tuple{1}, 1), NewMap(Tuple{1.0}, 1)), "keys compare exactly, at every depth")
	f := Fun{Module: "m", Free: []any{1}}
	g := f
	g.Arity, g.OldIndex, g.PID = 2, 3, NewOrigin(NodeID{"a@h", 1}).PID(1)
	assert.True(t, Equal(f, g))
	assert.Equal(t, hashOf(f), hashOf(g))
	g.Uniq[3] = 1
	assert.False(t, Equal(f, g))
	assert.Zero(t, Compare(f, g))
}

// Invariants 2 to 4 over random terms.
func TestCompareIsAnOrder(t *testing.T) {
	g := newGen(t)
	g.foreign, g.big = true, true
	terms := make([]any, testkit.By(70, 150, 300))
	for i := range terms {
		terms[i] = g.term(g.IntN(4))
	}
	for _, m := range []mode{standard, exact} {
		for _, a := range terms {
			require.Zero(t, compare(a, a, m), Format(a))
			for _, b := range terms {
				ab := compare(a, b, m)
				require.Equal(t, -ab, compare(b, a, m), "%v %v", a, b)
				if Equal(a, b) {
					require.Zero(t, ab, "%v %v", a, b)
					require.Equal(t, hashOf(a), hashOf(b), "%v %v", a, b)
				}
				for _, c := range terms {
					if ab <= 0 && compare(b, c, m) <= 0 {
						require.LessOrEqual(t, compare(a, c, m), 0, "%v %v %v", a, b, c)
					}
				}
			}
		}
	}
}

func TestSpellingMakesNoDifference(t *testing.T) {
	g := newGen(t)
	g.big = true
	for range 3000 {
		x, other := g.term(g.IntN(4)), g.term(g.IntN(3))
		y := g.respell(x)
		require.True(t, Equal(x, y), "%#v\n%#v", x, y)
		require.True(t, Equal(y, x), "%#v\n%#v", x, y)
		require.Zero(t, Compare(x, y), "%#v\n%#v", x, y)
		require.Equal(t, hashOf(x), hashOf(y), "%#v\n%#v", x, y)
		require.Equal(t, Compare(x, other), Compare(y, other), "%#v\n%#v", x, y)
		require.Equal(t, Equal(x, other), Equal(y, other), "%#v\n%#v", x, y)
	}
}

func TestForeignValues(t *testing.T) {
	type other struct{ f func() }
	ch := make(chan int)
	s, m := []any{1}, map[string]int{}
	f := func() {}
	for _, x := range []any{point{1, 2}, color(1), ch, s, m, &point{}, struct{}{}, [2]int{1, 2}} {
		assert.True(t, Equal(x, x), "%#v", x)
		assert.True(t, Equal(Tuple{x}, Tuple{x}), "%#v", x)
		assert.Zero(t, Compare(x, x))
		for _, term := range []any{1, AtomOK, nil, "a", Tuple{}, Map{}} {
			assert.False(t, Equal(x, term))
			assert.False(t, Equal(term, x))
			assert.Equal(t, 1, Compare(x, term))
			assert.Equal(t, -1, Compare(term, x))
		}
	}
	for _, c := range [][2]any{
		{f, f}, {other{f}, other{f}}, {s, []any{1}}, {m, map[string]int{}}, {&point{}, &point{}}, {[1]any{s}, [1]any{s}},
		{point{}, color(0)}, {any(nil), (*point)(nil)}, {math.NaN(), color(0)},
	} {
		assert.False(t, Equal(c[0], c[1]), "%#v", c)
		Compare(c[0], c[1])
	}
	assert.Equal(t, -1, Compare(color(1), color(2)))
}

func benchmarkTerms() (a, b any) {
	make := func() any {
		o := NewOrigin(NodeID{"go@host", 1})
		return Tuple{Atom("$gen_call"), Tuple{o.PID(7), ImproperList{[]any{Atom("alias")}, o.Ref(1, 2, 3)}},
			NewMap(Atom("name"), "cart", Atom("items"), List{1, 2, 3}, Atom("price"), 1.5)}
	}
	return make(), make()
}

func BenchmarkEqual(b *testing.B) {
	x, y := benchmarkTerms()
	ref := NewOrigin(NodeID{"go@host", 1}).Ref(1, 2, 3)
	for _, c := range []struct {
		name string
		a, b any
	}{
		{"atom", Atom("get_state"), Atom("get_" + string([]byte("state")))}, {"int", 1 << 30, 1 << 30}, {"int/int64", 1 << 30, int64(1 << 30)},
		{"ref", ref, ref}, {"tag", Tuple{AtomOK, 1}, Tuple{AtomOK, 1}}, {"call", x, y}, {"binary", make([]byte, 1<<10), string(make([]byte, 1<<10))},
	} {
		b.Run(c.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if !Equal(c.a, c.b) {
					b.Fatal("not equal")
				}
			}
		})
	}
}

func BenchmarkCompare(b *testing.B) {
	x, y := benchmarkTerms()
	long := make(List, 1000)
	for i := range long {
		long[i] = i
	}
	for _, c := range []struct {
		name string
		a, b any
	}{
		{"int/float", 1, 1.5}, {"atom", Atom("abc"), Atom("abd")}, {"call", x, y}, {"list1000", long, append(List{}, long...)},
	} {
		b.Run(c.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				Compare(c.a, c.b)
			}
		})
	}
}
