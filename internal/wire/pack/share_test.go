package pack

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
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

// TestShared: what a message refers to several times crosses once, and arrives as one.
func TestShared(t *testing.T) {
	types := graphTypes(t)
	data := bytes.Repeat([]byte("data"), 25_000)
	ints := make([]int, 10_000)
	for i := range ints {
		ints[i] = i
	}
	leaf := &Graph{Name: "leaf", Data: data[:10]}
	m := map[string]*Graph{"leaf": leaf}
	same := func(a, b any) {
		t.Helper()
		require.Equal(t, reflect.ValueOf(a).UnsafePointer(), reflect.ValueOf(b).UnsafePointer())
	}
	size := func(v any) int {
		b, err := (&Encoder{Types: types}).Append(nil, v)
		require.NoError(t, err)
		return len(b)
	}

	g := Graph{Next: leaf, Other: leaf, All: []*Graph{leaf, leaf, {Next: leaf}}, By: m, Data: data, More: data, Ints: ints, Again: ints,
		Any: leaf, Any2: data}
	for _, v := range []any{g, &g} {
		got, ok := pass(t, v, types, types).(*Graph)
		if !ok {
			x := pass(t, v, types, types).(Graph)
			got = &x
		}
		require.Equal(t, &g, got)
		for _, other := range []*Graph{got.Other, got.All[0], got.All[1], got.All[2].Next, got.By["leaf"], got.Any.(*Graph)} {
			require.Same(t, got.Next, other)
		}
		same(got.Data, got.More)
		same(got.Data, got.Any2)
		same(got.Ints, got.Again)
	}
	require.Less(t, size(g), len(data)+3*len(ints)+500)

	list := pass(t, wire.List{data, data, ints, ints, m, m, leaf, wire.Tuple{1, data, leaf, m}}, types, types).(wire.List)
	same(list[0], list[1])
	same(list[0], list[7].(wire.Tuple)[1])
	same(list[2], list[3])
	same(list[4], list[5])
	same(list[4].(map[string]*Graph)["leaf"], list[6])
	same(list[6], list[7].(wire.Tuple)[2])
	require.IsType(t, []int{}, list[3])
	require.Less(t, size(wire.List{data, data, data}), len(data)+100)
	require.Less(t, size([][]byte{data, data, data}), len(data)+100)
	require.Less(t, size([]string{string(data)}), len(data)+100)
	text := string(data)
	require.Less(t, size(wire.Tuple{text, text, Envelope{Any: text}}), len(data)+100)

	part := wire.List{1, 2, 3, "four"}
	tuple := wire.Tuple{part, part, wire.NewMap("a", part, "b", 1), 4}
	whole := pass(t, wire.Tuple{tuple, tuple, part}, types, types).(wire.Tuple)
	require.Equal(t, wire.Tuple{tuple, tuple, part}, whole)
	same(whole[0], whole[1])
	same(whole[0].(wire.Tuple)[0], whole[2])
	pairs := wire.NewMap("a", 1, "b", 2)
	maps := pass(t, wire.Tuple{pairs, pairs}, types, types).(wire.Tuple)
	first := maps[0].(wire.Map)
	first.Put("c", 3)
	require.Equal(t, 3, maps[1].(wire.Map).Len(), "a map is one map")

	slices := pass(t, [][]int{ints, ints[:100], ints[1:], ints}, types, types).([][]int)
	same(slices[0], slices[3])
	require.NotEqual(t, reflect.ValueOf(slices[0]).UnsafePointer(), reflect.ValueOf(slices[1]).UnsafePointer(), "of another length")
}

// TestSharedPieces: of what is large and shared there is one piece.
func TestSharedPieces(t *testing.T) {
	types := graphTypes(t)
	large := bytes.Repeat([]byte{7}, 3*Large)
	e := Encoder{Types: types}
	v := wire.Tuple{large, wire.List{large, "x", large, 1}, &Graph{Data: large}, large[:Large]}
	segs, _, err := e.Segments(nil, []byte("before"), v)
	require.NoError(t, err)
	b := bytes.Join(segs, nil)
	require.Less(t, len(b), len(large)*2+Large+200)
	whole, err := e.Append(nil, v)
	require.NoError(t, err)
	require.Equal(t, whole, b)
	for _, alias := range []bool{false, true} {
		got, rest, err := (&Decoder{Types: types, Alias: alias}).Term(b)
		require.NoError(t, err)
		require.Empty(t, rest)
		require.Equal(t, v, got)
		require.Same(t, &got.(wire.Tuple)[0].([]byte)[0], &got.(wire.Tuple)[1].(wire.List)[2].([]byte)[0])
	}
}

