package erldist

import (
	"encoding/binary"
	"fmt"
	"math/big"
	"math/rand/v2"
	"runtime"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/internal/testkit"
	"github.com/actornode/actornode/internal/testkit/linkkit"
	"github.com/actornode/actornode/internal/wire/erlflags"
	"github.com/actornode/actornode/internal/wire/etfcodec"
	"github.com/actornode/actornode/wire"
	"github.com/actornode/actornode/wire/dist"
	"github.com/actornode/actornode/wire/etf"
)

var (
	peerOrigin  = wire.NewOrigin(wire.NodeID{Name: "e@127.0.0.1", Creation: 1})
	thirdOrigin = wire.NewOrigin(wire.NodeID{Name: "x@127.0.0.1", Creation: 1})
	theirPID    = peerOrigin.PID(5)
	ourPID      = wire.NewOrigin(self).PID(7)
	someRef     = peerOrigin.Ref(1, 2, 3)
)

// ours returns a reader of what the peer e sends to this node.
func ours(flags erlflags.Flags, limits dist.LinkLimits) *reader {
	return newReader(self.Name, peerOrigin.NodeID().Name, flags, limits)
}

// framed returns a frame of terms without atoms in its header.
func framed(t testing.TB, terms ...any) []byte {
	b := []byte{131, distHeader, 0}
	for _, x := range terms {
		var err error
		b, err = etfcodec.AppendBare(b, x)
		require.NoError(t, err)
	}
	return b
}

func TestInvalidControlMessages(t *testing.T) {
	third := thirdOrigin.PID(1)
	mfa := wire.Tuple{wire.Atom("m"), wire.Atom("f"), 0}
	for _, c := range []struct {
		terms []any
		text  string
	}{
		{[]any{wire.Tuple{99, 1}}, "invalid control message {99,1}: unknown operation 99"},
		{[]any{wire.Tuple{5, theirPID, ourPID}}, "unknown operation 5"},
		{[]any{wire.Tuple{0}}, "unknown operation 0"},
		{[]any{wire.Tuple{-1}}, "the operation is not an integer in the allowed range"},
		{[]any{wire.Tuple{wire.Atom("link")}}, "the operation is not an integer"},
		{[]any{wire.Tuple{}}, "it is an empty tuple"},
		{[]any{1}, "it is not a tuple"},
		{[]any{wire.Tuple{1, theirPID}}, "invalid control message {1,<e@127.0.0.1.5.0>}: it takes 3 elements, not 2"},
		{[]any{wire.Tuple{1, theirPID, ourPID, 1}}, "it takes 3 elements, not 4"},
		{[]any{wire.Tuple{1, third, ourPID}}, "From is a process of x@127.0.0.1, not of e@127.0.0.1"},
		{[]any{wire.Tuple{1, theirPID, third}}, "To is a process of x@127.0.0.1, not of go@127.0.0.1"},
		{[]any{wire.Tuple{1, wire.Atom("x"), ourPID}}, "From is not a pid"},
		{[]any{wire.Tuple{4, theirPID, ourPID}}, "UNLINK from a node that announced UNLINK_ID"},
		{[]any{wire.Tuple{35, 0, theirPID, ourPID}}, "an unlink id of 0"},
		{[]any{wire.Tuple{35, -5, theirPID, ourPID}}, "an unlink id is not an integer in the allowed range"},
		{[]any{wire.Tuple{36, new(big.Int).Lsh(big.NewInt(1), 64), theirPID, ourPID}},
			"an unlink id is not an integer in the allowed range"},
		{[]any{wire.Tuple{35, 1, third, ourPID}}, "a process of x@127.0.0.1"},
		{[]any{wire.Tuple{3, third, ourPID, 1}}, "a process of x@127.0.0.1"},
		{[]any{wire.Tuple{24, third, ourPID}, 1}, "a process of x@127.0.0.1"},
		{[]any{wire.Tuple{19, third, ourPID, someRef}}, "a process of x@127.0.0.1"},
		{[]any{wire.Tuple{19, theirPID, third, someRef}}, "To is a process of x@127.0.0.1"},
		{[]any{wire.Tuple{19, theirPID, 1, someRef}}, "To is neither a pid nor a name"},
		{[]any{wire.Tuple{19, theirPID, ourPID, 1}}, "Ref is not a reference"},
		{[]any{wire.Tuple{20, third, wire.Atom("x"), someRef}}, "a process of x@127.0.0.1"},
		{[]any{wire.Tuple{21, third, ourPID, someRef, 1}}, "a process of x@127.0.0.1"},
		{[]any{wire.Tuple{28, theirPID, third, someRef}, 1}, "To is a process of x@127.0.0.1"},
		{[]any{wire.Tuple{6, theirPID, wire.Atom(""), 1}, 1}, "ToName is not an atom"},
		{[]any{wire.Tuple{2, 1, ourPID}, 1}, "the cookie is not an atom"},
		{[]any{wire.Tuple{2, wire.Atom(""), ourPID}}, "payload"},
		{[]any{wire.Tuple{1, theirPID, ourPID}, 2}, "2 unexpected bytes follow it"},
		{[]any{wire.Tuple{33, theirPID, ourPID}, 1}, "Alias is not a reference"},
		{[]any{wire.Tuple{29, someRef, third, theirPID, mfa, wire.List{}}, wire.List{}}, "a process of x@127.0.0.1"},
		{[]any{wire.Tuple{29, someRef, theirPID, theirPID, wire.Tuple{1, 2, 3}, wire.List{}}, wire.List{}}, "expected {M,F,A}"},
		{[]any{wire.Tuple{29, someRef, theirPID, theirPID, wire.Atom("x"), wire.List{}}, wire.List{}}, "expected {M,F,A}"},
		{[]any{wire.Tuple{29, someRef, theirPID, theirPID, mfa, wire.Atom("x")}, wire.List{}}, "expected a list of options"},
		{[]any{wire.Tuple{29, someRef, theirPID, theirPID, mfa, wire.List{wire.Tuple{wire.Atom("name"), 1}}}, wire.List{}},
			"spawn option {name,1}"},
		{[]any{wire.Tuple{29, someRef, theirPID, theirPID, mfa, wire.List{}}, wire.List{1}}, "1 arguments follow it"},
		{[]any{wire.Tuple{29, someRef, theirPID, theirPID, mfa, wire.List{}}, wire.Atom("x")}, "its arguments are not a list"},
		{[]any{wire.Tuple{31, someRef, ourPID, 0, third}}, "the new process is on x@127.0.0.1"},
		{[]any{wire.Tuple{31, someRef, third, 0, theirPID}}, "To is a process of x@127.0.0.1"},
		{[]any{wire.Tuple{31, someRef, ourPID, 0, 1}}, "expected the new process or an atom"},
		{[]any{wire.Tuple{37, 0, theirPID, wire.Atom("x")}, 1}, "To is not a pid"},
		{[]any{wire.Tuple{37, altactAlias, theirPID, ourPID}, 1}, "To is not a reference"},
		{[]any{wire.Tuple{37, altactToken, theirPID, ourPID}, 1}, "its Token is missing"},
		{[]any{wire.Tuple{37, 0, theirPID}, 1}, "it takes 4 elements, not 3"},
	} {
		var f dist.Frame
		_, err := ours(erlflags.Announced, dist.LinkLimits{}).frame(framed(t, c.terms...), &f)
		assert.ErrorContains(t, err, c.text, "%s", wire.Format(wire.List(c.terms)))
	}
}

