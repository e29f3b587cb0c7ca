package pack

import (
	"bytes"
	"flag"
	"fmt"
	"math"
	"math/big"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/tinylib/msgp/msgp"

	"github.com/actornode/actornode/internal/testkit/termtest"
	"github.com/actornode/actornode/wire"
)

var update = flag.Bool("update", false, "rewrite the golden files")

var (
	host  = wire.NewOrigin(wire.NodeID{Name: "a@h", Creation: 3})
	other = wire.NewOrigin(wire.NodeID{Name: "ж@h", Creation: math.MaxUint32})
)

func shift(n uint) *big.Int { return new(big.Int).Lsh(big.NewInt(1), n) }

// whole returns n as decoders do: as an int if it fits one here.
func whole(n int64) any { return wire.IntegerOf(big.NewInt(n)) }

func negative(n *big.Int) *big.Int { return new(big.Int).Neg(n) }

// trips are terms with what they come back as, if that is another.
var trips = []struct {
	name string
	term any
	back any
}{
	{name: "nil", term: nil},
	{name: "true", term: true},
	{name: "false", term: false},
	{name: "int8", term: int8(-7), back: -7},
	{name: "int16", term: int16(-700), back: -700},
	{name: "int32", term: int32(70000), back: 70000},
	{name: "int64", term: int64(math.MinInt64), back: whole(math.MinInt64)},
	{name: "uint8", term: uint8(200), back: 200},
	{name: "uint16", term: uint16(60000), back: 60000},
	{name: "uint32", term: uint32(math.MaxUint32), back: whole(math.MaxUint32)},
	{name: "uint", term: uint(7), back: 7},
	{name: "uintptr", term: uintptr(7), back: 7},
	{name: "uint64", term: uint64(math.MaxUint64), back: new(big.Int).SetUint64(math.MaxUint64)},
	{name: "small big", term: big.NewInt(-5), back: -5},
	{name: "big 2^64", term: shift(64)},
	{name: "big -2^63-1", term: new(big.Int).Sub(big.NewInt(math.MinInt64), big.NewInt(1))},
	{name: "big 2^2000", term: shift(2000)},
	{name: "big -2^2000", term: negative(shift(2000))},
	{name: "float", term: 0.1},
	{name: "float -0", term: math.Copysign(0, -1)},
	{name: "float max", term: math.MaxFloat64},
	{name: "infinity", term: math.Inf(-1)},
	{name: "float32", term: float32(1.5), back: 1.5},
	{name: "atom", term: wire.AtomOK},
	{name: "no atom", term: wire.Atom("")},
	{name: "atom true", term: wire.AtomTrue},
	{name: "atom utf8", term: wire.Atom(strings.Repeat("\U0010ffff", 255))},
	{name: "pid", term: host.PID(7)},
	{name: "pid 2^24", term: host.PID(1 << 24)},
	{name: "pid max", term: other.PID(math.MaxUint64)},
	{name: "zero pid", term: wire.PID{}},
	{name: "ref 0", term: host.Ref()},
	{name: "ref 3", term: host.Ref(1, 2, math.MaxUint32)},
	{name: "ref 5", term: other.Ref(1, 2, 3, 4, 5)},
	{name: "zero ref", term: wire.Ref{}},
	{name: "port", term: host.Port(math.MaxUint64)},
	{name: "bits", term: wire.NewBitstring([]byte{0xff, 0xe0}, 11)},
	{name: "whole bits", term: wire.NewBitstring([]byte{1, 2}, 16), back: []byte{1, 2}},
	{name: "export", term: wire.Export{Module: "lists", Function: "map", Arity: 2}},
	{name: "fun", term: wire.Fun{Module: "m", Arity: 255, Uniq: [16]byte{1, 15: 2}, Index: math.MaxUint32, OldIndex: -1,
		OldUniq: math.MinInt32,
		PID:     host.PID(1), Free: []any{1, wire.Tuple{wire.AtomOK}}}},
	{name: "fun of nothing", term: wire.Fun{Module: "m", PID: host.PID(1)}},
	{name: "empty list", term: wire.List{}, back: wire.List(nil)},
	{name: "list of nil", term: wire.List{nil}},
	{name: "list of nils", term: wire.List{nil, nil, 1}},
	{name: "list of tuple", term: wire.List{wire.Tuple{nil}, wire.List{nil}}},
	{name: "empty tuple", term: wire.Tuple{}},
	{name: "nil tuple", term: wire.Tuple(nil), back: wire.Tuple{}},
	{name: "tuple of nil", term: wire.Tuple{nil, nil}},
	{name: "improper", term: wire.ImproperList{Head: []any{1, 2}, Tail: wire.AtomOK}},
	{name: "improper nil head", term: wire.ImproperList{Head: []any{nil}, Tail: wire.Tuple{}}},
	{name: "improper of improper", term: wire.ImproperList{Head: []any{1}, Tail: wire.ImproperList{Head: []any{2}, Tail: 3}},
		back: wire.ImproperList{Head: []any{1, 2}, Tail: 3}},
	{name: "improper of list", term: wire.ImproperList{Head: []any{1}, Tail: wire.List{nil}}, back: wire.List{1, nil}},
	{name: "improper of nil", term: wire.ImproperList{Head: []any{nil}}, back: wire.List{nil}},
	{name: "improper of charlist", term: wire.ImproperList{Head: []any{1}, Tail: wire.Charlist("é")}, back: wire.List{1, 0xe9}},
	{name: "improper of no head", term: wire.ImproperList{Tail: 7}, back: 7},
	{name: "charlist", term: wire.Charlist("aж\U0010ffff"), back: wire.List{97, 0x436, 0x10ffff}},
	{name: "no charlist", term: wire.Charlist(""), back: wire.List(nil)},
	{name: "empty map", term: wire.Map{}},
	{name: "map", term: wire.NewMap(1, "a", wire.AtomOK, nil, nil, 1, wire.Tuple{1}, wire.NewMap(1, 2), "s", []byte("b"), 1.5,
		wire.List{})},
	{name: "invalid text", term: "\xff\x00"},
	{name: "time", term: time.Unix(1, 0)},
	{name: "time ns", term: time.Unix(1<<33, 999_999_999)},
	{name: "time early", term: time.Unix(-1, 5)},
}

