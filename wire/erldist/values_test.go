package erldist

import (
	"bytes"
	"encoding/binary"
	"errors"
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/internal/testkit"
	"github.com/actornode/actornode/internal/testkit/linkkit"
	"github.com/actornode/actornode/internal/testkit/termtest"
	"github.com/actornode/actornode/internal/wire/erlflags"
	"github.com/actornode/actornode/internal/wire/etfcodec"
	"github.com/actornode/actornode/internal/wire/links"
	"github.com/actornode/actornode/internal/wire/pack"
	"github.com/actornode/actornode/wire"
	"github.com/actornode/actornode/wire/dist"
)

// packed stands for values of package pack, without registered types. Unmark counts its calls.
type packed struct{ seen *int }

func (packed) Append(dst []byte, v any) ([]byte, error)               { return pack.Append(dst, v) }
func (packed) Decode(b []byte, _ any) (v any, rest []byte, err error) { return pack.Decode(b) }
func (packed) IsMark(a wire.Atom) bool                                { return a == "$mark" }
func (p packed) Unmark(t, _ any) any                                  { *p.seen++; return t }

var withValues = erlflags.Announced | erlflags.GoValues | erlflags.CallWait

// trip sends a message from one node to another.
func trip(t *testing.T, flags erlflags.Flags, msg any) (got any, unmarked int) {
	w := newWriter(peerOrigin.NodeID(), self.Name, flags, dist.LinkLimits{}, nil)
	r := newReader(self.Name, peerOrigin.NodeID().Name, flags, dist.LinkLimits{})
	v := packed{&unmarked}
	w.setValues(v)
	r.setValues(v)
	to := wire.NewOrigin(self).PID(7)
	for range 3 { // the later ones use the cache
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

// Between two nodes that have the flag each value arrives as it was, whether the format has a term for it or not.
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
	r := testkit.Rand(t)
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

// A peer without the flag gets terms, and {'$go', Binary} from such a peer is a tuple.
func TestWithoutGoValues(t *testing.T) {
	got, _ := trip(t, erlflags.Announced, "text")
	require.Equal(t, []byte("text"), got)
	forged := wire.Tuple{goMark, must(pack.Append(nil, "text"))}
	got, _ = trip(t, erlflags.Announced, forged)
	require.Equal(t, forged, got)
}

// The former version had the flag at bit 55: for such a peer the flag is not among the common ones.
func TestFormerGoValues(t *testing.T) {
	const former erlflags.Flags = 1 << 55
	require.False(t, former.Has(erlflags.GoValues))
	w, r := writerAndReader((erlflags.Announced | former) & withValues)
	require.Nil(t, w.values)
	require.Nil(t, r.values)
	got, _ := trip(t, (erlflags.Announced|former)&withValues, wire.Tuple{"text", int64(7)})
	require.Equal(t, wire.Tuple{[]byte("text"), 7}, got)
	_, err := r.frame([]byte{36, 0xd4, 1, 'a', 1}, new(dist.Frame))
	require.ErrorContains(t, err, "which is not a distribution header", "it tells nothing of its types")
}

// The reader looks only at terms with an atom that is a mark, however the atom comes.
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
	// OTP writes an atom as text if another atom of the message has its place in the cache.
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
	// An atom that takes the place of a mark in the cache is no mark.
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
			err = f.Payload.(*links.Unreadable)
			require.True(t, errors.Is(err, pack.ErrCut) || errors.Is(err, pack.ErrMalformed) || errors.Is(err, pack.ErrLimit) ||
				name == "more", "%v", err)
		})
	}
}

// writerAndReader returns the writer of a node and the reader of another, both with the flag or without.
func writerAndReader(flags erlflags.Flags) (*writer, *reader) {
	w := newWriter(peerOrigin.NodeID(), self.Name, flags, dist.LinkLimits{}, nil)
	r := newReader(self.Name, peerOrigin.NodeID().Name, flags, dist.LinkLimits{})
	v := packed{new(int)}
	w.setValues(v)
	r.setValues(v)
	return w, r
}

