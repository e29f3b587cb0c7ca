package etfcodec

import (
	"bytes"
	"encoding/hex"
	"errors"
	"fmt"
	"math"
	"math/big"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/internal/testkit/erltest"
	"github.com/actornode/actornode/wire"
)

// plain writes terms without guessing what is text.
var plain = wire.Formatter{Plain: true}

func bigInt(t *testing.T, x any) *big.Int {
	t.Helper()
	n, ok := x.(*big.Int)
	require.True(t, ok, "%T", x)
	return n
}

func power(n uint) *big.Int { return new(big.Int).Lsh(big.NewInt(1), n) }

func ints(n int) []any {
	l := make([]any, n)
	for i := range l {
		l[i] = i
	}
	return l
}

// whole returns n as decoders do: as an int if it fits one here.
func whole(n int64) any { return wire.IntegerOf(big.NewInt(n)) }

var erl = wire.NewOrigin(wire.NodeID{Name: "a@h", Creation: 0x01020304})

// trips holds a term for every tag and every size at which the tag changes, and the first bytes behind the version.
var trips = []struct {
	term any
	head string
}{
	{0, "6100"}, {255, "61ff"}, {256, "6200000100"}, {-1, "62ffffffff"},
	{math.MaxInt32, "627fffffff"}, {math.MinInt32, "6280000000"},
	{whole(math.MaxInt32 + 1), "6e040000000080"}, {whole(math.MinInt32 - 1), "6e040101000080"},
	{whole(math.MaxInt64), "6e0800ffffffffffffff7f"}, {whole(math.MinInt64), "6e08010000000000000080"},
	{power(63), "6e08000000000000000080"}, {power(64), "6e0900000000000000000001"},
	{new(big.Int).Sub(power(2040), big.NewInt(1)), "6eff00ffff"}, {power(2040), "6f000001000000"},
	{power(2000), "6efb0000"}, {new(big.Int).Neg(power(2000)), "6efb0100"}, {new(big.Int).Neg(power(20000)), "6f000009c501"},
	{1.5, "463ff8000000000000"}, {0.0, "460000000000000000"}, {math.Copysign(0, -1), "468000000000000000"},
	{math.MaxFloat64, "467fefffffffffffff"}, {math.SmallestNonzeroFloat64, "460000000000000001"},
	{wire.Atom(""), "7700"}, {wire.AtomOK, "77026f6b"}, {wire.Atom("é"), "7702c3a9"}, {wire.Atom("ж"), "7702d0b6"},
	{wire.Atom(strings.Repeat("a", 255)), "77ff6161"}, {wire.Atom(strings.Repeat("ж", 127)), "77fed0b6"},
	{wire.Atom(strings.Repeat("ж", 128)), "760100d0b6"}, {wire.Atom(strings.Repeat("\U0010ffff", 255)), "7603fcf48fbfbf"},
	{wire.Tuple{}, "6800"}, {wire.Tuple{1}, "68016101"}, {wire.Tuple(ints(255)), "68ff6100"},
	{wire.Tuple(ints(256)), "690000010061006101"},
	{wire.List(nil), "6a"}, {wire.List{wire.List(nil)}, "6c000000016a6a"},
	{wire.List{1, 2}, "6b00020102"}, {wire.List{1, 256}, "6c00000002610162000001006a"}, {wire.List{-1}, "6c0000000162ffffffff6a"},
	{wire.Charlist(strings.Repeat("a", 65_535)).List(), "6bffff6161"},
	{wire.Charlist(strings.Repeat("a", 65_536)).List(), "6c0001000061616161"},
	{wire.ImproperList{Head: []any{1}, Tail: 2}, "6c0000000161016102"},
	{wire.ImproperList{Head: []any{wire.Atom("alias")}, Tail: erl.Ref(1, 2, 3)}, "6c0000000177"},
	{wire.ImproperList{Head: []any{1}, Tail: wire.Tuple{wire.ImproperList{Head: []any{2}, Tail: []byte{}}}}, "6c0000000161016801"},
	{[]byte{}, "6d00000000"}, {[]byte("abc"), "6d00000003616263"}, {bytes.Repeat([]byte("x"), 1<<20), "6d001000007878"},
	{wire.NewBitstring([]byte{0xff}, 1), "4d000000010180"}, {wire.NewBitstring([]byte{1, 2, 0xff}, 23), "4d00000003070102fe"},
	{wire.Map{}, "7400000000"}, {wire.NewMap(wire.Atom("a"), 1, "b", 2.5), "740000000277016161016d0000000162464004"},
	{erl.PID(7<<32 | 9), "5877036140680000000900000007" + "01020304"},
	{erl.PID(math.MaxUint64), "587703614068ffffffffffffffff01020304"},
	{erl.Port(9), "597703614068" + "0000000901020304"}, {erl.Port(1<<28 - 1), "5977036140680fffffff"},
	{erl.Port(1 << 28), "787703614068000000001000000001020304"},
	{erl.Port(math.MaxUint64), "787703614068ffffffffffffffff"},
	{erl.Ref(1), "5a0001770361406801020304" + "00000001"},
	{erl.Ref(1, 2, 3, 4, 5), "5a0005770361406801020304000000010000000200000003"},
	{wire.Export{Module: "lists", Function: "map", Arity: 2}, "7177056c6973747377036d61706102"},
	{wire.Export{Module: "m", Function: "f", Arity: 255}, "7177016d77016661ff"},
	{wire.Fun{Arity: 1, Uniq: [16]byte{15: 0xee}, Index: 3, Module: "m", OldIndex: 300, OldUniq: -5, PID: erl.PID(1)},
		"70" + "0000003c" + "01" + "000000000000000000000000000000ee" + "00000003" + "00000000" + "77016d" + "620000012c" + "62fffffffb" + "58"},
	{wire.Fun{Arity: 255, Module: "m", PID: erl.PID(1), Free: []any{wire.Tuple{1, []byte("x")}, wire.NewMap(1, wire.List{2})}},
		"70"},
}