func TestOtherControlMessages(t *testing.T) {
	mfa := wire.Tuple{wire.Atom("m"), wire.Atom("f"), 2}
	huge := new(big.Int).Lsh(big.NewInt(1), 80)
	for _, c := range []struct {
		flags erlflags.Flags
		terms []any
		want  dist.Frame
	}{
		{erlflags.Announced &^ erlflags.UnlinkID, []any{wire.Tuple{4, theirPID, ourPID}},
			dist.Frame{Op: dist.OpUnlink, From: theirPID, To: ourPID}},
		{erlflags.Announced, []any{wire.Tuple{37, new(big.Int).Or(huge, big.NewInt(altactPriority|altactName|altactToken)), theirPID,
			wire.Atom("n"), wire.Atom("token"), 1, 2, 3}, 9},
			dist.Frame{Op: dist.OpSend, From: theirPID, Name: "n", Token: wire.Atom("token"), Urgent: true, Payload: 9}},
		{erlflags.Announced, []any{wire.Tuple{37, altactExit | altactPriority, theirPID, ourPID}, wire.Atom("bye")},
			dist.Frame{Op: dist.OpSignal, From: theirPID, To: ourPID, Urgent: true, Payload: wire.Atom("bye")}},
		{erlflags.Announced, []any{wire.Tuple{37, altactExit | altactAlias, theirPID, someRef}, wire.Atom("bye")},
			dist.Frame{Op: dist.OpSignal, From: theirPID, Ref: someRef, Payload: wire.Atom("bye")}},
		{erlflags.Announced, []any{wire.Tuple{29, someRef, theirPID, theirPID, mfa, wire.List{
			wire.Tuple{wire.Atom("monitor"), wire.List{}}, wire.Tuple{wire.Atom("link"), wire.List{}}, wire.Atom("x")}},
			wire.Charlist("ab")},
			dist.Frame{Op: dist.OpSpawn, Ref: someRef, From: theirPID, Spawn: &dist.Spawn{Module: "m", Function: "f", Args: []any{97, 98},
				Leader: theirPID, Link: true, Monitor: true, Options: wire.List{wire.Atom("x")}}}},
		{erlflags.Announced, []any{wire.Tuple{8, thirdOrigin.PID(1), ourPID, 1}},
			dist.Frame{Op: dist.OpSignal, From: thirdOrigin.PID(1), To: ourPID, Payload: 1}},
	} {
		var f dist.Frame
		ok, err := ours(c.flags, dist.LinkLimits{}).frame(framed(t, c.terms...), &f)
		require.NoError(t, err, "%s", wire.Format(wire.List(c.terms)))
		assert.True(t, ok)
		assert.NoError(t, linkkit.Same(c.want, f))
		assert.Equal(t, c.want.Urgent, f.Urgent)

		b := []byte{passThrough} // the same, passed through
		for _, x := range c.terms {
			b, err = etf.Append(b, x)
			require.NoError(t, err)
		}
		_, err = ours(c.flags, dist.LinkLimits{}).frame(b, &f)
		require.NoError(t, err)
		assert.NoError(t, linkkit.Same(c.want, f))
	}
	// Compressed terms, which are allowed only when passing through.
	text := wire.List(make([]any, 1000))
	b, err := etfcodec.AppendCompressed([]byte{passThrough}, wire.Tuple{3, theirPID, ourPID, text})
	require.NoError(t, err)
	require.Less(t, len(b), 200)
	var f dist.Frame
	_, err = ours(erlflags.Announced, dist.LinkLimits{}).frame(b, &f)
	require.NoError(t, err)
	assert.NoError(t, linkkit.Same(dist.Frame{Op: dist.OpExit, From: theirPID, To: ourPID, Payload: text}, f))
}

