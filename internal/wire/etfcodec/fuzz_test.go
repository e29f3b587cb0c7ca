package etfcodec

import (
	"bytes"
	"encoding/hex"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/wire"
)

// tight are limits under which no input can take long.
var tight = Limits{Depth: 1000, Elements: 1 << 16, Inflated: 1 << 16}

// FuzzDecode checks that a term survives encoding, in one way only; that anything else gives an error; and that Skip
// finds the same end.
func FuzzDecode(f *testing.F) {
	for _, c := range trips {
		if b, err := Append(nil, c.term); err == nil && len(b) < 1000 {
			f.Add(b)
		}
	}
	for _, s := range samples() {
		b, _ := Append(nil, s.term)
		f.Add(b)
	}
	packed, _ := AppendCompressed(nil, wire.List{bytes.Repeat([]byte("abc"), 100)})
	f.Add(packed)
	for _, s := range []string{"6c0000000161016c000000006a", "72000264000361406803000000010000000252",
		"6c000000006c00000001616b000141", "6c000000006c0000000161016102"} {
		b, _ := hex.DecodeString("83" + s)
		f.Add(b)
	}
	cache := func(i byte) (any, bool) { return wire.Atom([]byte{i & 0x7f}), i < 0x80 }
	f.Fuzz(func(t *testing.T, b []byte) {
		d := Decoder{Limits: tight, Atoms: cache}
		term, rest, err := d.Decode(b)
		if err != nil {
			require.Nil(t, term)
			require.Len(t, rest, len(b))
			require.ErrorContains(t, err, "etf: offset ")
			return
		}
		if b[1] != tagCompressed {
			left, err := Skip(b[1:])
			require.NoError(t, err)
			require.Len(t, left, len(rest))
		}
		again := requireStable(t, term)
		back, _, err := Decode(again)
		require.NoError(t, err)
		twice, err := Append(nil, back)
		require.NoError(t, err)
		if len(twice) != len(again) {
			require.Equal(t, again, twice)
		}
	})
}

// FuzzSkip checks that Skip never reports more than the input holds, and accepts whatever Decode accepts.
func FuzzSkip(f *testing.F) {
	for _, c := range trips {
		if b, err := AppendBare(nil, c.term); err == nil && len(b) < 1000 {
			f.Add(b)
		}
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		rest, err := Skip(b)
		if err != nil {
			require.Len(t, rest, len(b))
			_, _, err = new(Decoder).DecodeBare(b)
			require.Error(t, err)
			return
		}
		require.Less(t, len(rest), len(b))
		require.True(t, bytes.HasSuffix(b, rest))
	})
}
