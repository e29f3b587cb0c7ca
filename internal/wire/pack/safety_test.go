package pack

import (
	"bytes"
	"encoding/binary"
	"errors"
	"math"
	"runtime"
	"strings"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/internal/testkit"
	"github.com/actornode/actornode/wire"
)

// all is a term of every kind, in which nothing is long.
var all = wire.Tuple{wire.AtomOK, 5, -500, whole(1 << 40), 0.5, "text", []byte("data"), true, nil, host.PID(7), other.PID(1 << 60),
	host.Ref(1, 2, 3),
	host.Port(9), shift(70), wire.NewBitstring([]byte{0xe0}, 3), wire.List{nil, wire.AtomOK}, wire.ImproperList{Head: []any{1}, Tail: 2},
	wire.NewMap(1, wire.Tuple{}, wire.AtomOK, wire.List{1}), wire.Fun{Module: "m", PID: host.PID(1), Free: []any{1}},
	wire.Export{Module: "m", Function: "f", Arity: 2}, Envelope{Any: wire.Tuple{wire.AtomOK, Money(5)}, Many: []any{nil, 1}},
	Order{ID: 1}}

// sides are decoders that know and do not know types, and those that alias.
func sides(t testing.TB) []*Decoder {
	return []*Decoder{{Dict: &DecodeDict{}, Types: types(t)}, {Dict: &DecodeDict{}}, {}, {Dict: &DecodeDict{}, Alias: true},
		{Erlang: true}}
}

func encoded(t testing.TB) [][]byte {
	e := Encoder{Dict: &EncodeDict{}, Types: types(t)}
	alone := Encoder{Types: e.Types}
	a, err := alone.Append(nil, all)
	require.NoError(t, err)
	b, err := e.Append(nil, all)
	require.NoError(t, err)
	return [][]byte{a, b}
}

// TestCut: a term that is cut off is ErrCut at every byte, and never anything
// else.
func TestCut(t *testing.T) {
	for _, b := range encoded(t) {
		for i := range b {
			for _, d := range sides(t) {
				_, rest, err := d.Term(b[:i:i])
				require.Error(t, err)
				require.Len(t, rest, i)
				if d.Dict != nil {
					require.ErrorIs(t, err, ErrCut, "%d of %d", i, len(b))
					require.ErrorContains(t, err, "pack: offset ")
				}
			}
			_, err := Skip(b[:i:i])
			require.ErrorIs(t, err, ErrCut)
		}
	}
}

// TestLengths: a length beyond the bytes that are left is refused where it stands; those before it do not count.
func TestLengths(t *testing.T) {
	for in, what := range map[string]string{"\xc5\x00\x03ab": "a binary", "\xda\x00\x03ab": "a string", "\xdc\x00\x03\x01\x01": "an array",
		"\xde\x00\x03\x01\x01": "a map", "\xc8\x00\x03\x01a": "an extension"} {
		_, _, err := Decode([]byte(in))
		require.ErrorIs(t, err, ErrCut)
		require.ErrorContains(t, err, "offset 1: length 3 of "+what+", but 2 bytes are left")
	}
}

// TestFlipped: whatever one byte is changed to, bit by bit and to what means most,
// there is a term or an error.
func TestFlipped(t *testing.T) {
	decoders := sides(t)
	for _, b := range encoded(t) {
		b := bytes.Clone(b)
		for i, old := range b {
			for k, x := range []byte{old ^ 1, old ^ 2, old ^ 4, old ^ 8, old ^ 16, old ^ 32, old ^ 64, old ^ 128, old + 1, old - 1,
				0, 0xff, fixMap + 1, fixArray, fixArray + 2, fixStr + 1, tagNil, tagUnused, tagExt8, tagFixExt1, tagArray32, tagMap32} {
				if testkit.At() == testkit.Test && (i+k)%4 != 0 {
					continue // the rest is for make merge
				}
				b[i] = x
				for _, d := range decoders {
					checkDecode(t, d, b)
				}
			}
			b[i] = old
		}
	}
}

