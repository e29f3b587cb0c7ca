package pack

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/internal/testkit"
	"github.com/actornode/actornode/wire"
)

// Graph is a value whose parts can refer to each other.
type Graph struct {
	Name  string
	Next  *Graph
	Other *Graph
	All   []*Graph
	By    map[string]*Graph
	Data  []byte
	More  []byte
	Ints  []int
	Again []int
	Any   any
	Any2  any
}

type Ring []Ring

func graphTypes(t testing.TB) *Types {
	types := types(t)
	require.NoError(t, Register[Graph](types, "shop.Graph"))
	require.NoError(t, Register[Ring](types, "shop.Ring"))
	return types
}

// TestReferredTwice: what a message refers to several times is sent each time, and arrives as copies.
func TestReferredTwice(t *testing.T) {
	types := graphTypes(t)
	data := bytes.Repeat([]byte("data"), 25)
	leaf := &Graph{Name: "leaf", Data: data}
	part := wire.List{1, 2, 3, data}
	m := map[string]*Graph{"leaf": leaf}
	g := &Graph{Next: leaf, Other: leaf, All: []*Graph{leaf, leaf}, By: m, Data: data, More: data, Any: leaf, Any2: data}
	for _, v := range []any{g, *g, wire.Tuple{part, part, wire.NewMap("a", part), leaf, leaf, m, m}, [][]byte{data, data}} {
		require.Equal(t, v, pass(t, v, types, types))
	}
	got := pass(t, g, types, types).(*Graph)
	require.NotSame(t, got.Next, got.Other)
	require.NotSame(t, &got.Data[0], &got.More[0])
	b, err := (&Encoder{Types: types}).Append(nil, [][]byte{data, data, data})
	require.NoError(t, err)
	require.Greater(t, len(b), 3*len(data))
}

// TestCycles: what refers to itself is refused, with the path.
func TestCycles(t *testing.T) {
	types := graphTypes(t)
	n := &Graph{}
	n.Next = n
	two := &Graph{Next: &Graph{}}
	two.Next.Next = two
	byMap := Graph{By: map[string]*Graph{}}
	byMap.By["a"] = &byMap
	inAny := Graph{}
	inAny.Any = wire.Tuple{1, &inAny}
	ring := make(Ring, 1)
	ring[0] = ring
	anys := []any{1, nil}
	anys[1] = anys
	goMap := map[string]any{}
	goMap["self"] = goMap
	inTuple := wire.Tuple{1, nil} // the only data on the way around
	inTuple[1] = Envelope{Any: inTuple}
	var inMap wire.Map
	inMap.Put("a", Envelope{Any: wire.Tuple{1}})
	inMap.Put("b", Envelope{Any: inMap})
	tuple := wire.Tuple{1, nil}
	tuple[1] = tuple
	list := wire.List{wire.List{nil}}
	list[0].(wire.List)[0] = list
	var m wire.Map
	m.Put("a", 1)
	m.Put("b", m)
	far := &Graph{}
	last := far
	for range 150 {
		last.Next = &Graph{}
		last = last.Next
	}
	last.Next = far
	for _, c := range []struct {
		v    any
		path string
	}{
		{n, ".Next.Next: a cycle: this *pack.Graph refers to itself"},
		{*n, ".Next.Next: a cycle"},
		{two, ".Next.Next: a cycle"},
		{wire.Tuple{wire.AtomOK, two}, "{2}(shop.Graph).Next.Next"},
		{[]*Graph{two}, "[]*shop.Graph[0].Next.Next"},
		{&byMap, ".By#{<<\"a\">>}: a cycle"},
		{&inAny, "shop.Graph.Any{2}(shop.Graph).Any{2}(shop.Graph)"},
		{inAny, ".Any{2}(shop.Graph).Any"},
		{inTuple, "a cycle: this tuple refers to itself"},
		{inMap, "a cycle: this map refers to itself"},
		{ring, "[0][0]: a cycle"},
		{anys, "[1]([]any)[1]([]any)"},
		{goMap, "self"},
		{tuple, "{2}: a cycle: this tuple refers to itself"},
		{list, "[1][1]: a cycle: this list refers to itself"},
		{wire.Tuple{list}, "{1}[1][1]"},
		{m, "#{<<\"b\">>}: a cycle: this map refers to itself"},
		{far, ".Next.Next.Next: a cycle"},
	} {
		for _, e := range []*Encoder{{Types: types}, {Types: types, Dict: &EncodeDict{}}, {Types: types, Former: true, Foreign: plainly}} {
			if e.Former && (reflect.TypeOf(c.v) == reflect.TypeOf(anys) || reflect.TypeOf(c.v) == reflect.TypeOf(goMap) ||
				reflect.TypeOf(c.v).Kind() == reflect.Slice) {
				continue // it has no types for these
			}
			b, err := e.Append([]byte("x"), c.v)
			require.ErrorIs(t, err, ErrNoTerm, "%s", c.path)
			require.Contains(t, err.Error(), "a cycle: this ")
			if !e.Former {
				require.ErrorContains(t, err, c.path)
			}
			require.Equal(t, "x", string(b))
		}
	}
	_, err := Append(nil, tuple)
	require.ErrorContains(t, err, "a cycle: this tuple", "without types, too")
}