// TestRoundTrip covers every tag that is written and every size that matters.
func TestRoundTrip(t *testing.T) {
	var d Decoder
	for _, c := range trips {
		name := fmt.Sprintf("%T %.60s", c.term, wire.Format(c.term))
		b, err := Append([]byte("x"), c.term)
		require.NoError(t, err, name)
		got := hex.EncodeToString(b[:min(len(b), len(c.head))])
		require.True(t, strings.HasPrefix(got, "7883"+c.head[:min(len(c.head), len(got)-4)]), "%s: %s, not 83%s", name, got[2:], c.head)
		for _, one := range []func([]byte) (any, []byte, error){d.Decode, Decode,
			func(b []byte) (any, []byte, error) { return d.DecodeBare(b[1:]) }} {
			term, rest, err := one(append(b[1:], "rest"...))
			require.NoError(t, err, name)
			require.Equal(t, "rest", string(rest), name)
			require.True(t, wire.Equal(c.term, term), "%s became %.60s", name, wire.Format(term))
			require.IsType(t, c.term, term, name)
			requirePlain(t, term)
		}
		rest, err := Skip(append(b[2:], "rest"...))
		require.NoError(t, err, name)
		require.Equal(t, "rest", string(rest), name)
	}
}

// TestFunsStayWhole compares every field: Equal does not look at all of them.
func TestFunsStayWhole(t *testing.T) {
	for _, c := range trips {
		if f, ok := c.term.(wire.Fun); ok {
			b, err := Append(nil, f)
			require.NoError(t, err)
			back, _, err := Decode(b)
			require.NoError(t, err)
			require.Equal(t, plain.Format(f.Free), plain.Format(back.(wire.Fun).Free))
			g := back.(wire.Fun)
			f.Free, g.Free = nil, nil
			require.Equal(t, f, g)
		}
	}
}