// checkDecode decodes, and writes again what is a term.
func checkDecode(t testing.TB, d *Decoder, b []byte) {
	v, rest, err := d.Term(b)
	if err != nil {
		placed := strings.HasPrefix(err.Error(), "pack: offset ") || d.Strict && errors.Is(err, ErrShape)
		if v != nil || len(rest) != len(b) || !placed {
			require.Fail(t, "bad error", "%v %d %v", v, len(rest), err)
		}
		return
	}
	left, err := Skip(b)
	require.NoError(t, err)
	require.Len(t, left, len(rest))
	e := Encoder{Types: d.Types, Erlang: d.Erlang, LargeKeys: d.Limits.LargeKeys}
	again, err := e.Append(nil, v)
	require.NoError(t, err)
	back, rest, err := (&Decoder{Types: d.Types, Limits: d.Limits, Erlang: d.Erlang}).Term(again)
	require.NoError(t, err)
	require.Empty(t, rest)
	if d.Types == nil && !strings.Contains(wire.Format(v), "NaN") {
		require.True(t, wire.Equal(v, back) || hasForeign(b), "%v and %v", v, back)
	}
}

// hasForeign reports whether a timestamp may be in b: a foreign value, that is
// equal to none of another place in memory.
func hasForeign(b []byte) bool { return bytes.IndexByte(b, 0xff) >= 0 }

func TestBombs(t *testing.T) {
	u32 := func(n uint32) string { return string(binary.BigEndian.AppendUint32(nil, n)) }
	for name, in := range map[string]string{
		"array":  "\xdd" + u32(1<<32-1) + "\x01",
		"tuple":  "\xdd" + u32(1<<32-1) + "\xc0",
		"map":    "\xdf" + u32(1<<32-1) + "\x01",
		"map 2":  "\xdf" + u32(1<<31) + "\x01",
		"binary": "\xc6" + u32(1<<32-1) + "\x01",
		"string": "\xdb" + u32(1<<32-1) + "\x01",
		"ext":    "\xc9" + u32(1<<32-1) + "\x01\x01",
		"big":    "\xc9" + u32(1<<32-1) + "\x07\x01",
		"nested": strings.Repeat("\xdd\x00\x00\x10\x00", 1000),
		"value":  "\x93\xd4\x09\x04\xc7\x0a\x01shop.Order\x81\xa5Items\xdd" + u32(1<<32-1),
		"raw":    "\x93\xd4\x09\x04\xc7\x0a\x01shop.Order\x81\xa3Raw\xc6" + u32(1<<32-1),
		"term":   "\xc9" + u32(1<<32-1) + "\x77\x01",
	} {
		t.Run(name, func(t *testing.T) {
			for _, d := range sides(t) {
				var before, after runtime.MemStats
				runtime.ReadMemStats(&before)
				_, _, err := d.Term([]byte(in))
				runtime.ReadMemStats(&after)
				require.ErrorIs(t, err, ErrCut)
				require.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(1<<20))
			}
			_, err := Skip([]byte(in))
			require.ErrorIs(t, err, ErrCut)
		})
	}
}