// A frame that would make the peer end the link is not written.
func TestThirdNodesAreNotWritten(t *testing.T) {
	third := thirdOrigin.PID(1)
	w := newWriter(self, peerOrigin.NodeID().Name, erlflags.Announced, dist.LinkLimits{}, nil)
	for _, f := range []dist.Frame{
		{Op: dist.OpLink, From: third, To: theirPID},
		{Op: dist.OpLink, From: ourPID, To: third},
		{Op: dist.OpExit, From: third, To: theirPID},
		{Op: dist.OpUnlink, From: ourPID, To: third, ID: 1},
		{Op: dist.OpMonitor, From: third, To: theirPID, Ref: someRef},
		{Op: dist.OpMonitor, From: ourPID, To: third, Ref: someRef},
		{Op: dist.OpDown, From: third, To: theirPID, Ref: someRef},
		{Op: dist.OpSpawnReply, From: third, To: theirPID, Ref: someRef},
	} {
		err := w.write(&f)
		assert.ErrorAs(t, err, new(*wire.EncodeError))
		assert.ErrorContains(t, err, "is a process of x@127.0.0.1, not of")
	}
	assert.Empty(t, w.buf)
	assert.NoError(t, w.write(&dist.Frame{Op: dist.OpSend, From: third, To: third}), "a message may be passed on")
}

// inFragments returns a message in fragments with the given numbers.
func inFragments(seq uint64, b []byte, numbers ...uint64) (l [][]byte) {
	size := len(b)/len(numbers) + 1
	for i, n := range numbers {
		part := b[min(len(b), i*size):min(len(b), (i+1)*size)]
		head := []byte{131, nextFragment}
		if i == 0 {
			head[1] = firstFragment
		}
		head = binary.BigEndian.AppendUint64(head, seq)
		head = binary.BigEndian.AppendUint64(head, n)
		if i == 0 {
			head = append(head, 0)
		}
		l = append(l, append(head, part...))
	}
	return l
}