func plainly(v any) (any, error) { return nil, fmt.Errorf("%T is no term", v) }

// TestDeepWithoutCycle: what is too deep says so, and not that it is a cycle.
func TestDeepWithoutCycle(t *testing.T) {
	types := graphTypes(t)
	e := Encoder{Types: types}
	deep := &Graph{}
	for range 100_000 {
		deep = &Graph{Next: deep}
	}
	_, err := e.Append(nil, deep)
	require.ErrorIs(t, err, ErrLimit)
	require.ErrorContains(t, err, "is nested deeper than 10000 levels")
	require.NotContains(t, err.Error(), "cycle")
	require.Less(t, len(err.Error()), 1000)
	list := wire.List{}
	for range 100_001 {
		list = wire.List{list}
	}
	_, err = e.Append(nil, list)
	require.ErrorIs(t, err, ErrLimit)
	require.ErrorContains(t, err, "nested deeper than 100000 levels")

	// Deep, and without end as a tree.
	chain := &Graph{}
	for range 5000 {
		chain = &Graph{Next: chain, Other: chain}
	}
	b, err := (&Encoder{Types: types, Message: 1 << 20}).Append(nil, []*Graph{chain})
	require.ErrorIs(t, err, ErrLimit)
	require.Empty(t, b)
	chain = &Graph{Name: "last"}
	for range 4000 {
		chain = &Graph{Next: chain, Ints: make([]int, 10)}
	}
	require.Equal(t, chain, pass(t, chain, types, types))
}

// TestMessageTooLong: what a few values expand to is bounded.
func TestMessageTooLong(t *testing.T) {
	types := graphTypes(t)
	graph, list, anys, m := &Graph{}, wire.List{1}, []any{1}, map[string]any{}
	for range 40 { // 2^40 of them
		graph, list, anys = &Graph{Next: graph, Other: graph}, wire.List{list, list}, []any{anys, anys}
	}
	for range 20 {
		m = map[string]any{"a": m, "b": m}
	}
	data, text := make([]byte, 1000), strings.Repeat("x", 1000)
	terms := make(wire.List, 1000)
	for i := range terms {
		terms[i] = []any{data, text, wire.Charlist(text), wire.NewBitstring(data, 7999)}[i%4]
	}
	datas, texts := make([][]byte, 1000), make([]string, 1000)
	for i := range datas {
		datas[i], texts[i] = data, text
	}
	e := Encoder{Types: types, Message: 50_000}
	for _, v := range []any{graph, list, m, terms, datas, texts, Envelope{Any: list}, wire.Tuple{datas}, wire.Tuple{1, terms},
		[][]string{texts}, [][]byte{make([]byte, 50_000), data}} {
		b, err := e.Append([]byte("x"), v)
		require.ErrorIs(t, err, ErrLimit)
		require.ErrorContains(t, err, "a message of more than 50000 bytes, the most that are allowed; data that a message refers to "+
			"several times is sent each time")
		require.Equal(t, "x", string(b))
		_, _, err = e.Segments(nil, nil, v)
		require.ErrorIs(t, err, ErrLimit)
	}
	_, err := e.Append(nil, anys)
	require.ErrorIs(t, err, ErrLimit, "values in fields of type any have a depth")
	_, err = e.Append(make([]byte, 100_000), data)
	require.NoError(t, err, "what is in front of the message does not count")
	b, err := e.Append(nil, wire.Tuple{make([]byte, 100_000)})
	require.ErrorIs(t, err, ErrLimit)
	require.Empty(t, b)
}