// TestAllocation: the most costly bytes cost no more memory than doc.go says.
func TestAllocation(t *testing.T) {
	const n = 100_000
	var m wire.Map
	for i := range n {
		m.Put(i, nil)
	}
	large, err := Append(nil, m)
	require.NoError(t, err)
	for name, in := range map[string][]byte{
		"nils":   append(binary.BigEndian.AppendUint32([]byte{tagArray32}, n), bytes.Repeat([]byte{tagNil}, n)...),
		"lists":  append(binary.BigEndian.AppendUint32([]byte{tagArray32}, n), bytes.Repeat([]byte{fixArray}, n)...),
		"tuples": append(binary.BigEndian.AppendUint32([]byte{tagArray32}, n), bytes.Repeat([]byte{fixArray | 1, tagNil}, n)...),
		"ones":   append(binary.BigEndian.AppendUint32([]byte{tagArray32}, n), bytes.Repeat([]byte{fixArray | 2, 1, 1}, n)...),
		"maps":   append(binary.BigEndian.AppendUint32([]byte{tagArray32}, n), bytes.Repeat([]byte{fixMap | 1, 1, 1}, n)...),
		"bins":   append(binary.BigEndian.AppendUint32([]byte{tagArray32}, n), bytes.Repeat([]byte{tagBin8, 0}, n)...),
		"map":    large,
		"deep":   append(bytes.Repeat([]byte{fixArray | 1}, 99_999), 1),
	} {
		t.Run(name, func(t *testing.T) {
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			_, _, err := Decode(in)
			runtime.ReadMemStats(&after)
			require.NoError(t, err)
			per := float64(after.TotalAlloc-before.TotalAlloc) / float64(len(in))
			t.Logf("%.0f bytes for each of %d", per, len(in))
			most := 100.0
			if name == "deep" {
				most = 500 // the levels that are open, in a slice that grows
			}
			require.Less(t, per, most)
		})
	}
}

// TestMemory: what takes much memory for few bytes counts as so many elements.
func TestMemory(t *testing.T) {
	type Wide struct{ A, B, C, D [64]uint64 }
	types := &Types{}
	require.NoError(t, Register[Wide](types, "wide"))
	const n = 100_000
	array := func(each string) string {
		return string(binary.BigEndian.AppendUint32([]byte{tagArray32}, n)) + strings.Repeat(each, n)
	}
	typed := func(expr, value string) string {
		return "\x93\xd4\x09\x06\xc7" + string(rune(len(expr))) + "\x01" + expr + value
	}
	pairs := binary.BigEndian.AppendUint32([]byte{tagMap32}, n)
	for i := range n {
		pairs = append(binary.BigEndian.AppendUint32(append(pairs, 0xce), 1<<31+uint32(i)), fixMap)
	}
	for name, in := range map[string]string{
		"a slice of large structs":  typed("[]wide", array("\x80")),
		"pointers to large structs": typed("[]*wide", array("\x80")),
		"a map of large structs":    typed("map[int]wide", string(pairs)),
		"large structs in a list":   array("\x93\xd4\x09\x04\xc7\x04\x01wide\x80"),
		"pointers in a list":        array("\x93\xd4\x09\x05\xc7\x04\x01wide\x80"),
		"arrays that do not come":   array(typed("*[8000]uint64", "\x90")),
	} {
		t.Run(name, func(t *testing.T) {
			const elements = 400_000 - 1
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			_, _, err := (&Decoder{Types: types, Limits: Limits{Elements: elements}}).Term([]byte(in))
			runtime.ReadMemStats(&after)
			require.ErrorIs(t, err, ErrLimit)
			t.Logf("%d KiB for %d", (after.TotalAlloc-before.TotalAlloc)>>10, len(in)>>10)
			require.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(3*elementSize*elements))
		})
	}
}