// TestDecodeOld reads forms that are no longer written, and spellings nobody writes.
func TestDecodeOld(t *testing.T) {
	old := wire.NewOrigin(wire.NodeID{Name: "a@h", Creation: 3})
	float := hex.EncodeToString([]byte("1.50000000000000000000e+00\x00\x00\x00\x00\x00"))
	for text, want := range map[string]any{
		"640002c3a9": wire.Atom("Ã©"),
		"6400026f6b": wire.AtomOK,
		"730101":     wire.Atom("\x01"),
		"7301e9":     wire.Atom("é"),
		"63" + float: 1.5,
		"67" + "6400036140680000000900000007" + "03":               old.PID(7<<32 | 9),
		"66" + "64000361406800000009" + "03":                       old.Port(9),
		"65" + "64000361406800000009" + "03":                       old.Ref(9),
		"72" + "0002" + "640003614068" + "03" + "0000000100000002": old.Ref(1, 2),
		"6e0000":                               0,
		"6e0b010700000000000000000000":         -7,
		"6e01ff07":                             -7,
		"6f00000001017f":                       -127,
		"6900000000":                           wire.Tuple{},
		"6b0000":                               wire.List(nil),
		"6c000000006a":                         wire.List(nil),
		"6c000000006101":                       1, // [] | 1
		"6c0000000161016c0000000161026a":       wire.List{1, 2},
		"6c0000000161016c000000026102610361ff": wire.ImproperList{Head: []any{1, 2, 3}, Tail: 255},
		"6c0000000161016b00020203":             wire.List{1, 2, 3},
		"6c0000000161016b0000":                 wire.List{1},
		"6c0000000161016c000000006a":           wire.List{1},
		"6c000000006c000000006b000141":         wire.List{65},
		"6c000000006c0000000161016102":         wire.ImproperList{Head: []any{1}, Tail: 2},
		"6c000000006c00000002610161026103":     wire.ImproperList{Head: []any{1, 2}, Tail: 3},
		"6c0000000161016c0000000068016102":     wire.ImproperList{Head: []any{1}, Tail: wire.Tuple{2}},
		"4d000000010880":                       []byte{0x80},
		"4d0000000000":                         []byte{},
		"4d0000000101ff":                       wire.NewBitstring([]byte{0x80}, 1),
		"71640001616400016262000000ff":         wire.Export{Module: "a", Function: "b", Arity: 255},
	} {
		b, err := hex.DecodeString(text)
		require.NoError(t, err)
		got, rest, err := new(Decoder).DecodeBare(b)
		require.NoError(t, err, text)
		require.Empty(t, rest, text)
		require.True(t, wire.Equal(want, got), "%s is %s, not %s", text, wire.Format(got), wire.Format(want))
		requirePlain(t, got)
		rest, err = Skip(b)
		require.NoError(t, err, text)
		require.Empty(t, rest, text)
	}
}