// TestSharedWithStrangers: who does not have the types, or has others, gets all values, too.
func TestSharedWithStrangers(t *testing.T) {
	types := graphTypes(t)
	leaf := &Graph{Name: "leaf"}
	long := strings.Repeat("long", 50)
	data, ints := []byte(long), []int{1, 2, 3, 4, 5, 6, 7, 8, 9, 10}
	g := &Graph{Name: long, Next: leaf, Other: leaf, Data: data, More: data, Ints: ints, Again: ints, Any: leaf, Any2: wire.Tuple{data, long}}
	m := pass(t, g, types, nil).(wire.Map)
	for _, pair := range [][2]string{{"Next", "Other"}, {"Data", "More"}, {"Ints", "Again"}} {
		a, _ := m.Get(pair[0])
		b, _ := m.Get(pair[1])
		require.NotNil(t, a)
		require.True(t, wire.Equal(a, b), "%v and %v", a, b)
	}
	any2, _ := m.Get("Any2")
	require.Equal(t, wire.Tuple{data, long}, any2)
	other, _ := m.Get("Any")
	name, _ := other.(wire.Map).Get("Name")
	require.Equal(t, "leaf", name)

	// What the first place is not read of is read from the second.
	type Leaf struct{ Name string }
	type Old struct {
		Other *Leaf
		More  []byte
		Again []int64
	}
	older := &Types{}
	require.NoError(t, Register[Old](older, "shop.Graph"))
	require.Equal(t, &Old{&Leaf{"leaf"}, data, []int64{1, 2, 3, 4, 5, 6, 7, 8, 9, 10}}, pass(t, g, types, older))
	type Differs struct {
		Next  *Graph
		Other int
	}
	older = &Types{}
	require.NoError(t, Register[Differs](older, "shop.Graph"))
	require.IsType(t, wire.Map{}, pass(t, g, types, older))
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
		{n, "shop.Graph.Next: a cycle"},
		{*n, "shop.Graph.Next.Next: a cycle"},
		{two, "shop.Graph.Next.Next: a cycle"},
		{wire.Tuple{wire.AtomOK, two}, "{2}(shop.Graph).Next.Next: a cycle"},
		{[]*Graph{two}, "[]*shop.Graph[0].Next.Next: a cycle"},
		{&byMap, "shop.Graph.By#{<<\"a\">>}: a cycle"},
		{&inAny, "shop.Graph.Any{2}(shop.Graph): a cycle"},
		{ring, "[0]: a cycle"},
		{anys, "[1]([]any): a cycle"},
		{goMap, "self"},
		{tuple, "{2}: a cycle: this tuple refers to itself"},
		{list, "[1][1]: a cycle: this list refers to itself"},
		{wire.Tuple{list}, "{1}[1][1]: a cycle"},
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

	// Deep, and well: with what is shared at each level.
	chain := &Graph{}
	for range 5000 {
		chain = &Graph{Next: chain, Other: chain}
	}
	_, err = e.Append(nil, chain)
	require.ErrorIs(t, err, ErrLimit, "each place counted, it has 2^5000 parts")
	b, err := e.Append(nil, []*Graph{chain.Next.Next})
	require.ErrorIs(t, err, ErrLimit)
	require.Empty(t, b)
	chain = &Graph{Name: "last"}
	for range 4000 {
		chain = &Graph{Next: chain, Ints: make([]int, 10), Again: nil}
		chain.Again = chain.Ints
	}
	got := pass(t, chain, types, types).(*Graph)
	for got.Name == "" {
		require.Same(t, &got.Ints[0], &got.Again[0])
		got = got.Next
	}
}

// TestExpanded: what a message refers to is bounded, each time counted, on both sides.
func TestExpanded(t *testing.T) {
	types := graphTypes(t)
	data := make([]byte, 1000)
	var v wire.List
	for range 100 {
		v = append(v, data)
	}
	_, err := (&Encoder{Types: types, Expanded: 50_000}).Append(nil, v)
	require.ErrorIs(t, err, ErrLimit)
	require.ErrorContains(t, err, "at most 50000 are allowed")
	b, err := (&Encoder{Types: types}).Append(nil, v)
	require.NoError(t, err)
	require.Less(t, len(b), 1500)
	_, _, err = (&Decoder{Types: types, Limits: Limits{Expanded: 50_000}}).Term(b)
	require.ErrorIs(t, err, ErrShared)
	require.ErrorContains(t, err, "more than 50000 bytes, each time counted")

	// Lists in each other: 2^40 elements.
	l := wire.List{1, 2, 3, 4}
	for range 40 {
		l = wire.List{l, l, 3, 4}
	}
	_, err = (&Encoder{Types: types}).Append(nil, l)
	require.ErrorIs(t, err, ErrLimit)
	b, err = (&Encoder{Types: types, Expanded: math.MaxInt}).Append(nil, l)
	require.NoError(t, err)
	_, _, err = (&Decoder{Types: types}).Term(b)
	require.ErrorIs(t, err, ErrShared)
}