// Requests and replies in a frame of their own each arrive as they were sent, with everything that a message may carry.
func TestRequests(t *testing.T) {
	to, ref, token := wire.NewOrigin(self), peerOrigin.RefOf(5), wire.Tuple{1, 2}
	for _, flags := range []erlflags.Flags{withValues, withValues &^ erlflags.DistHdrAtomCache &^ erlflags.Fragments,
		withValues &^ erlflags.AltactSig} {
		w, r := writerAndReader(flags)
		for _, v := range []any{nil, 7, "text", wire.Atom("reply"), wire.Tuple{goMark, ref, 1}, wire.Tuple{goMark, goReply, 1},
			wire.Tuple{goMark, ref, 5, 1}, make([]byte, 100_000), wire.Tuple{wire.Atom("x"), peerOrigin.PID(4)}} {
			for _, f := range []dist.Frame{
				{Op: dist.OpSend, From: peerOrigin.PID(1), To: to.PID(5), Payload: &links.Request{Ref: ref, Body: v}},
				{Op: dist.OpSend, From: peerOrigin.PID(2), Name: "till", Payload: &links.Request{Ref: ref, Body: v}, Token: token},
				{Op: dist.OpSend, From: peerOrigin.PID(2), Name: "till", Payload: &links.Request{Ref: ref, Body: v, Wait: time.Second}},
				{Op: dist.OpSend, From: peerOrigin.PID(1), To: to.PID(5), Token: token,
					Payload: &links.Request{Ref: ref, Body: v, Wait: links.MostWait}},
				{Op: dist.OpSend, From: peerOrigin.PID(3), Ref: to.RefOf(9), Payload: &links.Reply{Value: v}},
				{Op: dist.OpSend, From: peerOrigin.PID(3), Ref: to.RefOf(9), Payload: &links.Reply{Value: v}, Token: token},
				{Op: dist.OpSend, From: peerOrigin.PID(3), To: to.PID(9), Payload: v},
			} {
				require.NoError(t, linkkit.Same(f, carriedOver(t, w, r, &f)))
			}
		}
	}
}

// To a peer that does not read how long a caller waits nothing is said about it, and such a tuple of its is a term.
func TestRequestToFormer(t *testing.T) {
	to, ref := wire.NewOrigin(self), peerOrigin.RefOf(5)
	plain := withValues &^ erlflags.DistHdrAtomCache &^ erlflags.Fragments // the cache of atoms places them by chance
	written := func(wait time.Duration) []byte {
		w, _ := writerAndReader(plain &^ erlflags.CallWait)
		require.NoError(t, w.write(&dist.Frame{Op: dist.OpSend, From: peerOrigin.PID(1), To: to.PID(5),
			Payload: &links.Request{Ref: ref, Body: 1, Wait: wait}}))
		return w.buf
	}
	require.Equal(t, written(0), written(time.Second))

	_, r := writerAndReader(withValues &^ erlflags.CallWait)
	w := newWriter(peerOrigin.NodeID(), self.Name, erlflags.Announced, dist.LinkLimits{}, nil) // writes tuples as they are
	f := dist.Frame{Op: dist.OpSend, From: peerOrigin.PID(1), To: to.PID(5), Payload: wire.Tuple{goMark, ref, 5, 1}}
	require.Equal(t, f.Payload, carriedOver(t, w, r, &f).Payload)
}

// carriedOver writes f and reads it again, in fragments if it is long.
func carriedOver(t *testing.T, w *writer, r *reader, f *dist.Frame) (got dist.Frame) {
	w.buf = w.buf[:0]
	require.NoError(t, w.write(f))
	b := bytes.Clone(w.buf)
	for len(w.long) > 0 {
		parts, _ := w.advance(nil, nil)
		b = append(b, bytes.Join(parts, nil)...)
	}
	for len(b) > 0 {
		n := 4 + int(binary.BigEndian.Uint32(b))
		_, err := r.frame(b[4:n], &got)
		require.NoError(t, err)
		b = b[n:]
	}
	return got
}