func TestDecodeRefuses(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"", "offset 0: expected 1 bytes of a term, but 0 are left"},
		{"83", "offset 0: expected the tag of a term, not tag 131 (the version byte)"},
		{"79", "tag 121 (LOCAL_EXT, which only its own node can read)"},
		{"75", "tag 117 (FUN_EXT, gone since OTP 23)"},
		{"50", "offset 0: a compressed term inside another or behind a distribution header"},
		{"68025061", "offset 2: a compressed term"},
		{"680161", "offset 3: expected 1 bytes of a small integer, but 0 are left"},
		{"6802610100", "offset 4: expected the tag of a term, not tag 0"},
		{"5200", "offset 0: no atom is known for the cache reference 0"},
		{"7702c3", "expected 2 bytes of an atom, but 1 are left"},
		{"7702c328", "offset 0: an atom that is not UTF-8 of at most 255 characters"},
		{"760100" + strings.Repeat("61", 256), "an atom that is not UTF-8 of at most 255"},
		{"640100" + strings.Repeat("e9", 256), "an atom that is not UTF-8 of at most 255"},
		{"76ffff", "offset 0: an atom of 65535 bytes: at most 255 characters are allowed"},
		{"467ff0000000000000", "a float that is not finite"},
		{"467ff8000000000001", "a float that is not finite"},
		{"63" + hex.EncodeToString([]byte("inf"+strings.Repeat("\x00", 28))), "a float spelled"},
		{"63" + hex.EncodeToString([]byte("0x1p4"+strings.Repeat("\x00", 26))), "a float spelled"},
		{"63" + strings.Repeat("00", 31), "a float spelled"},
		{"63" + hex.EncodeToString([]byte("1e999"+strings.Repeat("\x00", 26))), "a float spelled"},
		{"4d000000010900", "9 bits in the last of the 1 bytes"},
		{"4d000000010000", "0 bits in the last of the 1 bytes"},
		{"4d0000000001", "1 bits in the last of the 0 bytes"},
		{"5a0000770161" + "00000001", "a reference of 0 words"},
		{"5a0006770161" + "00000001", "a reference of 6 words"},
		{"58610100000000", "offset 1: expected the atom of a node's name, not tag 97"},
		{"7177016177016b6802", "expected the arity of an export, not tag 104"},
		{"71770161770162620000ffff", "the arity of an export is 65535, not in 0 to 255"},
		{"7400000002610161016101" + "6102", "offset 13: a map has a key twice"},
		{"7000000003", "a fun of 3 bytes"},
		{"70ffffffff", "a fun of 4294967291 bytes, but 0 bytes are left"},
		{"6cffffffff", "length 4294967295 of a list, but 0 bytes are left"},
		{"69000000046101", "length 4 of a tuple, but 2 bytes are left"},
		{"6c00000003610161026a", "expected 1 bytes of the tail of a list, but 0 are left"},
		{"6c0000000161016d00000001", "length 1 of a binary, but 0 bytes are left"},
		{"680369000000026101", "with 2 terms to follow"},
	} {
		b, err := hex.DecodeString(c.text)
		require.NoError(t, err)
		term, rest, err := new(Decoder).DecodeBare(b)
		require.ErrorContains(t, err, c.want, c.text)
		require.True(t, errors.Is(err, ErrCut) || errors.Is(err, ErrMalformed), "%v", err)
		require.Nil(t, term)
		require.Equal(t, b, rest)
	}
	_, _, err := Decode(nil)
	require.ErrorIs(t, err, ErrCut)
	_, _, err = Decode([]byte{130, 106})
	require.EqualError(t, err, "etf: offset 0: expected the version byte 131, not 130")
	require.ErrorIs(t, err, ErrMalformed)
}

// aFun has a wrong size if n is not 0.
func aFun(t *testing.T, n int) []byte {
	b, err := Append(nil, wire.Fun{Module: "m", PID: erl.PID(1), Free: []any{1, 2}})
	require.NoError(t, err)
	b[5] += byte(n)
	return b
}

func TestFunSize(t *testing.T) {
	_, _, err := Decode(aFun(t, 0))
	require.NoError(t, err)
	_, _, err = Decode(aFun(t, -1))
	require.ErrorContains(t, err, "expected the fun to end at offset")
	require.ErrorIs(t, err, ErrMalformed)
	_, _, err = Decode(aFun(t, 1))
	require.ErrorIs(t, err, ErrCut)
}

// everything returns a term with all tags in it that are written.
func everything() wire.Tuple {
	var all wire.Tuple
	for _, c := range trips {
		if b, err := Append(nil, c.term); err == nil && len(b) < 200 {
			all = append(all, c.term)
		}
	}
	return all
}

// TestCutEverywhere checks that a prefix of a term is never a term, and is reported as cut.
func TestCutEverywhere(t *testing.T) {
	b, err := Append(nil, everything())
	require.NoError(t, err)
	packed, err := AppendCompressed(nil, everything())
	require.NoError(t, err)
	require.Less(t, len(packed), len(b))
	var d Decoder
	for _, b := range [][]byte{b, packed} {
		for n := range b {
			_, _, err := d.Decode(b[:n:n])
			require.ErrorIs(t, err, ErrCut, "%d of %d bytes", n, len(b))
		}
	}
	for n := range b[1:] {
		_, err := Skip(b[1 : 1+n : 1+n])
		require.ErrorIs(t, err, ErrCut, "%d of %d bytes", n, len(b))
	}
}

