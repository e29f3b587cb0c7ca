package etfcodec

import (
	"bytes"
	"encoding/binary"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/wire"
)

// TestKeys checks that maps may be nested in keys of maps to any depth, and cost no more than their length; if each
// level looked at everything below it, this would take minutes, or not end.
func TestKeys(t *testing.T) {
	const depth = MaxDepth - 20
	pairs := func(n int) []byte { return binary.BigEndian.AppendUint32([]byte{tagMap}, uint32(n)) }
	chain := func(depth int, before, after []byte) []byte {
		b := bytes.Repeat(before, depth)
		b = append(b, tagSmallAtomU8, 1, 'a')
		return append(b, bytes.Repeat(after, depth)...)
	}
	small := []byte{tagSmallInteger, 1}
	one := chain(12, pairs(1), small)
	var many []byte
	for i := range 31 {
		many = append(many, tagSmallTuple, 1, tagSmallInteger, byte(i), tagSmallInteger, 1)
	}
	twin := func() []byte { // two keys on each level that differ at one leaf only
		trees := [2][]byte{{tagSmallInteger, 0}, {tagSmallInteger, 1}}
		for range 15 {
			left := slices.Concat(pairs(2), trees[0], small, trees[1], small)
			right := slices.Concat(pairs(2), trees[0], small, trees[1], []byte{tagSmallInteger, 2})
			trees = [2][]byte{left, right}
		}
		return trees[0]
	}()
	var d Decoder
	for name, b := range map[string][]byte{
		"one key":                 chain(depth, pairs(1), small),
		"a key like it beside it": chain(depth, pairs(2), slices.Concat(small, one, small)),
		"a key like it before it": chain(depth, slices.Concat(pairs(2), one, small), small),
		"31 others":               chain(depth/16, pairs(32), append(small, many...)),
		"in tuples": chain(depth/2, append(pairs(2), tagSmallTuple, 1),
			slices.Concat(small, []byte{tagSmallTuple, 1}, one, small)),
		"in lists":                    chain(depth/2, append(pairs(1), tagList, 0, 0, 0, 1), append([]byte{tagNil}, small...)),
		"twins":                       twin,
		"in the keys of a larger map": slices.Concat(pairs(33), many, chain(depth/2, pairs(1), small), small, small, small),
	} {
		v, rest, err := d.DecodeBare(b)
		require.NoError(t, err, name)
		require.Zero(t, len(rest), name)
		again, err := AppendBare(nil, v)
		require.NoError(t, err, name)
		require.Equal(t, len(b), len(again), name)
	}
	_, _, err := d.DecodeBare(chain(1_000_000, pairs(1), small))
	require.ErrorIs(t, err, ErrLimit)
	_, _, err = d.DecodeBare(chain(1_000_000, append(pairs(1), tagSmallTuple, 1), small))
	require.ErrorIs(t, err, ErrLimit)
}

// TestLargeKeys shows that this does not hold for maps that package wire has to sort; two in a row would take seconds
// to decode for each 300 KB.
func TestLargeKeys(t *testing.T) {
	large := func(key any) wire.Map {
		var m wire.Map
		for i := range 33 {
			m.Put(i, i)
		}
		m.Put(key, 1)
		return m
	}
	for _, c := range []struct {
		term any
		want error
	}{
		{large(wire.Tuple{large(wire.AtomOK)}), nil},
		{wire.NewMap(large(wire.AtomOK), large(large(wire.AtomOK))), nil},
		{wire.NewMap(large(wire.NewMap(wire.NewMap(1, 2), 3)), 4), nil},
		{large(wire.Tuple{large(large(wire.AtomOK))}), ErrLimit},
		{large(wire.NewMap(large(wire.AtomOK), 1)), ErrLimit},
	} {
		b, err := Append(nil, c.term)
		require.NoError(t, err)
		_, _, err = Decode(b)
		require.ErrorIs(t, err, c.want)
		_, err = (&Encoder{Limited: true}).Append(nil, c.term)
		require.ErrorIs(t, err, c.want, "who sends it to a Decoder is told")
		d := Decoder{Limits: Limits{LargeKeys: 2}}
		_, _, err = d.Decode(b)
		require.NoError(t, err)
	}
}