// A frame that is no request of the peer's ends the link; one that only resembles a request is a term.
func TestForgedRequests(t *testing.T) {
	to, ref := wire.NewOrigin(self), peerOrigin.RefOf(5)
	_, r := writerAndReader(withValues)
	plain := newWriter(peerOrigin.NodeID(), self.Name, erlflags.Announced, dist.LinkLimits{}, nil) // writes tuples as they are
	read := func(f dist.Frame) (got dist.Frame, err error) {
		plain.buf = plain.buf[:0]
		require.NoError(t, plain.write(&f))
		_, err = r.frame(plain.buf[4:], &got)
		return got, err
	}
	for why, f := range map[string]dist.Frame{
		"a request to an alias":           {From: peerOrigin.PID(1), Ref: to.RefOf(9), Payload: wire.Tuple{goMark, ref, 1}},
		"no process of e@127.0.0.1":       {From: to.PID(1), To: to.PID(5), Payload: wire.Tuple{goMark, ref, 1}},
		"a reply that is not to an alias": {From: peerOrigin.PID(1), To: to.PID(5), Payload: wire.Tuple{goMark, goReply, 1}},
		"Ref is not a reference":          {From: peerOrigin.PID(1), To: to.PID(5), Payload: wire.Tuple{goMark, 7, 1}},
		"a caller that waits for 0 ms":    {From: peerOrigin.PID(1), To: to.PID(5), Payload: wire.Tuple{goMark, ref, 0, 1}},
		"waits for 2147483648 ms": {From: peerOrigin.PID(1), To: to.PID(5),
			Payload: wire.Tuple{goMark, ref, int64(1 << 31), 1}},
		"Wait is not an integer": {From: peerOrigin.PID(1), To: to.PID(5), Payload: wire.Tuple{goMark, ref, -1, 1}},
		"Ref is not":             {From: peerOrigin.PID(1), Ref: to.RefOf(9), Payload: wire.Tuple{goMark, goReply, 5, 1}},
	} {
		f.Op = dist.OpSend
		_, err := read(f)
		require.ErrorContains(t, err, why)
	}
	for _, v := range []any{wire.Tuple{goMark}, wire.Tuple{wire.Atom("$no"), ref, 1}, wire.Tuple{goMark, ref, 1, 2, 3}} {
		got, err := read(dist.Frame{Op: dist.OpSend, From: peerOrigin.PID(1), To: to.PID(5), Payload: v})
		require.NoError(t, err)
		require.Equal(t, v, got.Payload)
	}
	got, err := read(dist.Frame{Op: dist.OpSignal, From: peerOrigin.PID(1), To: to.PID(5), Payload: wire.Tuple{goMark, ref, 1}})
	require.NoError(t, err)
	require.Equal(t, wire.Tuple{goMark, ref, 1}, got.Payload, "an exit reason is none")
	got, err = read(dist.Frame{Op: dist.OpSend, From: peerOrigin.PID(1), To: to.PID(5),
		Payload: wire.Tuple{goMark, ref, wire.Tuple{goMark, []byte{0xc1}}}})
	require.NoError(t, err, "a body that cannot be read costs the request only")
	require.IsType(t, &links.Unreadable{}, got.Payload.(*links.Request).Body)

	w, _ := writerAndReader(withValues)
	for _, f := range []dist.Frame{
		{Op: dist.OpSend, From: peerOrigin.PID(1), To: to.PID(5), Payload: &links.Request{Body: "without a reference"}},
		{Op: dist.OpSend, To: to.PID(5), Payload: &links.Request{Ref: ref, Body: "of nobody"}},
		{Op: dist.OpSend, From: to.PID(1), To: to.PID(5), Payload: &links.Request{Ref: ref, Body: "of the peer's"}},
		{Op: dist.OpSend, From: peerOrigin.PID(1), To: to.PID(5), Payload: &links.Request{Ref: ref, Body: make(chan int)}},
		{Op: dist.OpSend, From: peerOrigin.PID(1), Ref: ref, Payload: &links.Reply{Value: make(chan int)}},
	} {
		require.ErrorAs(t, w.write(&f), new(*wire.EncodeError))
		require.Empty(t, w.buf)
	}
}

// Whatever bytes are in {'$go', Binary}, the reader returns a value or an error.
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

// Whatever is in the frame of a request or a reply, the reader returns an error, or something that can be sent again.
func FuzzRequest(f *testing.F) {
	flags := withValues &^ erlflags.DistHdrAtomCache &^ erlflags.Fragments
	to, ref := wire.NewOrigin(self), peerOrigin.RefOf(5)
	w, _ := writerAndReader(flags)
	for _, x := range []dist.Frame{
		{From: peerOrigin.PID(1), To: to.PID(5), Payload: &links.Request{Ref: ref, Body: "text"}},
		{From: peerOrigin.PID(1), Name: "till", Payload: &links.Request{Ref: ref, Body: wire.Tuple{1, 2.5}}},
		{From: peerOrigin.PID(1), Ref: to.RefOf(9), Payload: &links.Reply{Value: wire.NewMap("a", nil)}},
	} {
		x.Op, w.buf = dist.OpSend, w.buf[:0]
		require.NoError(f, w.write(&x))
		f.Add(bytes.Clone(w.buf[4:]))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		w, r := writerAndReader(flags)
		var got, again dist.Frame
		if ok, err := r.frame(b, &got); !ok || err != nil || got.Op != dist.OpSend {
			return
		}
		if err := w.write(&got); err != nil {
			return // no peer would send this: a name that is empty, or a part that could not be read
		}
		_, back := writerAndReader(flags)
		if _, err := back.frame(w.buf[4:], &again); err != nil {
			t.Fatalf("%x: %v", w.buf, err)
		}
		if err := linkkit.Same(got, again); err != nil {
			t.Fatalf("%x: %v", w.buf, err)
		}
	})
}
