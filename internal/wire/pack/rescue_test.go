package pack

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/wire"
)

// A term beyond a limit is passed over, and what is defined in it, in front of the fault and behind it, is known to the
// terms that follow. Of a tuple the first elements are there.
func TestRescue(t *testing.T) {
	on := wire.NewOrigin(wire.NodeID{Name: "a@h", Creation: 3})
	e, d := Encoder{Dict: &EncodeDict{}}, Decoder{Dict: &DecodeDict{}, Limits: Limits{Depth: 8}}
	deep := any(wire.Atom("inside"))
	for range 20 {
		deep = wire.List{deep, wire.Tuple{}}
	}
	b, err := e.Append(nil, wire.Tuple{wire.Atom("call"), on.PID(1), wire.List{deep, wire.Atom("behind"), on.Ref(1, 2)}})
	require.NoError(t, err)
	second, err := e.Append(nil, wire.Tuple{wire.Atom("call"), wire.Atom("inside"), wire.Atom("behind"), on.PID(2)})
	require.NoError(t, err)
	_, _, err = d.Term(b)
	require.ErrorIs(t, err, ErrLimit)
	require.True(t, IsWhole(err))
	got, rest, err := d.Rescue(append(b, 7))
	require.NoError(t, err)
	require.Equal(t, []byte{7}, rest)
	require.Equal(t, wire.Tuple{wire.Atom("call"), on.PID(1), nil}, got)
	got, _, err = d.Term(second)
	require.NoError(t, err)
	require.Equal(t, wire.Tuple{wire.Atom("call"), wire.Atom("inside"), wire.Atom("behind"), on.PID(2)}, got)
}

// What is defined twice in such a term is what it was last.
func TestRescueOrder(t *testing.T) {
	atom := func(name string) []byte { return append([]byte{0xc7, byte(2 + len(name)), extAtomNew, 0, 5}, name...) }
	b := append([]byte{0x94, 0xc0}, atom("first")...)
	b = append(append(b, bytes.Repeat([]byte{0x91}, 20)...), 1)
	b = append(b, atom("last")...)
	d := Decoder{Dict: &DecodeDict{}, Limits: Limits{Depth: 8}}
	_, _, err := d.Term(b)
	require.ErrorIs(t, err, ErrLimit)
	got, rest, err := d.Rescue(b)
	require.NoError(t, err)
	require.Empty(t, rest)
	require.Equal(t, wire.Tuple{wire.Atom("first"), nil, nil}, got)
	got, _, err = d.Term([]byte{0xd4, extAtomAt, 5})
	require.NoError(t, err)
	require.Equal(t, wire.Atom("last"), got)
}

// What is cut, or malformed, is that behind the limit, too.
func TestRescueMalformed(t *testing.T) {
	deep := bytes.Repeat([]byte{0x92, 1}, 20)
	for name, end := range map[string]string{"cut": "", "no term": "\xc1", "a length": "\xdd\xff\xff\xff\xff",
		"an atom": "\xc7\x04\x02\x00\x05\xff\xff",
		"a node":  "\xd5\x04\xfe\x00"} {
		d := Decoder{Dict: &DecodeDict{}, Limits: Limits{Depth: 8}}
		_, _, err := d.Term(append(bytes.Clone(deep), end...))
		if err == nil || !IsWhole(err) {
			continue // it is seen at once
		}
		_, _, err = d.Rescue(append(bytes.Clone(deep), end...))
		require.Error(t, err, name)
	}
}
