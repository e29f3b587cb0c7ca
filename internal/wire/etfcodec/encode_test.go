package etfcodec

import (
	"bytes"
	"encoding/hex"
	"errors"
	"math"
	"math/big"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/wire"
)

// TestSpellings checks that every Go spelling of a term has the same bytes.
func TestSpellings(t *testing.T) {
	charlist := wire.Charlist("abc")
	for _, same := range [][]any{
		{7, int8(7), int16(7), int32(7), int64(7), uint(7), uint8(7), uint16(7), uint32(7), uint64(7), uintptr(7), big.NewInt(7)},
		{-300, int16(-300), int32(-300), int64(-300), big.NewInt(-300)},
		{power(63), uint64(1 << 63)},
		{uint64(math.MaxUint), uint(math.MaxUint), uintptr(math.MaxUint)},
		{1.5, float32(1.5)},
		{wire.AtomTrue, true},
		{wire.AtomFalse, false},
		{[]byte("ab"), "ab", wire.NewBitstring([]byte("ab"), 16)},
		{[]byte{}, "", wire.Bitstring{}},
		{wire.List(nil), nil, wire.List{}, wire.Charlist(""), wire.ImproperList{}, wire.ImproperList{Tail: wire.Charlist("")}},
		{wire.List{97, 98, 99}, charlist, wire.List{uint8(97), int64(98), big.NewInt(99)},
			wire.ImproperList{Head: []any{97}, Tail: wire.Charlist("bc")}, wire.ImproperList{Head: []any{97, 98, 99}},
			wire.ImproperList{Head: []any{97}, Tail: wire.ImproperList{Head: []any{98}, Tail: wire.List{99}}},
			wire.ImproperList{Tail: wire.ImproperList{Tail: charlist}}},
		{wire.List{97, 0x436}, wire.Charlist("aж"), wire.ImproperList{Head: []any{97}, Tail: wire.Charlist("ж")}},
		{wire.List{233}, wire.Charlist("é"), wire.List{uint16(233)}},
		{wire.ImproperList{Head: []any{1, 2}, Tail: 3},
			wire.ImproperList{Head: []any{1}, Tail: wire.ImproperList{Head: []any{2}, Tail: uint8(3)}}},
		{wire.AtomOK, wire.ImproperList{Tail: wire.ImproperList{Tail: wire.AtomOK}}, stand{wire.AtomOK}, stand{stand{wire.AtomOK}}},
		{wire.Tuple{1, wire.List{2, wire.AtomOK}}, wire.Tuple{stand{1}, wire.List{2, stand{wire.AtomOK}}}},
		{wire.NewMap(1, 2), wire.NewMap(uint8(1), stand{2})},
	} {
		want, err := Append(nil, same[0])
		require.NoError(t, err)
		for _, x := range same {
			got, err := Append(nil, x)
			require.NoError(t, err, "%#v", x)
			require.Equal(t, hex.EncodeToString(want), hex.EncodeToString(got), "%#v", x)
		}
	}
}

// stand stands for a term.
type stand struct{ for_ any }

func (s stand) Term() any { return s.for_ }

// endless stands for itself.
type endless struct{}

func (endless) Term() any { return endless{} }

func TestEncodeRefuses(t *testing.T) {
	self := wire.List{nil}
	self[0] = self
	for _, c := range []struct {
		term any
		want string
	}{
		{make(chan int), "etf: a Go value of type chan int is no term"},
		{[]any{1}, "etf: a Go value of type []interface {} is no term"},
		{(*big.Int)(nil), "etf: a nil *big.Int is no term"},
		{endless{}, "without end"},
		{math.NaN(), "etf: Erlang has no float NaN"},
		{wire.Tuple{1, float32(math.Inf(-1))}, "etf: at {2}: Erlang has no float -Inf"},
		{wire.Atom("\xff"), `etf: an atom that is not UTF-8: "\xff"`},
		{wire.Atom(strings.Repeat("ж", 256)), "etf: an atom of more than 255 characters"},
		{wire.Atom(strings.Repeat("a", 5000)), "etf: an atom of more than 255 characters"},
		{wire.PID{}, "etf: the zero PID names no process"},
		{wire.Ref{}, "etf: the zero Ref is no reference"},
		{wire.Port{}, "etf: the zero Port names no port"},
		{wire.Export{Arity: 256}, "etf: a function of arity 256"},
		{wire.Export{Module: "\xff"}, "an atom that is not UTF-8"},
		{wire.Export{Function: "\xff"}, "an atom that is not UTF-8"},
		{wire.Fun{Arity: -1, PID: erl.PID(1)}, "etf: a fun of arity -1"},
		{wire.Fun{}, "etf: the zero PID names no process"},
		{wire.Fun{PID: erl.PID(1), Free: []any{1, struct{}{}}}, "etf: at fun[2]: a Go value of type struct {} is no term"},
		{wire.NewOrigin(wire.NodeID{Name: "\xff"}).PID(1), "an atom that is not UTF-8"},
		{wire.NewOrigin(wire.NodeID{Name: "\xff"}).Port(1), "an atom that is not UTF-8"},
		{wire.NewOrigin(wire.NodeID{Name: "\xff"}).Ref(1), "an atom that is not UTF-8"},
		{wire.Tuple{1, wire.List{2, wire.NewMap(wire.Atom("key"), wire.Tuple{struct{}{}})}}, "etf: at {2}[2]#{key}{1}: a Go value"},
		{wire.NewMap("k", struct{}{}), `etf: at #{<<"k">>}: a Go value`},
		{wire.NewMap(wire.AtomOK, wire.Atom("\xff")), `etf: at #{ok}: an atom`},
		{wire.NewMap(wire.Atom("\xff"), 1), `as key}: an atom`},
		{wire.NewMap(wire.Tuple{1, wire.Ref{}}, 1), "as key}{2}: the zero Ref"},
		{wire.NewMap(strings.Repeat("ж", 1000), math.NaN()), "ж…}: Erlang"},
		{wire.ImproperList{Head: []any{1, 2}, Tail: struct{}{}}, "etf: at [|]: a Go value"},
		{wire.ImproperList{Head: []any{wire.PID{}}, Tail: 1}, "etf: at [1]: the zero PID"},
		{self, "etf: at [1][1][1][1][1][1][1][1]…[1][1][1][1][1][1][1][1]: nested deeper than 100000 levels (does it hold itself?)"},
	} {
		b, err := Append([]byte("before"), c.term)
		require.ErrorContains(t, err, c.want)
		require.Equal(t, "before", string(b))
		require.True(t, errors.Is(err, ErrNoTerm) || errors.Is(err, ErrLimit))
		_, err = AppendCompressed(nil, c.term)
		require.Error(t, err)
	}
}

