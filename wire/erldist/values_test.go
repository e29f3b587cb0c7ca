package erldist

import (
	"bytes"
	"encoding/binary"
	"errors"
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/internal/erlflags"
	"github.com/actornode/actornode/internal/etfcodec"
	"github.com/actornode/actornode/internal/linkopt"
	"github.com/actornode/actornode/internal/pack"
	"github.com/actornode/actornode/internal/randtest"
	"github.com/actornode/actornode/internal/termtest"
	"github.com/actornode/actornode/wire"
	"github.com/actornode/actornode/wire/dist"
)

// packed are values of package pack, without registered types. Unmark counts.
type packed struct{ seen *int }

func (packed) Append(dst []byte, v any) ([]byte, error)               { return pack.Append(dst, v) }
func (packed) Decode(b []byte, _ any) (v any, rest []byte, err error) { return pack.Decode(b) }
func (packed) IsMark(a wire.Atom) bool                                { return a == "$mark" }
func (p packed) Unmark(t, _ any) any                                  { *p.seen++; return t }

var withValues = erlflags.Announced | erlflags.GoValues

// trip sends a message from a node to another.
func trip(t *testing.T, flags erlflags.Flags, msg any) (got any, unmarked int) {
	w := newWriter(peerOrigin.NodeID(), self.Name, flags, dist.LinkLimits{}, nil)
	r := newReader(self.Name, peerOrigin.NodeID().Name, flags, dist.LinkLimits{})
	v := packed{&unmarked}
	w.setValues(v)
	r.setValues(v)
	to := wire.NewOrigin(self).PID(7)
	for range 3 { // of which the later ones use the cache
		var f dist.Frame
		w.buf = w.buf[:0]
		require.NoError(t, w.write(&dist.Frame{Op: dist.OpSend, From: peerOrigin.PID(1), To: to, Payload: msg}))
		ok, err := r.frame(w.buf[4:], &f)
		require.NoError(t, err)
		require.True(t, ok)
		got = f.Payload
	}
	return got, unmarked
}

// Between two nodes that have the flag each value arrives as what it is, be it a term that the
// format has or not.
func TestGoValues(t *testing.T) {
	for _, v := range []any{"text", true, nil, int64(1 << 40), 2.5, wire.Atom("true"), wire.Tuple{}, wire.List{1, 2, 3}, []byte("b"),
		wire.Tuple{wire.Atom("$gen_call"), wire.Tuple{peerOrigin.PID(1), wire.ImproperList{Head: []any{wire.Atom("alias")},
			Tail: peerOrigin.RefOf(5)}}, "body"},
		wire.Tuple{goMark, []byte("x")}, wire.Tuple{goMark, "x"}, wire.NewMap("a", 1), make([]byte, 200_000)[:40_000], math.Inf(1),
	} {
		want, _, err := pack.Decode(must(pack.Append(nil, v)))
		require.NoError(t, err)
		got, _ := trip(t, withValues, v)
		require.Equal(t, want, got)
	}
	r := randtest.New(t)
	words := []any{1, "x", 2.5, wire.Atom("a"), peerOrigin.PID(5), peerOrigin.RefOf(9), []byte("y"), nil, false}
	for range 1000 {
		v := termtest.Of(r, words, 4)
		want, _, err := pack.Decode(must(pack.Append(nil, v)))
		require.NoError(t, err)
		got, _ := trip(t, withValues, v)
		require.Equal(t, want, got, "%v", v)
	}
}

func must(b []byte, err error) []byte {
	if err != nil {
		panic(err)
	}
	return b
}

// A peer without the flag gets terms, and {'$go', Binary} of one is a tuple.
func TestWithoutGoValues(t *testing.T) {
	got, _ := trip(t, erlflags.Announced, "text")
	require.Equal(t, []byte("text"), got)
	forged := wire.Tuple{goMark, must(pack.Append(nil, "text"))}
	got, _ = trip(t, erlflags.Announced, forged)
	require.Equal(t, forged, got)
}