// TestFlipEveryByte decodes terms with each byte set to every other value. If the result is still a term, it must
// survive another round.
func TestFlipEveryByte(t *testing.T) {
	var o *oracle
	if erltest.Has() {
		o = erlang(t)
	}
	var d Decoder
	var accepted, refused [][]byte
	for _, c := range trips {
		b, err := Append(nil, c.term)
		require.NoError(t, err)
		if len(b) > 100 {
			continue
		}
		for i := range b {
			good := b[i]
			for x := range 256 {
				b[i] = byte(x)
				term, rest, err := d.Decode(b)
				if err != nil {
					if o != nil && x%16 == 1 {
						refused = append(refused, bytes.Clone(b))
					}
					continue
				}
				requireStable(t, term)
				if o != nil && x%16 == 1 {
					accepted = append(accepted, bytes.Clone(b[:len(b)-len(rest)]))
				}
			}
			b[i] = good
		}
	}
	if o == nil {
		return
	}
	if o.release != 25 {
		t.Skipf("OTP %d is not known to accept what OTP 25 does", o.release)
	}
	for _, b := range accepted {
		_, err := o.ask('?', b)
		require.NoError(t, err, "we accept what Erlang refuses: %x", b)
	}
	for _, b := range refused {
		if _, err := o.ask('?', b); err == nil {
			_, _, err = Decode(b) // Erlang looks neither at the size of a fun nor at the type of its creator
			require.Regexp(t, "a fun of|a fun's creator|as its size says", err, "we refuse what Erlang accepts: %x", b)
		}
	}
}

// requireStable encodes and decodes a term that came in.
func requireStable(t testing.TB, term any) []byte {
	b, err := Append(nil, term)
	require.NoError(t, err, "%#v", term)
	back, rest, err := Decode(b)
	require.NoError(t, err, "%x", b)
	require.Empty(t, rest)
	require.True(t, wire.Equal(term, back), "%s\n%s", plain.Format(term), plain.Format(back))
	rest, err = Skip(b[1:])
	require.NoError(t, err)
	require.Empty(t, rest)
	return b
}

// allocated returns how many bytes f allocates.
func allocated(f func()) uint64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	f()
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}

// TestLengthBombs checks that false lengths cost nothing.
func TestLengthBombs(t *testing.T) {
	const huge = "7fffffff"
	heads := []string{"69" + huge, "6c" + huge, "6d" + huge, "4d" + huge + "01", "6f" + huge + "00", "74" + huge, "70" + huge,
		"6bffff",
		"70" + "00000029" + strings.Repeat("00", 21) + huge + "77016d61006100", "50" + huge + "789c", "50" + "00100000" + "789c4b04"}
	var d Decoder
	for _, h := range heads {
		b, err := hex.DecodeString("83" + h)
		require.NoError(t, err)
		for _, behind := range []int{0, 64} {
			b := append(b, make([]byte, behind)...)
			var err error
			n := allocated(func() { _, _, err = d.Decode(b) })
			require.Error(t, err, h)
			require.Less(t, n, uint64(100_000), "%s: %v", h, err)
		}
	}
	// Each list claims all the bytes that are left: the slots of all of them together must not take more than 16 bytes
	// for each byte.
	const size = 100_000
	for _, tag := range []byte{tagList, tagLargeTuple, tagMap} {
		b := []byte{Version}
		for left := size; left > 0; left -= 5 {
			n := left - 6
			if tag == tagMap {
				n /= 2
			}
			b = append(b, tag, byte(n>>24), byte(n>>16), byte(n>>8), byte(n))
		}
		var err error
		n := allocated(func() { _, _, err = d.Decode(b) })
		require.ErrorIs(t, err, ErrCut)
		require.Less(t, n, uint64(40*size))
	}
	// Lists in the tails of lists are one list, made in time and memory proportional to its length.
	b := bytes.Repeat([]byte{tagList, 0, 0, 0, 1, tagNil}, 200_000)
	n := allocated(func() {
		term, _, err := d.DecodeBare(append(b, tagNil))
		require.NoError(t, err)
		require.Len(t, term, 200_000)
	})
	require.Less(t, n, uint64(200_000*16*8))
}

