package pack

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/internal/testkit/termtest"
	"github.com/actornode/actornode/wire"
)

// TestCacheForms: identifiers and atoms, first defined, then by their places.
func TestCacheForms(t *testing.T) {
	c := EncodeDict{}
	e := Encoder{Dict: &c}
	sizes := func(term any) (first, again int) {
		b, err := e.Append(nil, term)
		require.NoError(t, err)
		twice, err := e.Append(nil, term)
		require.NoError(t, err)
		return len(b), len(twice)
	}
	pid := func(n uint64) int {
		b, err := e.AppendPID(nil, host.PID(n))
		require.NoError(t, err)
		return len(b)
	}
	require.Equal(t, 22, pid(1))
	require.Equal(t, []int{4, 6, 6, 10, 10, 12},
		[]int{pid(math.MaxUint8), pid(1 << 8), pid(1<<24 - 1), pid(1 << 24), pid(1<<56 - 1), pid(1 << 56)})
	first, again := sizes(wire.Atom("hello"))
	require.Equal(t, 3+2+5, first)
	require.Equal(t, 3, again)
	_, again = sizes(host.Ref(1, 2, 3))
	require.Equal(t, 3+1+12, again)
}

// TestCacheBytes reads the bytes of the cached forms as doc.go has them.
func TestCacheBytes(t *testing.T) {
	d := Decoder{Dict: &DecodeDict{}}
	for _, c := range []struct {
		in   string
		want any
	}{
		{"\xc7\x04\x02\x07\xffok", wire.AtomOK},
		{"\xd5\x03\x07\xff", wire.AtomOK},
		{"\xd6\x02\x00\x05no", wire.Atom("no")},
		{"\xd4\x03\x05", wire.Atom("no")},
		{"\xd6\x02\x00\x05go", wire.Atom("go")},
		{"\xd4\x03\x05", wire.Atom("go")},
		{"\xc7\x0c\x04\xfe\x02\x00\x00\x00\x03\x00\x03a@h\x09", host.PID(9)},
		{"\xd5\x04\x02\x07", host.PID(7)},
		{"\xd6\x06\x02\x00\x01\x00", host.Port(256)},
		{"\xc7\x05\x05\x02\x00\x00\x00\x07", host.Ref(7)},
		{"\xd4\x05\x02", host.Ref()},
		{"\xc7\x0b\x04\xff\x00\x00\x00\x03\x00\x03a@h\x09", host.PID(9)},
		{"\xd7\x04\xff\x00\x00\x00\x00\x00\x00\x00", wire.PID{}},
	} {
		got, rest, err := d.Term([]byte(c.in))
		require.NoError(t, err, "%x", c.in)
		require.Empty(t, rest)
		require.Equal(t, c.want, got)
	}
	for in, why := range map[string]string{
		"\xd4\x03\x06":       "where no atom is",
		"\xd5\x03\x08\x00":   "where no atom is",
		"\xd6\x02\x08\x00no": "without a place",
		"\xd4\x02\x00":       "without a place",
		"\xd5\x04\x03\x07":   "where no node is",
		"\xd4\x04\x02":       "number of an identifier in 0 bytes",
		"\xc7\x0a\x04\x02\x01\x02\x03\x04\x05\x06\x07\x08\x09": "number of an identifier in 9 bytes",
		"\xc7\x0c\x04\xfe\xfe\x00\x00\x00\x03\x00\x03a@h\x09":  "without a place",
		"\xc7\x0c\x04\xfe\x02\x00\x00\x00\x03\x00\x09a@h\x09":  "too few for the name",
		"\xc7\x00\x04":     "no bytes",
		"\xd5\x05\x02\x00": "words of a reference",
	} {
		_, _, err := d.Term([]byte(in))
		require.ErrorIs(t, err, ErrMalformed, "%x", in)
		require.ErrorContains(t, err, why, "%x", in)
	}
	for _, in := range []string{"\xd4\x03\x05", "\xd6\x02\x00\x05no", "\xd5\x04\x02\x07",
		"\xc7\x0c\x04\xfe\x02\x00\x00\x00\x03\x00\x03a@h\x09"} {
		_, _, err := Decode([]byte(in))
		require.ErrorContains(t, err, "in a standalone term")
	}
}

// TestCacheOverflows: more atoms and nodes than there are places, some often and
// some once; both sides stay as one, and those used often keep their places.
func TestCacheOverflows(t *testing.T) {
	g := termtest.New(t)
	e, d := Encoder{Dict: &EncodeDict{}}, Decoder{Dict: &DecodeDict{}}
	short := 0
	for i := range 30_000 {
		var x any = wire.Atom(fmt.Sprint("often", g.IntN(20)))
		switch g.IntN(4) {
		case 0:
			x = wire.Atom(fmt.Sprint("once", i))
		case 1:
			x = wire.NewOrigin(wire.NodeID{Name: wire.Atom(fmt.Sprint("n", g.IntN(400), "@h")), Creation: 1}).PID(uint64(i))
		}
		b, err := e.Append(nil, x)
		require.NoError(t, err)
		if g.IntN(10) == 0 { // it is not sent
			e.Dict.Undo()
			continue
		}
		e.Dict.Commit()
		got, _, err := d.Term(b)
		require.NoError(t, err)
		require.Equal(t, x, got)
		if a, ok := x.(wire.Atom); ok && i > 15_000 && strings.HasPrefix(string(a), "often") && len(b) <= 4 {
			short++
		}
	}
	require.Greater(t, short, 5000, "of some 6,800 uses")
	require.LessOrEqual(t, len(d.Dict.origins), originPlaces)
	require.LessOrEqual(t, len(e.Dict.origins), originPlaces)
}