func TestFragments(t *testing.T) {
	body := framed(t, wire.Tuple{2, wire.Atom(""), ourPID}, []byte("the payload of a message in some fragments"))[3:]
	good := inFragments(7, body, 3, 2, 1)
	other := inFragments(8, body, 3, 2, 1)
	for _, c := range []struct {
		name   string
		frames [][]byte
		text   string
	}{
		{"in order", good, ""},
		{"alone", inFragments(7, body, 1), ""},
		{"mixed", [][]byte{good[0], other[0], good[1], other[1], other[2], good[2]}, ""},
		{"again", append(append([][]byte{}, good...), good...), ""},
		{"one left out", [][]byte{good[0], good[2]}, "fragment 1 of sequence 7, where 2 was expected"},
		{"one twice", [][]byte{good[0], good[1], good[1]}, "fragment 2 of sequence 7, where 1 was expected"},
		{"first twice", [][]byte{good[0], good[0]}, "a first fragment of sequence 7 where fragment 2 was expected"},
		{"unknown", [][]byte{good[1]}, "fragment 2 of sequence 7 without its first fragment"},
		{"over", append(append([][]byte{}, good...), good[2]), "without its first fragment"},
		{"zero", inFragments(7, body, 0), "fragment 0 of sequence 7"},
		{"too many", [][]byte{inFragments(1, body, 2, 1)[0], inFragments(2, body, 2, 1)[0], inFragments(3, body, 2, 1)[0]},
			"more than 2 incomplete fragmented messages at a time"},
		{"too long", append(inFragments(1, make([]byte, 1000), 9, 8), inFragments(1, make([]byte, 1000), 8, 7)[1]),
			"longer than 1000 bytes"},
		{"cut", [][]byte{good[0][:15]}, "ends inside its distribution header"},
	} {
		r := ours(erlflags.Announced, dist.LinkLimits{Fragments: 2, Message: 1000})
		var f dist.Frame
		var err error
		n := 0
		for _, b := range c.frames {
			var ok bool
			if ok, err = r.frame(b, &f); err != nil {
				break
			}
			if ok {
				n++
				assert.Equal(t, []byte("the payload of a message in some fragments"), f.Payload, c.name)
			}
		}
		if c.text != "" {
			assert.ErrorContains(t, err, c.text, c.name)
			continue
		}
		assert.NoError(t, err, c.name)
		assert.NotZero(t, n, c.name)
		assert.Empty(t, r.open, c.name)
	}
}

func TestHeaders(t *testing.T) {
	body := framed(t, wire.Tuple{2, wire.Atom(""), ourPID})[3:]
	body = append(body, tagAtomCacheRef, 0)
	for _, c := range []struct {
		head []byte
		text string
	}{
		{[]byte{1, 0x08, 5, 2, 'o', 'k'}, ""},
		{[]byte{1, 0x18, 5, 0, 2, 'o', 'k'}, ""}, // long atoms
		{[]byte{1, 0x00, 5}, "entry 5 of segment 0 of the atom cache is empty"},
		{[]byte{1, 0x08, 5, 2, 0xff, 'k'}, "not UTF-8"},
		{[]byte{0}, "no atom is known for the cache reference 0"},
		{[]byte{1}, "distribution header"},
		{[]byte{1, 0x08}, "distribution header"},
		{[]byte{1, 0x08, 5}, "distribution header"},
		{[]byte{1, 0x18, 5, 0}, "distribution header"},
		{[]byte{1, 0x18, 5, 255, 255}, "distribution header"},
	} {
		b := append([]byte{131, distHeader}, c.head...)
		if c.text == "" || len(c.head) > 5 || len(c.head) == 3 || c.head[0] == 0 {
			b = append(b, body...)
		}
		var f dist.Frame
		_, err := ours(erlflags.Announced, dist.LinkLimits{}).frame(b, &f)
		if c.text == "" {
			assert.NoError(t, err)
			assert.Equal(t, wire.Atom("ok"), f.Payload)
			continue
		}
		assert.ErrorContains(t, err, c.text, "%x", c.head)
	}
	for _, b := range [][]byte{{131}, {131, 71}, {0}, {112}, {112, 104}, {131, 68}} {
		var f dist.Frame
		_, err := ours(erlflags.Announced, dist.LinkLimits{}).frame(b, &f)
		assert.Error(t, err, "%x", b)
	}
}

// The two halves of the atom cache agree, whatever is sent, taken back or too large for a message.
func TestAtomCacheModel(t *testing.T) {
	for range testkit.By(5, 20, 200) {
		seed := testkit.Seed(t)
		g := rand.New(rand.NewPCG(seed, 2))
		var out atomsOut
		var in atomsIn
		var refs []any
		for range 400 {
			out.begin()
			numbers := map[byte]wire.Atom{}
			for range g.IntN(600) {
				a := wire.Atom(fmt.Sprint("a", g.IntN(1+g.IntN(8000))))
				if i, ok := out.index(a); ok {
					if old, known := numbers[i]; known && old != a {
						t.Fatalf("seed %d: number %d is %s and %s", seed, i, old, a)
					}
					numbers[i] = a
				}
			}
			if g.IntN(4) == 0 {
				out.undo()
				continue
			}
			var rest []byte
			var err error
			refs, rest, err = in.header(append(out.appendHeader(nil), "rest"...), refs)
			require.NoError(t, err, "seed %d", seed)
			require.Equal(t, "rest", string(rest))
			require.Len(t, refs, len(numbers))
			for i, a := range numbers {
				require.Equal(t, a, refs[i], "seed %d", seed)
			}
		}
	}
}