// TestDepth checks that a term 10,000 deep makes the round; one a million deep is refused, and neither side fails at it
// if it is allowed.
func TestDepth(t *testing.T) {
	nested := func(open, end string, n int) []byte {
		b, err := hex.DecodeString(strings.Repeat(open, n) + "6a" + strings.Repeat(end, n))
		require.NoError(t, err)
		return b
	}
	for _, s := range []struct{ open, end string }{{"6801", ""}, {"6c00000001", "6a"}, {"74000000016101", ""}} {
		b := nested(s.open, s.end, 10_000)
		term, _, err := new(Decoder).DecodeBare(b)
		require.NoError(t, err)
		back, err := AppendBare(nil, term)
		require.NoError(t, err)
		require.True(t, bytes.Equal(b, back))

		b = nested(s.open, s.end, 1_000_000)
		_, _, err = new(Decoder).DecodeBare(b)
		require.ErrorIs(t, err, ErrLimit)
		rest, err := Skip(b)
		require.NoError(t, err)
		require.Empty(t, rest)
	}
	b := nested("6801", "", 1_000_000)
	d, e := Decoder{Limits: Limits{Depth: 1_000_000}}, Encoder{Depth: 1_000_000}
	term, _, err := d.DecodeBare(b)
	require.NoError(t, err)
	_, err = AppendBare(nil, term)
	require.ErrorIs(t, err, ErrLimit)
	require.Less(t, len(err.Error()), 1000)
	back, err := e.AppendBare(nil, term)
	require.NoError(t, err)
	require.True(t, bytes.Equal(b, back))

	b = nested("6c000000016a", "", 1_000_000) // [[]|[[]|…]] is no deeper than a list
	term, _, err = new(Decoder).DecodeBare(b)
	require.NoError(t, err)
	require.Len(t, term, 1_000_000)
}

func TestElements(t *testing.T) {
	d := Decoder{Limits: Limits{Elements: 10}}
	for _, s := range []any{wire.Tuple(ints(11)), wire.List(ints(11)), wire.Tuple{wire.List(ints(9)), 1},
		wire.Tuple{wire.NewMap(1, 2, 3, 4, 5, 6, 7, 8, 9, 10)},
		wire.List{wire.ImproperList{Head: ints(9), Tail: wire.Tuple{1}}}} {
		b, err := Append(nil, s)
		require.NoError(t, err)
		_, _, err = d.Decode(b)
		require.ErrorIs(t, err, ErrLimit)
	}
	b, err := Append(nil, wire.Tuple{wire.List(ints(7)), 1})
	require.NoError(t, err)
	_, _, err = d.Decode(b)
	require.NoError(t, err)
}

func TestInflated(t *testing.T) {
	d := Decoder{Limits: Limits{Inflated: 1000}}
	for n, want := range map[int]error{995: nil, 996: ErrLimit} {
		b, err := AppendCompressed(nil, make([]byte, n))
		require.NoError(t, err)
		_, _, err = d.Decode(b)
		require.ErrorIs(t, err, want)
	}
}

func TestCompressed(t *testing.T) {
	b, err := AppendCompressed(nil, wire.AtomOK)
	require.NoError(t, err)
	require.Equal(t, "837702"+"6f6b", hex.EncodeToString(b), "no shorter when compressed")
	long := wire.List{bytes.Repeat([]byte("abc"), 1000)}
	b, err = AppendCompressed([]byte("x"), long)
	require.NoError(t, err)
	require.Less(t, len(b), 100)
	got, rest, err := Decode(append(b[1:], "rest"...))
	require.NoError(t, err)
	require.Equal(t, "rest", string(rest))
	require.True(t, wire.Equal(long, got))
	b[6]++
	_, _, err = Decode(b[1:])
	require.ErrorContains(t, err, "the bytes do not inflate to it")
	b[6] -= 2
	_, _, err = Decode(b[1:])
	require.ErrorIs(t, err, ErrMalformed)
	b[6]++
	b[len(b)-1]++
	_, _, err = Decode(b[1:])
	require.ErrorContains(t, err, "checksum")
	_, err = new(Encoder).AppendCompressed(nil, wire.AtomOK, 77)
	require.Error(t, err)
}

