package pack

import (
	"fmt"
	"math"
	"math/big"
	"math/rand"
	"reflect"
	"strings"
	"testing"
	"testing/quick"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/internal/testkit"
	"github.com/actornode/actornode/wire"
)

// exact are values that arrive as what they are, with the terms that they are where their
// types cannot be read.
func exact() []struct{ value, plain any } {
	d, n := time.Second, 7
	a, b := Item{"a", 1}, Item{"b", 2}
	item := func(i Item) any { return wire.NewMap("SKU", i.SKU, "qty", i.Qty) }
	return []struct{ value, plain any }{
		{int8(-8), -8}, {int16(300), 300}, {int32(math.MinInt32), math.MinInt32}, {int64(-1), -1}, {uint(7), 7}, {uint8(200), 200},
		{uint16(7), 7}, {uint32(7), 7}, {uint64(math.MaxUint64), new(big.Int).SetUint64(math.MaxUint64)}, {float32(1.5), 1.5},
		{d, int(d)}, {&d, int(d)}, {(*time.Duration)(nil), nil}, {&n, 7},
		{[]int{1, -2}, wire.List{1, -2}}, {[]int{}, wire.List(nil)}, {[]int(nil), nil}, {[]string{"a", "b"}, wire.List{"a", "b"}},
		{[]float32{1.5}, wire.List{1.5}}, {[][]byte{{1}, nil}, wire.List{[]byte{1}, nil}}, {[]bool{true}, wire.List{true}},
		{[]time.Duration{d}, wire.List{int(d)}}, {[]any{1, nil, int8(5), wire.AtomOK, []int{1}}, nil},
		{[]wire.PID{host.PID(1)}, wire.List{host.PID(1)}}, {[]*big.Int{shift(70), nil}, nil},
		{[]wire.Tuple{{1}}, wire.List{wire.Tuple{1}}},
		{map[string]int{"a": 1}, wire.NewMap("a", 1)}, {map[wire.Atom][]int{"a": {1}}, wire.NewMap(wire.Atom("a"), wire.List{1})},
		{map[string]any{"a": wire.Tuple{uint8(1)}, "b": nil}, nil}, {map[int8]map[bool]uint{1: {true: 2}}, nil},
		{[]Item{a, b}, wire.List{item(a), item(b)}}, {map[string]*Item{"a": &a, "b": nil}, nil},
		{[]*Item{&a, nil}, wire.List{item(a), nil}},
		{[3]int{1, 2, 3}, wire.List{1, 2, 3}}, {[2]string{"a", ""}, wire.List{"a", ""}}, {[0]int{}, wire.List(nil)},
		{[4]byte{1, 2, 3, 4}, []byte{1, 2, 3, 4}}, {[][2]bool{{true}, {}}, wire.List{wire.List{true, false}, wire.List{false, false}}},
		{map[[2]int8]*[1]Item{{1, 2}: {a}}, nil}, {[2]any{1, "x"}, nil}, {[1]error{}, nil},
		{[]Money{1, 2}, wire.List{1, 2}}, {map[Money]Item{1: a}, nil},
	}
}

func exactTypes(t testing.TB) *Types {
	types := types(t)
	require.NoError(t, Register[Item](types, "shop.Item"))
	return types
}

func TestExactTypes(t *testing.T) {
	from, to := exactTypes(t), exactTypes(t)
	for _, c := range exact() {
		t.Run(fmt.Sprintf("%T", c.value), func(t *testing.T) {
			require.Equal(t, c.value, pass(t, c.value, from, to))
			for _, v := range []any{wire.Tuple{1, c.value, wire.AtomOK}, wire.List{c.value, c.value}, Envelope{Any: c.value},
				Envelope{Any: wire.List{c.value}, Many: []any{c.value}}, []any{c.value}, map[string]any{"k": wire.Tuple{c.value}}} {
				require.Equal(t, v, pass(t, v, from, to))
			}
			require.True(t, wire.Equal(wire.NewMap("k", 1), pass(t, wire.NewMap("k", 1), from, to)))
			plain := pass(t, wire.Tuple{c.value, wire.AtomOK}, from, nil).(wire.Tuple)
			require.Equal(t, wire.AtomOK, plain[1])
			if c.plain != nil {
				require.True(t, wire.Equal(c.plain, plain[0]), "%v", plain[0])
			}
		})
	}
	const most = 1 + 3 + 3 + 1
	e := Encoder{Dict: &EncodeDict{}, Types: from}
	_, err := e.Append(nil, int64(1))
	require.NoError(t, err)
	b, err := e.Append(nil, int64(1))
	require.NoError(t, err)
	require.Len(t, b, most)
}