func TestDepth(t *testing.T) {
	for name, wrap := range map[string]func(any) any{
		"list":     func(t any) any { return wire.List{t} },
		"tuple":    func(t any) any { return wire.Tuple{1, t} },
		"map":      func(t any) any { return wire.NewMap(1, t) },
		"improper": func(t any) any { return wire.ImproperList{Head: []any{t}, Tail: 1} },
		"fun":      func(t any) any { return wire.Fun{Free: []any{t}} },
	} {
		t.Run(name, func(t *testing.T) {
			var x any = 1
			for range 10_000 {
				x = wrap(x)
			}
			b, err := Append(nil, x)
			require.NoError(t, err)
			y, _, err := Decode(b)
			require.NoError(t, err)
			require.True(t, wire.Equal(x, y))
			for range MaxDepth {
				x = wrap(x)
			}
			_, err = Append(nil, x)
			require.ErrorIs(t, err, ErrLimit)
			b, err = (&Encoder{Depth: 2_000_000}).Append(nil, x)
			require.NoError(t, err)
			_, _, err = Decode(b)
			require.ErrorIs(t, err, ErrLimit)
			_, err = Skip(b)
			require.ErrorIs(t, err, ErrLimit)
		})
	}
	_, _, err := Decode(bytes.Repeat([]byte{fixArray | 1}, 1_000_000))
	require.ErrorIs(t, err, ErrLimit)
	term := []byte(strings.Repeat("\xc9\x7f\xff\xff\xff\x77", 100))
	_, _, err = Decode(term)
	require.ErrorIs(t, err, ErrCut)
}

// An Encoder refuses keys that no Decoder takes, and no others.
func TestKeysAsReaders(t *testing.T) {
	nested := func(depth int) (m any) {
		for range depth + 1 {
			m = wire.NewMap(wire.Tuple{m}, 1)
		}
		return m
	}
	large := func(key any) (m wire.Map) {
		for i := range maxSorted {
			m.Put(i, i)
		}
		m.Put(key, 1)
		return m
	}
	terms := map[string]any{
		"no maps": wire.Tuple{1}, "as deep as may be": nested(maxKeys), "deeper": nested(maxKeys + 1), "far deeper": wire.List{nested(1000)},
		"in values": wire.NewMap(1, wire.NewMap(1, nested(maxKeys-1))), "large in a key": large(large(wire.AtomOK)),
		"large in a key of a key": large(wire.List{large(large(wire.AtomOK))}), "large in a small key": wire.NewMap(wire.NewMap(large(wire.AtomOK), 1), 1),
		"large in values": large(wire.NewMap(1, wire.NewMap(2, large(wire.AtomOK)))),
	}
	refused := 0
	for name, term := range terms {
		b, err := (&Encoder{LargeKeys: 10_000}).Append(nil, term)
		if err == nil {
			_, _, err = Decode(b)
		}
		if err != nil {
			refused++
			require.ErrorIs(t, err, ErrLimit, name)
			_, err = Append(nil, term)
			require.ErrorIs(t, err, ErrLimit, name)
			require.ErrorContains(t, err, "nested in keys of maps deeper than", name)
			continue
		}
		_, err = Append(nil, term)
		require.NoError(t, err, name)
	}
	require.Equal(t, 4, refused)
}

func TestLimits(t *testing.T) {
	b, err := Append(nil, wire.List{1, 2, wire.List{3}, wire.NewMap(1, 2)})
	require.NoError(t, err)
	_, _, err = (&Decoder{Limits: Limits{Elements: 7}}).Term(b)
	require.NoError(t, err)
	_, _, err = (&Decoder{Limits: Limits{Elements: 6}}).Term(b)
	require.ErrorIs(t, err, ErrLimit)
	_, _, err = (&Decoder{Limits: Limits{Depth: 1}}).Term(b)
	require.ErrorIs(t, err, ErrLimit)
	keys := wire.NewMap(wire.NewMap(wire.NewMap(1, 2), 2), 2)
	b, err = Append(nil, keys)
	require.NoError(t, err)
	_, _, err = (&Decoder{Limits: Limits{Keys: 1}}).Term(b)
	require.ErrorIs(t, err, ErrLimit)
	_, _, err = (&Decoder{Limits: Limits{Keys: 2}}).Term(b)
	require.NoError(t, err)
	_, _, err = Decode([]byte("\x82\x01\x02\x01\x03"))
	require.ErrorContains(t, err, "a key twice")
	_, err = Append(nil, shift(8*maxBigBytes))
	require.ErrorIs(t, err, ErrLimit)
	_, err = Append(nil, wire.Export{Arity: 256})
	require.ErrorIs(t, err, ErrNoTerm)
	if math.MaxInt > math.MaxInt32 {
		_, err = Append(nil, wire.Fun{OldUniq: math.MaxInt})
		require.ErrorIs(t, err, ErrNoTerm)
	}
}