func init() {
	add := func(name string, term any) {
		trips = append(trips, struct {
			name string
			term any
			back any
		}{name: name, term: term})
	}
	for _, n := range []int64{0, 1, 127, 128, 255, 256, 65535, 65536, math.MaxUint32, math.MaxUint32 + 1, math.MaxInt64,
		-1, -32, -33, -128, -129, -32768, -32769, math.MinInt32, math.MinInt32 - 1, math.MinInt64} {
		add(fmt.Sprintf("int %d", n), whole(n))
	}
	for _, n := range []int{0, 1, 31, 32, 255, 256, 65535, 65536, 100_000} {
		add(fmt.Sprintf("string of %d", n), strings.Repeat("x", n))
		add(fmt.Sprintf("binary of %d", n), bytes.Repeat([]byte{7}, n))
	}
	for _, n := range []int{13, 14, 15, 16, 255, 256, 65534, 65535, 65536} {
		l := make([]any, n)
		for i := range l {
			l[i] = i % 300
		}
		var m wire.Map
		for i := range l {
			m.Put(i, wire.AtomOK)
		}
		add(fmt.Sprintf("tuple of %d", n), wire.Tuple(l))
		add(fmt.Sprintf("list of %d", n), wire.List(l))
		add(fmt.Sprintf("improper list of %d", n), wire.ImproperList{Head: l, Tail: wire.AtomOK})
		add(fmt.Sprintf("map of %d", n), m)
	}
	for _, n := range []int{1, 2, 4, 8, 16, 3, 255} {
		add(fmt.Sprintf("atom of %d", n), wire.Atom(strings.Repeat("a", n)))
	}
}

// requireSame compares terms: Go types at the top, Equal below, where wire's
// table leaves no doubt.
func requireSame(t testing.TB, want, got any) {
	t.Helper()
	if f, ok := want.(float64); ok {
		require.Equal(t, math.Float64bits(f), math.Float64bits(got.(float64)))
		return
	}
	if m, ok := want.(wire.Map); ok {
		require.IsType(t, want, got)
		require.Equal(t, m.Len(), got.(wire.Map).Len())
		require.True(t, wire.Equal(want, got), "%v and %v", want, got)
		return
	}
	require.Equal(t, want, got)
}

func TestTrips(t *testing.T) {
	for _, c := range trips {
		t.Run(c.name, func(t *testing.T) {
			want := c.term
			if c.back != nil {
				want = c.back
			}
			for name, e := range map[string]*Encoder{"alone": {}, "cached": {Dict: &EncodeDict{}}} {
				d := Decoder{}
				if e.Dict != nil {
					d.Dict = &DecodeDict{}
				}
				passes := 1
				if e.Dict != nil {
					passes = 2 // the second time it is known
				}
				for range passes {
					b, err := e.Append([]byte("x"), c.term)
					require.NoError(t, err, name)
					got, rest, err := d.Term(append(b[1:len(b):len(b)], 1, 2))
					require.NoError(t, err, name)
					require.Equal(t, []byte{1, 2}, rest)
					requireSame(t, want, got)
					end, err := Skip(append(b[1:len(b):len(b)], 1, 2))
					require.NoError(t, err)
					require.Len(t, end, 2)
					segs, _, err := e.Segments(nil, nil, c.term)
					require.NoError(t, err)
					got, rest, err = d.Term(bytes.Join(segs, nil))
					require.NoError(t, err)
					require.Empty(t, rest)
					requireSame(t, want, got)
				}
			}
		})
	}
}