// TestPlainTypes: what a term can say itself is written as ever.
func TestPlainTypes(t *testing.T) {
	types := exactTypes(t)
	for _, v := range []any{1, "text", []byte("b"), 1.5, true, nil, wire.AtomOK, wire.Tuple{1, "a"}, wire.NewMap("a", 1), host.PID(1),
		shift(70), time.Unix(1, 0), wire.Charlist("a")} {
		plain, err := Append(nil, v)
		require.NoError(t, err)
		b, err := (&Encoder{Types: types}).Append(nil, v)
		require.NoError(t, err)
		require.Equal(t, plain, b)
	}
	for _, c := range []struct{ v, want any }{{int64(5), 5}, {float32(1.5), 1.5}} {
		b, err := (&Encoder{Types: types, Former: true}).Append(nil, c.v)
		require.NoError(t, err)
		got, _, err := (&Decoder{Types: types}).Term(b)
		require.NoError(t, err)
		require.Equal(t, c.want, got)
	}
	_, err := (&Encoder{Types: types, Former: true}).Append(nil, []int{1})
	require.ErrorIs(t, err, ErrNoTerm, "it is up to Foreign")
}

// TestMissing: the type that is to be registered is found, however deep.
func TestMissing(t *testing.T) {
	types := types(t)
	for _, v := range []any{Item{}, &Item{}, []Item{}, map[string][]*Item{}, map[Item]int{}} {
		require.Equal(t, reflect.TypeFor[Item](), types.Missing(v))
	}
	for _, v := range []any{Money(1), &order, []Order{}, map[string]*Order{}, []int{}} {
		require.Nil(t, types.Missing(v), "%T", v)
	}
	require.NoError(t, Register[Item](types, "map[x"))
	require.Equal(t, reflect.TypeFor[Item](), types.Missing([]Item{}), "the name cannot stand in an expression")
}

// typed returns the bytes of a value with an expression.
func typed(expr, value string) []byte {
	b := append([]byte{fixArray | 3, tagFixExt1, extMark, markTyped}, appendExt(nil, extAtom, len(expr))...)
	return append(append(b, expr...), value...)
}

// TestHostileExpressions: types that peers name are bounded in depth and in number, and what
// cannot be a type is none.
func TestHostileExpressions(t *testing.T) {
	types := exactTypes(t)
	d := Decoder{Types: types}
	for expr, value := range map[string]string{
		"":                               "\x01",
		"[]":                             "\x91\x01",
		"[]nobody":                       "\x91\x01",
		"[]int]":                         "\x91\x01",
		"map[[]int]int":                  "\x81\x01\x01",
		"map[any]int":                    "\x81\x01\x01",
		"map[int":                        "\x81\x01\x01",
		"int":                            "\x05",
		"any":                            "\x05",
		"tuple":                          "\x05",
		"bigint":                         "\xc0",
		strings.Repeat("[]", 9) + "int":  "\x90",
		strings.Repeat("*", 200) + "int": "\x05",
		"[]int8":                         "\x91\xcd\x01\x00", // 256
		"map[int]int":                    "\x82\x01\x01\x01\x01",
		"uint8":                          "\xff", // -1
		"shop.Order":                     "\x05",
		"[3]int":                         "\x92\x01\x02",
		"[1]int":                         "\x92\x01\x02",
		"[2]bool":                        "\xc0",
		"[][2]bool":                      "\x91\xc0",
		"[4]uint8":                       "\xc4\x02\x01\x02",
		"[99999999]int":                  "\x91\x01",
		"[99999999999999999999]int":      "\x91\x01",
		"[9000][9000]int":                "\x91\x91\x01",
		"[-1]int":                        "\x91\x01",
		"[01]int":                        "\x91\x01",
		"[1int":                          "\x91\x01",
	} {
		got, _, err := d.Term(typed(expr, value))
		if expr == "map[int]int" {
			require.ErrorIs(t, err, ErrMalformed, "a key twice")
			continue
		}
		require.NoError(t, err, expr)
		plain, _, err := Decode([]byte(value))
		require.NoError(t, err)
		require.True(t, wire.Equal(plain, got), "%s: %v", expr, got)
	}
	names := []string{"int", "bool", "string", "pid", "atom", "int8", "duration"}
	for i := range 3000 {
		expr := names[i%7]
		for j, k := i/7, 0; k < 4; j, k = j/7, k+1 {
			expr = "map[" + names[j%7] + "]" + expr
		}
		_, _, err := d.Term(typed(expr, "\x80"))
		require.NoError(t, err)
	}
	require.Equal(t, maxPeerTypes, types.table.exactByName.Len())
	n, _, err := d.Term(typed("int8", "\x05"))
	require.NoError(t, err)
	require.Equal(t, int8(5), n)
}

// TestRandomExact: random values of types of all sorts.
func TestRandomExact(t *testing.T) {
	from, to := exactTypes(t), exactTypes(t)
	r := rand.New(rand.NewSource(int64(testkit.Rand(t).Uint64()))) //nolint:gosec // package quick wants this one
	for _, v := range []any{[]int16{}, map[string][]uint32{}, [][]string{}, map[int8]map[string]float32{}, []*Item{},
		map[string]Item{}, Item{}, &Item{}, Tree{}, []*Tree{}, Line{}, map[Money][]Money{}, []map[bool]*int64{},
		time.Duration(0), uint64(0), float32(0)} {
		for range 50 {
			x, ok := quick.Value(reflect.TypeOf(v), r)
			require.True(t, ok)
			require.Equal(t, x.Interface(), pass(t, x.Interface(), from, to))
		}
	}
}