func TestEpochsGoRound(t *testing.T) {
	var c atomsOut
	c.begin()
	_, _ = c.index("abc")
	c.epoch = 1<<32 - 1
	c.begin()
	assert.EqualValues(t, 1, c.epoch)
	i, ok := c.index("abc")
	assert.True(t, ok)
	assert.Zero(t, i)
	assert.Equal(t, byte(1), c.appendHeader(nil)[0])
}

// A frame that claims to be long costs nothing before its bytes come.
func TestLengthBomb(t *testing.T) {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	for _, head := range [][]byte{{0x0f, 0xff, 0xff, 0xff}, {0x0f, 0xff, 0xff, 0xff, 131, 68, 0, 108, 0xff, 0xff, 0xff, 0xff}} {
		l := newLink(&stream{in: head}, self, dist.Peer{ID: peerOrigin.NodeID(), Flags: uint64(erlflags.Announced)}, dist.LinkLimits{}, nil)
		assert.Error(t, l.Read(new(dist.Frame)))
	}
	runtime.ReadMemStats(&after)
	assert.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(8<<20))
	l := newLink(&stream{in: []byte{0xff, 0xff, 0xff, 0xff}}, self, dist.Peer{ID: peerOrigin.NodeID()}, dist.LinkLimits{}, nil)
	assert.ErrorContains(t, l.Read(new(dist.Frame)), "from e@127.0.0.1: a frame of 4294967295 bytes; at most 268500992 are allowed")
}

// Messages in fragments share one bound on the memory they take.
func TestFragmentsTogether(t *testing.T) {
	r := ours(erlflags.Announced, dist.LinkLimits{Message: 4 << 20, Partial: 6 << 20})
	body, left := make([]byte, 64<<10), 0
	for ; ; left++ { // of eight messages
		f := inFragments(uint64(left%8), body, uint64(1000-left/8))[0]
		if left >= 8 {
			f[1] = nextFragment
			f = append(f[:fragmentHead:fragmentHead], body...)
		}
		if _, err := r.frame(f, new(dist.Frame)); err != nil {
			require.ErrorContains(t, err, "incomplete fragmented messages of more than 6291456 bytes together")
			break
		}
	}
	require.Greater(t, left, 16)
	sum := 0
	for _, p := range r.open {
		sum += cap(p.b)
	}
	require.Equal(t, sum, r.partial)
	require.LessOrEqual(t, sum, 10<<20)
}

func FuzzFrame(f *testing.F) {
	for _, name := range transcripts {
		var all []byte
		for _, x := range load(f, name)[5:] {
			if x.kind == '<' && len(x.b) < 1<<10 {
				all = append(binary.BigEndian.AppendUint16(all, uint16(len(x.b))), x.b...)
				f.Add(append(binary.BigEndian.AppendUint16(nil, uint16(len(x.b))), x.b...))
			}
		}
		f.Add(all)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		r := ours(erlflags.Announced, dist.LinkLimits{Message: 1 << 16, Fragments: 4})
		w := newWriter(peerOrigin.NodeID(), self.Name, erlflags.Announced&^erlflags.Fragments, dist.LinkLimits{}, nil)
		back := ours(erlflags.Announced, dist.LinkLimits{})
		for len(b) >= 2 {
			n := min(int(binary.BigEndian.Uint16(b)), len(b)-2)
			var f, again dist.Frame
			ok, err := r.frame(b[2:2+n], &f)
			b = b[2+n:]
			if err != nil {
				return
			}
			if !ok {
				continue
			}
			w.buf = w.buf[:0]
			if w.write(&f) != nil {
				continue // no peer would send this: a name that is empty, or an old unlink
			}
			ok, err = back.frame(w.buf[4:], &again)
			if !ok || err != nil {
				t.Fatalf("%s is written as %x: %v", describe(f), w.buf, err)
			}
			if err := linkkit.Same(f, again); err != nil {
				t.Fatalf("%x: %v", w.buf, err)
			}
		}
	})
}
