package pack

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/internal/testkit/termtest"
	"github.com/actornode/actornode/wire"
)

// FuzzDecode: what is a term survives encoding; what is none has an error; and
// Skip finds the same end. Types are known to one side only.
func FuzzDecode(f *testing.F) {
	for _, c := range trips {
		if b, err := Append(nil, c.term); err == nil && len(b) < 500 {
			f.Add(b)
		}
	}
	for _, b := range encoded(f) {
		f.Add(b)
	}
	types := exactTypes(f)
	for _, c := range exact() {
		b, err := (&Encoder{Types: types}).Append(nil, wire.Tuple{c.value, Envelope{Any: c.value}})
		require.NoError(f, err)
		f.Add(b)
	}
	f.Add([]byte("\xd4\t\x04\xc7\r\x01shop.Envelope\x81\xa3Any\xea")) // a registered struct with a field that does not fit
	tight := Limits{Depth: 1000, Elements: 1 << 16, Keys: 4}
	f.Fuzz(func(t *testing.T, b []byte) {
		for _, d := range []*Decoder{{Dict: &DecodeDict{}, Types: types, Limits: tight},
			{Dict: &DecodeDict{}, Types: types, Limits: tight, Strict: true}, {Dict: &DecodeDict{}, Limits: tight},
			{Limits: tight}, {Limits: tight, Erlang: true}} {
			checkDecode(t, d, b)
		}
	})
}

// FuzzTrip: random terms, several through one cache.
func FuzzTrip(f *testing.F) {
	f.Add(uint64(1), true)
	f.Fuzz(func(t *testing.T, seed uint64, spell bool) {
		g := termtest.Seeded(seed)
		g.Spell = spell
		e, d := Encoder{Dict: &EncodeDict{}, LargeKeys: 32}, Decoder{Dict: &DecodeDict{}, Limits: Limits{LargeKeys: 32}}
		for range 4 {
			x := g.Term(4)
			b, err := e.Append(nil, x)
			require.NoError(t, err)
			y, _, err := d.Term(b)
			require.NoError(t, err)
			require.True(t, wire.Equal(x, y), "%v came back as %v", x, y)
		}
	})
}

// FuzzRescue: whatever bytes are beyond a limit, the decoder passes over as many as Skip, or has an error, and what a reader of
// the definitions alone knows it knows, too.
func FuzzRescue(f *testing.F) {
	for _, c := range trips {
		if b, err := (&Encoder{Dict: &EncodeDict{}}).Append(nil, wire.Tuple{wire.List{c.term}, c.term}); err == nil && len(b) < 500 {
			f.Add(b)
		}
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		d := Decoder{Dict: &DecodeDict{}, Limits: Limits{Depth: 2, Elements: 100}}
		_, _, err := d.Term(b)
		if err == nil || !IsWhole(err) {
			return
		}
		_, rest, err := d.Rescue(b)
		if err != nil {
			require.False(t, IsWhole(err), "%v", err)
			return
		}
		end, err := Skip(b)
		require.NoError(t, err)
		require.Equal(t, end, rest)
	})
}