// TestAlias: only what is large shares memory, and only where that is allowed.
func TestAlias(t *testing.T) {
	large, small := bytes.Repeat([]byte{1}, Large), bytes.Repeat([]byte{2}, Large-1)
	x := wire.Tuple{large, small, string(large), string(small)}
	var e Encoder
	segs, dst, err := e.Segments(nil, []byte("head"), x)
	require.NoError(t, err)
	require.Len(t, segs, 5)
	require.Same(t, &large[0], &segs[1][0])
	require.Equal(t, unsafe.StringData(x[2].(string)), &segs[3][0])
	require.Equal(t, "head", string(dst[:4]))
	require.Same(t, &dst[4], &segs[0][0])
	b := bytes.Join(segs, nil)
	whole, err := Append(nil, x)
	require.NoError(t, err)
	require.Equal(t, whole, b)
	for _, alias := range []bool{false, true} {
		got, _, err := (&Decoder{Alias: alias}).Term(b)
		require.NoError(t, err)
		require.Equal(t, x, got)
		inside := func(p *byte) bool {
			at := uintptr(unsafe.Pointer(p))
			return at >= uintptr(unsafe.Pointer(&b[0])) && at <= uintptr(unsafe.Pointer(&b[len(b)-1]))
		}
		tuple := got.(wire.Tuple)
		require.Equal(t, alias, inside(&tuple[0].([]byte)[0]))
		require.Equal(t, alias, inside(unsafe.StringData(tuple[2].(string))))
		require.False(t, inside(&tuple[1].([]byte)[0]))
		require.False(t, inside(unsafe.StringData(tuple[3].(string))))
		require.Len(t, tuple[0], cap(tuple[0].([]byte)), "appending would write over the input")
	}
}

// TestMalformed: every refusal says what, and where.
func TestMalformed(t *testing.T) {
	for in, why := range map[string]string{
		"\xc1":                                     "offset 0: the byte 0xc1",
		"\x91\xc1":                                 "offset 1: the byte 0xc1",
		"\xd4\x40\x00":                             "an extension of type 64",
		"\xd4\x09\x00":                             "not the first element of an array",
		"\x91\xd4\x09\x63":                         "the mark 99",
		"\x91\xd4\x09\x00":                         "a marked list of 0",
		"\x92\xd4\x09\x01\x01":                     "an improper list of 1",
		"\x93\xd4\x09\x01\x90\x01":                 "a list in the tail",
		"\x92\xd4\x09\x03\x01":                     "an external fun of 1",
		"\x94\xd4\x09\x03\x01\x01\x01":             "expected the module of a fun",
		"\x93\xd4\x09\x02\x01\x01":                 "a fun of 2",
		"\x92\xd4\x09\x04\x01":                     "a value of a Go type in 1",
		"\x93\xd4\x09\x04\x01\x01":                 "expected the name of a type",
		"\xd4\x01\xff":                             "an atom that is not UTF-8",
		"\xd4\x08\x03":                             "a bitstring without",
		"\xd5\x08\x08\x00":                         "a bitstring without",
		"\xd4\x07\x02":                             "without a sign",
		"\xd4\xff\x00":                             "a timestamp of 1 bytes",
		"\xd7\xff\xff\xff\xff\xff\x00\x00\x00\x00": "nanoseconds",
		"\xd5\x77\x01\x01":                         "to end at offset",
	} {
		_, _, err := Decode([]byte(in))
		require.ErrorIs(t, err, ErrMalformed, "%x", in)
		require.ErrorContains(t, err, why, "%x", in)
	}
}