// TestSecondOpinion: where MessagePack has the type itself, msgp writes and
// reads the same bytes.
func TestSecondOpinion(t *testing.T) {
	for _, c := range trips {
		switch c.term.(type) {
		case nil, bool, string, []byte, float64, float32, time.Time, int, int8, int16, int32, int64, uint, uint8, uint16, uint32,
			uint64:
		default:
			continue
		}
		t.Run(c.name, func(t *testing.T) {
			ours, err := Append(nil, c.term)
			require.NoError(t, err)
			v, rest, err := msgp.ReadIntfBytes(ours)
			require.NoError(t, err)
			require.Empty(t, rest)
			if b, ok := c.term.([]byte); ok {
				require.Equal(t, string(b), string(v.([]byte)))
			}
			theirs, err := msgp.AppendIntf(nil, c.term)
			require.NoError(t, err)
			if _, ok := c.term.(time.Time); ok {
				theirs = msgp.AppendTimeExt(nil, c.term.(time.Time))
			}
			if _, _, ok := wire.AsIntOrUint(c.term); !ok {
				require.Equal(t, theirs, ours)
				return
			}
			require.LessOrEqual(t, len(ours), len(theirs), "the shortest form")
			same, _, err := Decode(theirs)
			require.NoError(t, err)
			back, _, err := Decode(ours)
			require.NoError(t, err)
			require.Equal(t, back, same)
		})
	}
}

// TestLibraryReadsCompounds: to a reader of plain MessagePack, a tuple is an array
// that begins with nil, a list and a map are what they seem.
func TestLibraryReadsCompounds(t *testing.T) {
	b, err := Append(nil, wire.Tuple{"a", wire.List{1, 2}, wire.NewMap("k", "v")})
	require.NoError(t, err)
	v, rest, err := msgp.ReadIntfBytes(b)
	require.NoError(t, err)
	require.Empty(t, rest)
	require.Equal(t, []any{nil, "a", []any{int64(1), int64(2)}, map[string]any{"k": "v"}}, v)
}

// TestForms: what others may write in a longer form than needed is read.
func TestForms(t *testing.T) {
	for in, want := range map[string]any{
		"\xd1\x00\x05":                             5,
		"\xcf\x00\x00\x00\x00\x00\x00\x00\x05":     5,
		"\xd3\xff\xff\xff\xff\xff\xff\xff\xff":     -1,
		"\xc6\x00\x00\x00\x01a":                    []byte("a"),
		"\xdb\x00\x00\x00\x01a":                    "a",
		"\xdd\x00\x00\x00\x02\xc0\x01":             wire.Tuple{1},
		"\xdf\x00\x00\x00\x00":                     wire.Map{},
		"\xc7\x02\x01ok":                           wire.AtomOK,
		"\xc8\x00\x02\x01ok":                       wire.AtomOK,
		"\xc9\x00\x00\x00\x02\x01ok":               wire.AtomOK,
		"\xd7\xff\x00\x00\x00\x00\x00\x00\x00\x01": time.Unix(1, 0),
	} {
		got, rest, err := Decode([]byte(in))
		require.NoError(t, err, "%x", in)
		require.Empty(t, rest)
		require.Equal(t, want, got)
	}
}

// TestGolden: the bytes of every kind of term, alone.
func TestGolden(t *testing.T) {
	var text strings.Builder
	e := Encoder{Types: types(t)}
	for _, c := range trips {
		b, err := e.Append(nil, c.term)
		require.NoError(t, err)
		if len(b) <= 300 {
			fmt.Fprintf(&text, "%s\t%x\n", c.name, b)
		}
	}
	for _, v := range []any{order, &order, (*Order)(nil), Money(5), Envelope{Any: order}} {
		b, err := e.Append(nil, v)
		require.NoError(t, err)
		fmt.Fprintf(&text, "%T\t%x\n", v, b)
	}
	const file = "testdata/golden.txt"
	if *update {
		require.NoError(t, os.WriteFile(file, []byte(text.String()), 0o644))
	}
	want, err := os.ReadFile(file)
	require.NoError(t, err)
	lines := strings.Split(text.String(), "\n")
	require.Len(t, strings.Split(string(want), "\n"), len(lines))
	for i, line := range strings.Split(string(want), "\n") {
		require.Equal(t, line, lines[i])
	}
}

func TestRandomTrips(t *testing.T) {
	g := termtest.New(t)
	limits := Limits{LargeKeys: 32} // the generator knows no such limit
	e, d := Encoder{Dict: &EncodeDict{}, LargeKeys: 32}, Decoder{Dict: &DecodeDict{}, Limits: limits}
	alone := Encoder{LargeKeys: 32}
	for i := range 3000 {
		g.Spell = i%2 == 1
		x := g.Term(g.IntN(5))
		b, err := e.Append(nil, x)
		require.NoError(t, err)
		if i%3 == 0 {
			e.Dict.Commit()
		}
		y, rest, err := d.Term(b)
		require.NoError(t, err)
		require.Empty(t, rest)
		require.True(t, wire.Equal(x, y), "%v came back as %v", x, y)
		b, err = alone.Append(nil, y)
		require.NoError(t, err)
		z, _, err := (&Decoder{Limits: limits}).Term(b)
		require.NoError(t, err)
		require.True(t, wire.Equal(x, z), "%v came back as %v", x, z)
	}
}