func TestEncodeRefusesLargeFuns(t *testing.T) {
	if math.MaxInt == math.MaxInt32 {
		t.Skip("no int is beyond 32 bits here")
	}
	for _, f := range []wire.Fun{{OldUniq: math.MaxInt, PID: erl.PID(1)}, {OldIndex: math.MinInt, PID: erl.PID(1)}} {
		b, err := Append([]byte("before"), f)
		require.ErrorContains(t, err, "etf: a fun whose OldIndex or OldUniq is beyond 32 bits")
		require.Equal(t, "before", string(b))
	}
}

func TestForeignHook(t *testing.T) {
	mine := errors.New("mine")
	e := Encoder{Foreign: func(v any) (any, error) {
		if n, ok := v.([]any); ok {
			return wire.List(n), nil
		}
		return nil, mine
	}}
	b, err := e.Append(nil, wire.Tuple{[]any{[]any{1}}})
	require.NoError(t, err)
	back, _, err := Decode(b)
	require.NoError(t, err)
	require.True(t, wire.Equal(wire.Tuple{wire.List{wire.List{1}}}, back))
	_, err = e.Append(nil, wire.Tuple{1, struct{}{}})
	require.ErrorIs(t, err, mine)
	require.EqualError(t, err, "etf: at {2}: mine")
}

// Sharing and copying give the bytes of the same term.
func TestAppendShared(t *testing.T) {
	blob := bytes.Repeat([]byte("0123456789"), 20_000)
	pid := wire.NewOrigin(wire.NodeID{Name: "a@b", Creation: 1}).PID(1)
	inner := wire.Fun{Module: "n", PID: pid, Free: []any{blob, blob}}
	fun := wire.Fun{Module: "m", Arity: 1, PID: pid, Free: []any{1, blob, inner, 2}}
	for _, term := range []any{
		blob, blob[:ShareFrom-1], blob[:ShareFrom], wire.Tuple{blob, 1, blob}, wire.List{wire.Atom("a"), blob},
		wire.ImproperList{Head: []any{blob}, Tail: blob}, fun, wire.Tuple{fun, blob}, "plain", string(blob),
	} {
		want, err := AppendBare([]byte("before"), term)
		require.NoError(t, err)
		got, cuts, err := new(Encoder).AppendShared([]byte("before"), term, nil)
		require.NoError(t, err)
		var whole []byte
		from := 0
		for _, c := range cuts {
			require.GreaterOrEqual(t, len(c.Data), ShareFrom)
			whole = append(append(whole, got[from:c.At]...), c.Data...)
			from = c.At
		}
		whole = append(whole, got[from:]...)
		require.True(t, bytes.Equal(want, whole))
		require.Less(t, len(got), 3*ShareFrom+100)
	}
	_, cuts, err := new(Encoder).AppendShared(nil, wire.Tuple{blob, make(chan int)}, []Cut{{At: 1}})
	require.ErrorIs(t, err, ErrNoTerm)
	require.Len(t, cuts, 1)
}

// A binary that makes up most of the input is not copied, if the decoder may share it.
func TestDecoderShared(t *testing.T) {
	blob := make([]byte, 2*ShareFrom)
	for _, c := range []struct {
		term   any
		shares bool
	}{{wire.Tuple{1, blob}, true}, {wire.List{blob, blob, blob}, false}, {blob[:ShareFrom-1], false}} {
		b, err := AppendBare(nil, c.term)
		require.NoError(t, err)
		d := Decoder{Shared: true}
		v, _, err := d.DecodeBare(b)
		require.NoError(t, err)
		require.True(t, wire.Equal(c.term, v))
		for i := range b {
			b[i] = 0xff
		}
		require.Equal(t, !c.shares, wire.Equal(c.term, v))
	}
}
