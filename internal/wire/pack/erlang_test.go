package pack

import (
	"encoding/hex"
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/internal/testkit/termtest"
	"github.com/actornode/actornode/wire"
)

// What another language gets, byte for byte, and what its own forms are read as.
func TestErlang(t *testing.T) {
	e, d := Encoder{Erlang: true, Foreign: standIn}, Decoder{Erlang: true}
	for _, c := range []struct {
		term any
		hex  string
		back any
	}{
		{wire.AtomUndefined, "c0", wire.AtomUndefined},
		{wire.AtomTrue, "c3", wire.AtomTrue},
		{false, "c2", wire.AtomFalse},
		{nil, "c0", wire.AtomUndefined},
		{wire.List(nil), "90", wire.List(nil)},
		{"é", "c402c3a9", []byte("é")},
		{wire.Atom("nil"), "c703016e696c", wire.Atom("nil")},
		{wire.Tuple{}, "91c0", wire.Tuple{}},
		{wire.Tuple{wire.AtomUndefined, 1}, "93c0c001", wire.Tuple{wire.AtomUndefined, 1}},
		{wire.List{wire.AtomUndefined, 1}, "93d40900c001", wire.List{wire.AtomUndefined, 1}},
		{wire.List{nil, 1}, "93d40900c001", wire.List{wire.AtomUndefined, 1}},
		{wire.List{absent{}}, "92d40900c0", wire.List{wire.AtomUndefined}},
		{wire.NewMap(wire.AtomUndefined, true), "81c0c3", wire.NewMap(wire.AtomUndefined, wire.AtomTrue)},
		{wire.NewMap(nil, "x"), "81c0c40178", wire.NewMap(wire.AtomUndefined, []byte("x"))},
	} {
		b, err := e.Append(nil, c.term)
		require.NoError(t, err, "%v", c.term)
		require.Equal(t, c.hex, hex.EncodeToString(b), "%v", c.term)
		v, rest, err := d.Term(b)
		require.NoError(t, err, "%v", c.term)
		require.Empty(t, rest)
		require.Equal(t, c.back, v, "%v", c.term)
	}
	v, _, err := d.Term([]byte{0x92, 0xa1, 'x', 0xcb, 0x3f, 0xe0, 0, 0, 0, 0, 0, 0})
	require.NoError(t, err)
	require.Equal(t, wire.List{[]byte("x"), 0.5}, v)
}

// absent stands for undefined.
type absent struct{}

func standIn(any) (any, error) { return wire.AtomUndefined, nil }

// What Erlang has not is refused in both directions, wherever it is.
func TestErlangRefused(t *testing.T) {
	var e Encoder
	erlang, d := Encoder{Erlang: true}, Decoder{Erlang: true}
	for _, x := range []any{math.NaN(), math.Inf(1), float32(math.Inf(-1)), time.Unix(1, 0), wire.PID{}, wire.Ref{}, wire.Port{}} {
		for _, x := range []any{x, wire.Tuple{x}, wire.NewMap(1, x)} {
			_, err := erlang.Append(nil, x)
			require.ErrorIs(t, err, ErrNoTerm, "%v", x)
			b, err := e.Append(nil, x)
			require.NoError(t, err)
			_, _, err = d.Term(b)
			require.ErrorIs(t, err, ErrMalformed, "%v", x)
		}
	}
}

// A list whose first element stands for nil is a list, here too.
func TestStandInForNil(t *testing.T) {
	e := Encoder{Foreign: func(any) (any, error) { return nil, nil }}
	b, err := e.Append(nil, wire.List{absent{}, 1})
	require.NoError(t, err)
	v, _, err := Decode(b)
	require.NoError(t, err)
	require.Equal(t, wire.List{nil, 1}, v)
}

func TestErlangTrips(t *testing.T) {
	e, d := Encoder{Erlang: true, LargeKeys: 32}, Decoder{Erlang: true, Limits: Limits{LargeKeys: 32}}
	for seed := range uint64(300) {
		x := termtest.Seeded(seed).Term(4)
		b, err := e.Append(nil, x)
		require.NoError(t, err)
		y, _, err := d.Term(b)
		require.NoError(t, err)
		require.True(t, wire.Equal(x, y), "%v came back as %v", x, y)
	}
}