// referring returns a message with references of offsets, and a value.
func referring(value string, offsets ...uint32) []byte {
	b := appendBin([]byte{fixArray | 3, tagFixExt1, extMark, markShared}, 4*len(offsets))
	for _, o := range offsets {
		b = binary.BigEndian.AppendUint32(b, o)
	}
	return append(b, value...)
}

// TestWrongReferences: each is an error of the message, and the decoder goes on.
func TestWrongReferences(t *testing.T) {
	types := graphTypes(t)
	atom := "\xc7\x0a\x01shop.Graph"
	for in, why := range map[string]string{
		"\xd4\x0a\x00": "a reference in a message without any",
		string(referring("\x92\x01\xd4\x0a\x00")):                                             "the reference 0, of 0",
		string(referring("\x92\x01\xd4\x0a\x07", 1)):                                          "the reference 7, of 1",
		string(referring("\x92\xd4\x0a\x00\x01", 4)):                                          "a reference forward, to offset 14",
		string(referring("\x92\xd4\x0a\x00\x01", 1)):                                          "a reference forward, to offset 11",
		string(referring("\x92\x01\xd4\x0a\x00", 1<<30)):                                      "a reference forward",
		string(referring("\x92\x01\xd4\x0a\x00", 0)):                                          "a reference to what is around it",
		string(referring("\x92\xc4\x02\xc1\xc1\xd4\x0a\x00", 3)):                              "no such value is",
		string(referring("\x92\x92\xc7\x05\x02\x00\x00abc\x01\xd4\x0a\x00", 1, 2)):            "",
		string(referring("\x93\xd4\x09\x04"+atom+"\x82\xa4Next\x80\xa5Other\xd4\x0a\x00", 0)): "",
	} {
		dict := &DecodeDict{}
		for _, d := range []*Decoder{{Types: types, Dict: dict}, {Types: types}, {}} {
			_, rest, err := d.Term([]byte(in))
			if d.Dict == nil && strings.Contains(in, "\xc7\x05\x02") {
				continue // uses a cache
			}
			if why == "" && err == nil {
				continue
			}
			require.ErrorIs(t, err, ErrShared, "%x", in)
			require.ErrorContains(t, err, why, "%x", in)
			require.Len(t, rest, len(in))
			_, _, err = d.Term([]byte{1})
			require.NoError(t, err)
		}
	}
	for in, why := range map[string]string{
		"\x93\xd4\x09\x08\xc4\x03\x00\x00\x00\x01":             "offsets of what is referred to of 3 bytes",
		"\x93\xd4\x09\x08\x01\x01":                             "expected the offsets",
		"\x92\xd4\x09\x08\x01":                                 "the mark of a message with references in 1 elements",
		"\x92\x01\x93\xd4\x09\x08\xc4\x00\x01":                 "not in 2 at 0",
		"\x93\xd4\x09\x08\xc4\x00\x93\xd4\x09\x08\xc4\x00\x01": "not in 2 at 0",
	} {
		_, _, err := Decode([]byte(in))
		require.ErrorIs(t, err, ErrMalformed, "%x", in)
		require.ErrorContains(t, err, why, "%x", in)
	}
	whole := referring("\x92\xa3abc\xd4\x0a\x00", 1)
	for i := range whole {
		_, _, err := Decode(whole[:i])
		require.ErrorIs(t, err, ErrCut, "%d", i)
	}
}

// TestAtomsBesideWrongReference: what a message with a wrong reference defines is known to those behind it.
func TestAtomsBesideWrongReference(t *testing.T) {
	e := Encoder{Dict: &EncodeDict{}}
	d := Decoder{Dict: &DecodeDict{}}
	b, err := e.Append(nil, wire.Tuple{1, wire.Atom("first"), wire.Atom("second")})
	require.NoError(t, err)
	at := bytes.IndexByte(b, 1)
	b = append(append(bytes.Clone(b[:at]), "\xd4\x0a\x00"...), b[at+1:]...)
	_, _, err = d.Term(b)
	require.ErrorIs(t, err, ErrShared)
	e.Dict.Commit()
	b, err = e.Append(nil, wire.Atom("second"))
	require.NoError(t, err)
	got, _, err := d.Term(b)
	require.NoError(t, err)
	require.Equal(t, wire.Atom("second"), got)
}

// randomGraph returns a value of n parts that refer to each other at random, without a cycle.
func randomGraph(r *rand.Rand, n int) any {
	nodes := []*Graph{{Name: "0"}}
	blobs := [][]byte{bytes.Repeat([]byte{1}, 100), bytes.Repeat([]byte{2}, worth), {3}}
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

// FuzzShared: values whose parts refer to each other arrive as they are, for who has no types, too;
// whatever a byte of them is changed to, there is a term or an error.
func FuzzShared(f *testing.F) {
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

// TestSharedAllocations: what is not shared costs nothing.
func TestSharedAllocations(t *testing.T) {
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