// TestFormerReferences: what a former version wrote for data that a message refers to several times is malformed.
func TestFormerReferences(t *testing.T) {
	types := graphTypes(t)
	for in, why := range map[string]string{
		"\xd4\x0a\x00": "an extension of type 10, which is none",
		"\x93\xd4\x09\x08\xc4\x04\x00\x00\x00\x01\x92\xa3abc\xd4\x0a\x00":             "an array with the mark 8, which is none",
		"\x93\xd4\x09\x04\xc7\x0a\x01shop.Graph\x82\xa4Next\x80\xa5Other\xd4\x0a\x00": "an extension of type 10",
	} {
		for _, d := range []*Decoder{{Types: types, Dict: &DecodeDict{}}, {Types: types, Strict: true}, {}} {
			_, rest, err := d.Term([]byte(in))
			require.ErrorIs(t, err, ErrMalformed, "%x", in)
			require.ErrorContains(t, err, why, "%x", in)
			require.Len(t, rest, len(in))
		}
	}
}

// randomGraph returns a value of n parts that refer to each other at random, without a cycle.
func randomGraph(r *rand.Rand, n int) any {
	nodes := []*Graph{{Name: "0"}}
	blobs := [][]byte{bytes.Repeat([]byte{1}, 100), bytes.Repeat([]byte{2}, 64), {3}}
	terms := []any{wire.List{1, 2, 3, 4}, wire.Tuple{1, 2, 3, blobs[0]}, wire.NewMap(1, 2, 3, blobs[1]), blobs[0], "text"}
	pick := func() *Graph {
		if r.IntN(3) == 0 {
			return nil
		}
		return nodes[max(0, len(nodes)-1-r.IntN(4))]
	}
	for range n {
		g := &Graph{Name: strings.Repeat("n", r.IntN(100)), Next: pick(), Data: blobs[r.IntN(3)], More: blobs[r.IntN(3)]}
		switch r.IntN(4) {
		case 0:
			g.All = []*Graph{pick(), pick()}
		case 1:
			g.By = map[string]*Graph{"a": pick()}
		case 2:
			g.Any = terms[r.IntN(len(terms))]
		case 3:
			l := wire.List{terms[r.IntN(len(terms))], 1, terms[r.IntN(len(terms))], 2}
			terms = append(terms, l)
			g.Any, g.Any2 = l, blobs[r.IntN(3)]
		}
		nodes = append(nodes, g)
	}
	return wire.Tuple{nodes[len(nodes)-1], terms[r.IntN(len(terms))], nodes[r.IntN(len(nodes))], blobs[0]}
}

// FuzzGraphs: values whose parts refer to each other arrive as they are, for who has no types, too;
// whatever a byte of them is changed to, there is a term or an error.
func FuzzGraphs(f *testing.F) {
	for seed := range uint64(10) {
		f.Add(seed, uint(seed), uint16(0), byte(0))
	}
	types := graphTypes(f)
	f.Fuzz(func(t *testing.T, seed uint64, n uint, at uint16, to byte) {
		v := randomGraph(rand.New(rand.NewPCG(seed, 1)), int(n%12))
		require.Equal(t, v, pass(t, v, types, types))
		pass(t, v, types, nil)
		b, err := (&Encoder{Types: types}).Append(nil, v)
		require.NoError(t, err)
		b[int(at)%len(b)] = to
		for _, d := range []*Decoder{{Types: types}, {}, {Types: types, Dict: &DecodeDict{}}} {
			checkDecode(t, d, b)
		}
	})
}

// TestGraphAllocations: to look out for cycles and long messages costs nothing.
func TestGraphAllocations(t *testing.T) {
	if testkit.Race {
		t.Skip("the race detector counts its own allocations")
	}
	types := graphTypes(t)
	e := Encoder{Dict: &EncodeDict{}, Types: types}
	dst := make([]byte, 0, 1<<20)
	for _, v := range []any{wire.Tuple{1, &Graph{Next: &Graph{}}, make([]byte, 1000), wire.List{1, 2, 3, 4}}, &Tree{Left: &Tree{}}} {
		require.LessOrEqual(t, testing.AllocsPerRun(100, func() {
			if _, err := e.Append(dst, v); err != nil {
				t.Fatal(err)
			}
			e.Dict.Commit()
		}), 0.0)
	}
}