// TestFailureTellsNothing: what an Append has told that fails is taken back, what
// was told before it is not.
func TestFailureTellsNothing(t *testing.T) {
	g := termtest.New(t)
	e, d := Encoder{Dict: &EncodeDict{}, LargeKeys: 32}, Decoder{Dict: &DecodeDict{}}
	for i := range 2000 {
		var frame []byte
		var want []any
		for range 3 {
			x := g.Term(3)
			dst, err := e.Append(frame, wire.Tuple{x, wire.Atom(fmt.Sprint("gone", i)), other.PID(1), struct{}{}})
			require.ErrorIs(t, err, ErrNoTerm)
			require.Len(t, dst, len(frame))
			_, _, err = e.Segments(nil, nil, wire.List{x, errors.New("x")})
			require.ErrorIs(t, err, ErrNoTerm)
			frame, err = e.Append(frame, x)
			require.NoError(t, err)
			want = append(want, x)
		}
		if g.IntN(3) == 0 {
			e.Dict.Undo()
			continue
		}
		e.Dict.Commit()
		d.Limits.LargeKeys = 32 // as the encoder has
		for _, x := range want {
			got, rest, err := d.Term(frame)
			require.NoError(t, err)
			require.True(t, wire.Equal(x, got))
			frame = rest
		}
	}
}

// TestReset: messages with a cache of their own, each forgotten before the next.
func TestReset(t *testing.T) {
	e, d := Encoder{Dict: &EncodeDict{}}, Decoder{Dict: &DecodeDict{}}
	x := wire.List{wire.AtomOK, host.PID(1), wire.AtomOK, host.PID(2)}
	var first []byte
	for range 5 {
		e.Dict.Reset()
		b, err := e.Append(nil, x)
		require.NoError(t, err)
		if first == nil {
			first = b
		}
		require.Equal(t, first, b)
		d.Dict.Reset()
		got, _, err := d.Term(b)
		require.NoError(t, err)
		require.Equal(t, x, got)
	}
	b, err := e.Append(nil, x)
	require.NoError(t, err)
	d.Dict.Reset()
	_, _, err = d.Term(b)
	require.ErrorContains(t, err, "where no atom is")
	e.Dict.life = math.MaxUint32
	e.Dict.Reset()
	b, err = e.Append(nil, x)
	require.NoError(t, err)
	require.Len(t, b, len(first))
}

// TestTyped: the readers and writers of one type.
func TestTyped(t *testing.T) {
	e, d := Encoder{Dict: &EncodeDict{}}, Decoder{Dict: &DecodeDict{}}
	for range 2 {
		b, err := e.AppendPID(nil, host.PID(7))
		require.NoError(t, err)
		b, err = e.AppendAtom(b, "name")
		require.NoError(t, err)
		b, err = e.AppendRef(b, host.Ref(1, 2))
		require.NoError(t, err)
		b = AppendUint(AppendInt(b, -70_000), math.MaxUint64)
		p, b, err := d.PID(b)
		require.NoError(t, err)
		require.Equal(t, host.PID(7), p)
		a, b, err := d.Atom(b)
		require.NoError(t, err)
		require.Equal(t, wire.Atom("name"), a)
		r, b, err := d.Ref(b)
		require.NoError(t, err)
		require.Equal(t, host.Ref(1, 2), r)
		n, b, err := Int(b)
		require.NoError(t, err)
		require.Equal(t, int64(-70_000), n)
		u, b, err := Uint(b)
		require.NoError(t, err)
		require.Equal(t, uint64(math.MaxUint64), u)
		require.Empty(t, b)
	}
	for _, in := range []string{"", "\xc0", "\xa1a", "\xd4\x09\x00", "\xd4", "\xc7\x05\x04\x01"} {
		_, rest, err := d.PID([]byte(in))
		require.Error(t, err)
		require.Len(t, rest, len(in))
		_, _, err = d.Atom([]byte(in))
		require.Error(t, err)
		_, _, err = d.Ref([]byte(in))
		require.Error(t, err)
		_, _, err = Int([]byte(in))
		require.Error(t, err)
	}
	_, _, err := Uint([]byte{0xff})
	require.ErrorContains(t, err, "not negative, not -1")
	_, _, err = Int([]byte("\xcf\xff\xff\xff\xff\xff\xff\xff\xff"))
	require.ErrorContains(t, err, "18446744073709551615")
	_, err = e.AppendAtom(nil, wire.Atom(strings.Repeat("a", 256)))
	require.ErrorIs(t, err, ErrNoTerm)
	_, err = e.AppendPID(nil, wire.NewOrigin(wire.NodeID{Name: "\xff", Creation: 1}).PID(1))
	require.ErrorIs(t, err, ErrNoTerm)
}