func TestMapOfTenThousand(t *testing.T) {
	var m wire.Map
	for i := range 10_000 {
		m.Put(wire.Tuple{i, []byte(fmt.Sprint(i))}, wire.NewMap(i, i))
	}
	requireStable(t, m)
}

func TestAtomCache(t *testing.T) {
	known := []wire.Atom{"", "rex", "a@h"}
	e := Encoder{Atoms: func(a wire.Atom) (byte, bool) {
		for i, k := range known {
			if a == k {
				return byte(i), true
			}
		}
		return 0, false
	}}
	msg := wire.Tuple{6, erl.PID(1), wire.Atom(""), wire.Atom("rex"), wire.AtomOK}
	b, err := e.AppendBare(nil, msg)
	require.NoError(t, err)
	require.Equal(t, "68056106"+"585202000000010000000001020304"+"52005201"+"77026f6b", hex.EncodeToString(b))
	d := Decoder{Atoms: func(i byte) (any, bool) {
		if int(i) < len(known) {
			return known[i], true
		}
		return nil, false
	}}
	got, rest, err := d.DecodeBare(b)
	require.NoError(t, err)
	require.Empty(t, rest)
	require.Equal(t, any(msg), got)
	rest, err = Skip(b)
	require.NoError(t, err)
	require.Empty(t, rest)
	_, _, err = d.DecodeBare([]byte{tagAtomCacheRef, 3})
	require.ErrorIs(t, err, ErrMalformed)
}

// TestManyNames sends more atoms and nodes than a Decoder remembers.
func TestManyNames(t *testing.T) {
	var d Decoder
	for round := range 2 {
		for i := range 2000 {
			o := wire.NewOrigin(wire.NodeID{Name: wire.Atom(fmt.Sprintf("n%d@h", i/3)), Creation: uint32(i % 3)})
			msg := wire.Tuple{o.PID(uint64(i)), o.Port(1), o.Ref(1, 2), wire.Atom(fmt.Sprint(i)), wire.Atom("")}
			b, err := Append(nil, msg)
			require.NoError(t, err)
			got, _, err := d.Decode(b)
			require.NoError(t, err)
			require.Equal(t, any(msg), got, "round %d", round)
		}
	}
}

// TestNoSharing checks that a decoded term does not change with the bytes it came from.
func TestNoSharing(t *testing.T) {
	b, err := Append(nil, everything())
	require.NoError(t, err)
	term, _, err := Decode(b)
	require.NoError(t, err)
	clear(b)
	require.True(t, wire.Equal(everything(), term))
}

func TestAllocations(t *testing.T) {
	needJoined(t)
	low, high := seedLow, seedHigh
	defer func() { seedLow, seedHigh = low, high }()
	seedLow, seedHigh = 0x9e3779b97f4a7c15, 0xbf58476d1ce4e5b9 // with any seeds, five names share a row of four now and then
	var d Decoder
	var e Encoder
	for _, s := range samples() {
		b, err := e.Append(nil, s.term)
		require.NoError(t, err)
		n := testing.AllocsPerRun(100, func() { _, _, _ = d.Decode(b) })
		require.LessOrEqual(t, int(n), s.budget, "decode %s", s.name)
		n = testing.AllocsPerRun(100, func() { b, _ = e.Append(b[:0], s.term) })
		require.LessOrEqual(t, int(n), strings.Count(wire.Format(s.term), "#Ref"), "encode %s", s.name)
		n = testing.AllocsPerRun(100, func() { _, _ = Skip(b[1:]) })
		require.Zero(t, n, "skip %s", s.name)
	}
}