// Only terms with an atom that is a mark are looked at, however the atom comes.
func TestMarks(t *testing.T) {
	for _, flags := range []erlflags.Flags{erlflags.Announced, erlflags.Announced &^ erlflags.DistHdrAtomCache &^ erlflags.Fragments} {
		for _, c := range []struct {
			msg    any
			looked int
		}{
			{wire.Tuple{wire.Atom("other"), 1}, 0}, {wire.Tuple{1, wire.Atom("$mark")}, 3}, {wire.NewMap(wire.Atom("$mark"), 1), 3},
		} {
			_, n := trip(t, flags, c.msg)
			require.Equal(t, c.looked, n, "%v", c.msg)
		}
	}
	// OTP writes an atom as text whose place in the cache another atom of the message has.
	for atom, looked := range map[string]int{"$mark": 1, "mark": 0, "": 0} {
		var seen int
		r := newReader(self.Name, peerOrigin.NodeID().Name, erlflags.Announced, dist.LinkLimits{})
		r.setValues(packed{&seen})
		bare := must(etfcodec.AppendBare(nil, wire.Tuple{1, wire.Atom(atom)}))
		for i := range 3 { // from the second time on the reader knows the atom
			_, _, err := r.payload(bare, false)
			require.NoError(t, err)
			require.Equal(t, looked*(i+1), seen, "%q", atom)
		}
		_, _, err := r.payload(must(etfcodec.AppendBare(nil, wire.Atom("other"))), false)
		require.NoError(t, err)
		require.Equal(t, looked*3, seen, "what was in another message counts no more")
	}
	// An atom that takes the place of a mark in the cache is none.
	var seen int
	c := atomsIn{isMark: packed{&seen}.IsMark}
	c.enter(0, 3, "$mark")
	require.True(t, c.hasMark(0, 3))
	c.enter(0, 3, "other")
	require.False(t, c.hasMark(0, 3))
}

// A binary that is no Go value is a payload that cannot be read, with an error that says so. The link goes on.
func TestBadGoValues(t *testing.T) {
	for name, bin := range map[string][]byte{
		"nothing": {}, "none": {0xc1}, "cut": {0x92, 1}, "more": {1, 2}, "deep": bytes.Repeat([]byte{0x91}, 40_000),
		"a length beyond it": {0xdd, 0xff, 0xff, 0xff, 0xff},
	} {
		t.Run(name, func(t *testing.T) {
			// A node that writes tuples as they are sends it.
			w := newWriter(peerOrigin.NodeID(), self.Name, erlflags.Announced, dist.LinkLimits{}, nil)
			to := wire.NewOrigin(self).PID(7)
			require.NoError(t, w.write(&dist.Frame{Op: dist.OpSend, To: to, Payload: wire.Tuple{goMark, bin}}))
			r := newReader(self.Name, peerOrigin.NodeID().Name, withValues, dist.LinkLimits{})
			r.setValues(packed{new(int)})
			var f dist.Frame
			frames := w.buf
			ok, err := r.frame(frames[4:], &f)
			require.NoError(t, err)
			require.True(t, ok)
			err = f.Payload.(*linkopt.Unreadable)
			require.True(t, errors.Is(err, pack.ErrCut) || errors.Is(err, pack.ErrMalformed) || errors.Is(err, pack.ErrLimit) ||
				name == "more", "%v", err)
		})
	}
}

// Whatever bytes stand in {'$go', Binary}, the reader has a value or an error.
func FuzzGoValue(f *testing.F) {
	for _, v := range []any{"text", wire.Tuple{1, "x"}, wire.NewMap("a", nil), wire.Atom("a")} {
		f.Add(must(pack.Append(nil, v)))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		r := newReader(self.Name, peerOrigin.NodeID().Name, withValues, dist.LinkLimits{})
		r.setValues(packed{new(int)})
		payload := append([]byte{tagSmallTuple, 2, tagSmallAtom, 3, '$', 'g', 'o', tagBinary}, binary.BigEndian.AppendUint32(nil, uint32(len(b)))...)
		v, rest, err := r.payload(append(payload, b...), false)
		if err == nil && len(rest) != 0 {
			t.Fatalf("%d bytes are left behind %v", len(rest), v)
		}
	})
}
