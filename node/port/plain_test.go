package port

import (
	"encoding/hex"
	"math"
	"math/big"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/tinylib/msgp/msgp"

	"github.com/actornode/actornode/internal/wire/pack"
	"github.com/actornode/actornode/node"
	"github.com/actornode/actornode/wire"
)

// plainTrip returns what a program gets, as hexadecimal digits, and what comes back from it.
func plainTrip(t *testing.T, term any) (string, any) {
	b, err := appendPlain(nil, term)
	require.NoError(t, err, "%v", term)
	v, rest, err := (&pack.Decoder{Erlang: true}).Term(b)
	require.NoError(t, err)
	require.Empty(t, rest)
	v, err = fromPlain(v)
	require.NoError(t, err)
	return hex.EncodeToString(b), v
}

func TestPlainTerms(t *testing.T) {
	for _, c := range []struct {
		term any
		hex  string // "": a map with $etf
		want string // what comes back from it
	}{
		{wire.Tuple{wire.Atom("add"), 5}, "92a361646405", `[<<"add">>,5]`},
		{[]byte("abc"), "a3616263", `<<"abc">>`},
		{"abc", "a3616263", `<<"abc">>`},
		{wire.Charlist("ab"), "926162", `"ab"`},
		{nil, "c0", "undefined"},
		{wire.List(nil), "90", "[]"},
		{wire.List{true, wire.AtomUndefined, 1.5}, "93c3c0cb3ff8000000000000", `[true,undefined,1.5]`},
		{wire.List{wire.AtomUndefined}, "91c0", `[undefined]`},
		{wire.List{wire.AtomUndefined, wire.Tuple{}}, "92c090", `[undefined,[]]`},
		{wire.NewMap(wire.Atom("k"), wire.Tuple{}), "81a16b90", `#{<<"k">> => []}`},
		{wire.NewMap(wire.AtomUndefined, wire.AtomFalse), "81c0c2", `#{undefined => false}`},
		{-300, "d1fed4", "-300"},
		{uint64(math.MaxUint64), "cfffffffffffffffff", "18446744073709551615"},
		{new(big.Int).Lsh(big.NewInt(1), 64), "", "18446744073709551616"},
		{wire.Export{Module: "m", Function: "f", Arity: 2}, "", "fun m:f/2"},
		{wire.ImproperList{Head: []any{1}, Tail: wire.Atom("x")}, "", "[1|x]"},
		{struct{ N int }{3}, "81a16e03", `#{<<"n">> => 3}`},
	} {
		got, back := plainTrip(t, c.term)
		if c.hex == "" {
			c.hex, got = "81a4"+hex.EncodeToString([]byte(plainTerm)), got[:12]
		}
		require.Equal(t, c.hex, got, "%v", c.term)
		require.Equal(t, c.want, wire.Format(back), "%v", c.term)
	}
	_, back := plainTrip(t, wire.Tuple{pid, ref, wire.NewBitstring([]byte{0x80}, 1)})
	require.Equal(t, wire.List{pid, ref, wire.NewBitstring([]byte{0x80}, 1)}, back)
}

// A library without extensions can read everything that is written.
func TestPlainIsPlain(t *testing.T) {
	b, err := appendPlain(nil, wire.List{wire.AtomUndefined, wire.Tuple{pid, wire.Atom("a"), nil}, []byte{0xff}, wire.NewMap(1.5, "x")})
	require.NoError(t, err)
	n, b, err := msgp.ReadArrayHeaderBytes(b)
	require.NoError(t, err)
	require.EqualValues(t, 4, n)
	var all []any
	for range 3 {
		var v any
		v, b, err = msgp.ReadIntfBytes(b)
		require.NoError(t, err)
		all = append(all, v)
	}
	require.Nil(t, all[0])
	require.Equal(t, "a", all[1].([]any)[1])
	require.Nil(t, all[1].([]any)[2])
	require.Equal(t, "\xff", all[2])
	n, b, err = msgp.ReadMapHeaderBytes(b) // its keys are not strings
	require.NoError(t, err)
	require.EqualValues(t, 1, n)
	k, b, err := msgp.ReadIntfBytes(b)
	require.NoError(t, err)
	v, b, err := msgp.ReadIntfBytes(b)
	require.NoError(t, err)
	require.Equal(t, []any{1.5, "x"}, []any{k, v})
	require.Empty(t, b)
}

func TestPlainMaps(t *testing.T) {
	for term, want := range map[string]string{
		`#{<<"$atom">> => <<"ok">>}`:                    "ok",
		`#{<<"$tuple">> => [1,2]}`:                      "{1,2}",
		`#{<<"$tuple">> => [undefined]}`:                "{undefined}",
		`#{<<"$atom">> => 1}`:                           `#{<<"$atom">> => 1}`,
		`#{<<"$atom">> => <<"a">>,1 => 2}`:              `#{1 => 2,<<"$atom">> => <<"a">>}`,
		`[#{#{<<"$atom">> => <<"k">>} => [undefined]}]`: `[#{k => [undefined]}]`,
	} {
		v, err := wire.Parse(term)
		require.NoError(t, err)
		_, back := plainTrip(t, v)
		require.Equal(t, want, wire.Format(back))
	}
	for _, v := range []any{
		wire.NewMap([]byte("$etf"), []byte("garbage")),
		wire.NewMap([]byte("$etf"), []byte{131, 97, 1, 0}),
		wire.NewMap([]byte("$atom"), []byte("\xff")),
		wire.NewMap([]byte("$atom"), []byte(strings.Repeat("a", 256))),
		wire.NewMap(wire.NewMap([]byte("$atom"), []byte("a")), 1, wire.Atom("a"), 2),
	} {
		_, err := fromPlain(wire.List{v})
		require.ErrorIs(t, err, pack.ErrMalformed, "%v", v)
	}
}

func TestRefusedToWrite(t *testing.T) {
	deep := any(1)
	for range maxDepth + 1 {
		deep = wire.List{deep}
	}
	cycle := wire.List{nil}
	cycle[0] = cycle
	for name, term := range map[string]any{
		"NaN": math.NaN(), "infinity": math.Inf(-1), "zero pid": node.PID{}, "zero ref": node.Ref{}, "port": wire.Port{},
		"deep": deep, "cycle": cycle, "fun": wire.Fun{Free: []any{make(chan int)}}, "channel": make(chan int),
		"improper": wire.ImproperList{Head: []any{1}, Tail: math.NaN()},
	} {
		for _, kind := range []Codec{MsgPack, Plain} {
			b, err := newCodec(kind, 1<<20).append([]byte("x"), wordInfo, wire.Tuple{[]byte("before"), term})
			require.Error(t, err, "%s, %v", name, kind)
			require.Equal(t, "x", string(b), name)
			switch {
			case name == "cycle" && kind == MsgPack:
				require.ErrorIs(t, err, pack.ErrNoTerm)
				require.ErrorContains(t, err, "a cycle")
			case name == "deep" || name == "cycle":
				require.ErrorIs(t, err, pack.ErrLimit)
			}
		}
	}
}
