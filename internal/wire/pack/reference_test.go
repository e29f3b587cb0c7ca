package pack

import (
	"errors"
	"reflect"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/internal/wire/termof"
	"github.com/actornode/actornode/wire"
)

// seat is a reference for these tests: it knows its host.
type seat struct {
	row  any
	host string
}

type seats struct {
	One  seat
	None seat
	Any  any
	Many []seat
}

func init() {
	termof.EnterReferences(termof.References{
		Is: func(t reflect.Type) bool { return t == reflect.TypeFor[seat]() },
		Give: func(v any) (wire.Atom, any, error) {
			s := v.(seat)
			if s.row == "none" {
				return "", nil, errors.New("no such row")
			}
			return "seat", s.row, nil
		},
		Take: func(host any, name wire.Atom, term any) (any, error) {
			if name != "seat" || term == "bad" {
				return nil, errors.New("no seat")
			}
			return seat{term, host.(string)}, nil
		},
	})
}

func TestReferences(t *testing.T) {
	var types Types
	require.NoError(t, Register[seats](&types, "seats"))
	enc := Encoder{Types: &types}
	read := func(host any, v any) any {
		t.Helper()
		b, err := enc.Append(nil, v)
		require.NoError(t, err)
		got, rest, err := (&Decoder{Types: &types, Host: host}).Term(b)
		require.NoError(t, err)
		require.Empty(t, rest)
		return got
	}
	s := seat{wire.Tuple{1, wire.List{wire.Tuple{}, 2}}, ""}
	here := seat{s.row, "here"}
	require.Equal(t, here, read("here", s))
	require.Equal(t, wire.Tuple{here, wire.List{here}, 3}, read("here", wire.Tuple{s, wire.List{s}, 3}))
	require.Equal(t, seats{One: here, Any: here, Many: []seat{here, here}}, read("here", seats{One: s, Any: s, Many: []seat{s, s}}))
	require.Equal(t, seat{seat{1, "here"}, "here"}, read("here", seat{seat{row: 1}, ""}), "one within another")

	// Without a host, and where the term is none of such: what has come.
	raw := wire.Tuple{wire.Atom("$reference"), wire.Atom("seat"), s.row}
	require.Equal(t, raw, read(nil, s))
	require.Equal(t, wire.Tuple{wire.Atom("$reference"), wire.Atom("seat"), "bad"}, read("here", seat{row: "bad"}))
	m, ok := read("here", seats{One: seat{row: "bad"}}).(wire.Map)
	require.True(t, ok, "a field that does not fit")
	name, _ := m.Get(TypeKey)
	require.Equal(t, "seats", name)

	for _, v := range []any{seat{row: "none"}, seats{Many: []seat{{row: "none"}}}} {
		_, err := enc.Append(nil, v)
		require.ErrorIs(t, err, ErrNoTerm)
		require.ErrorContains(t, err, "no such row")
	}
	_, err := (&Encoder{}).Append(nil, s)
	require.ErrorIs(t, err, ErrNoTerm, "no types: the other end is no Go node")

	whole, err := enc.Append(nil, s)
	require.NoError(t, err)
	for n := range whole {
		_, _, err := (&Decoder{Types: &types, Host: "here"}).Term(whole[:n])
		require.ErrorIs(t, err, ErrCut)
	}
	for _, b := range [][]byte{
		{fixArray | 1, tagFixExt1, extMark, markReference},
		{fixArray | 2, tagFixExt1, extMark, markReference, 1},
		{fixArray | 4, tagFixExt1, extMark, markReference, 1, 1, 1},
		{fixArray | 3, tagFixExt1, extMark, markReference, 1, 1},
	} {
		_, _, err := (&Decoder{Types: &types, Host: "here"}).Term(b)
		require.ErrorIs(t, err, ErrMalformed)
	}
}
