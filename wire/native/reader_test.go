package native

import (
	"bytes"
	"encoding/binary"
	"math/rand/v2"
	"runtime"
	"testing"
	"time"

	"github.com/klauspost/compress/zstd"
	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/internal/testkit"
	"github.com/actornode/actornode/internal/testkit/linkkit"
	"github.com/actornode/actornode/internal/wire/links"
	"github.com/actornode/actornode/internal/wire/pack"
	"github.com/actornode/actornode/wire"
	"github.com/actornode/actornode/wire/dist"
)

// reading returns a link that reads b, from node A to node B.
func reading(b []byte, limits dist.LinkLimits) *link {
	return new(Protocol).over(&stream{in: b}, nodeB, nodeA, limits)
}

// framed puts its size before each frame.
func framed(frames ...[]byte) (b []byte) {
	for _, f := range frames {
		b = append(binary.BigEndian.AppendUint16(b, uint16(len(f))), f...)
	}
	return b
}

func TestSize(t *testing.T) {
	for _, numbers := range [][2]uint64{{1, 2}, {1<<64 - 1, 1<<64 - 2}, {7<<32 | 70000, 9<<32 | 5}} {
		f := dist.Frame{Op: dist.OpSend, From: onA.PID(numbers[0]), To: onB.PID(numbers[1]), Payload: make([]byte, 64)}
		once, twice := len(recorded(t, f)), len(recorded(t, f, f))
		require.LessOrEqual(t, twice-once, 84, "%d", numbers)
		require.Equal(t, 71, twice-once)
	}
}

// A quick send and a Write produce the same bytes.
func TestSend(t *testing.T) {
	conn := &stream{}
	l := new(Protocol).over(conn, nodeA, nodeB, dist.LinkLimits{})
	var want []dist.Frame
	for _, p := range []any{[]byte{}, make([]byte, 64), make([]byte, smallBinary), make([]byte, smallBinary+1), wire.Atom("x"),
		make([]byte, 100_000), 7, "text", []byte{1}} {
		for from := range uint64(3) {
			f := dist.Frame{Op: dist.OpSend, From: onA.PID(from * pidPlaces), To: onB.PID(3), Payload: p} // all in one place
			_, err := l.Send(f.From, f.To, p)
			require.NoError(t, err)
			want = append(want, f)
		}
		for left := 1; left > 0; {
			var err error
			left, err = l.Flush(false)
			require.NoError(t, err)
		}
	}
	r := reading(conn.out, dist.LinkLimits{})
	n := len(want)
	for range n {
		var f dist.Frame
		require.NoError(t, r.Read(&f))
		i := 0
		for i < len(want) && linkkit.Same(want[i], f) != nil {
			i++
		}
		require.Less(t, i, len(want), "%+v was not sent", f)
		want = append(want[:i], want[i+1:]...)
	}
	_, err := l.Send(onA.PID(1), onB.PID(1), make(chan int))
	require.ErrorAs(t, err, new(*wire.EncodeError))
	_, err = l.Send(onA.PID(1), wire.PID{}, []byte{})
	require.ErrorAs(t, err, new(*wire.EncodeError))
	_, err = l.Send(wire.PID{}, onB.PID(1), []byte{})
	require.NoError(t, err)
}

func TestSendAllocatesNothing(t *testing.T) {
	l := new(Protocol).over(&stream{drop: true}, nodeA, nodeB, dist.LinkLimits{})
	var msg any = make([]byte, 64)
	send := func() {
		for from := range uint64(64) {
			if _, err := l.Send(onA.PID(from), onB.PID(1), msg); err != nil {
				t.Fatal(err)
			}
		}
		_, _ = l.Flush(false)
	}
	for range 10 {
		send()
	}
	require.Zero(t, testing.AllocsPerRun(100, send))
}

// Every frame that a peer must not send ends the link with an error that says so, and the peer is told.
func TestViolations(t *testing.T) {
	place := func(op dist.Op) []byte { return []byte{byte(op), 1, 1} }
	pid, _ := pack.Append(nil, onA.PID(1))
	mine, _ := pack.Append(nil, onB.PID(1))
	third, _ := pack.Append(nil, wire.NewOrigin(wire.NodeID{Name: "c@host", Creation: 1}).PID(1))
	with := func(op byte, parts ...any) (b []byte) {
		b = []byte{op}
		for _, p := range parts {
			switch p := p.(type) {
			case int:
				b = append(b, byte(p))
			case []byte:
				b = append(b, p...)
			}
		}
		return b
	}
	opened := with(byte(dist.OpSend)|bitParts, pid, mine, 3, 10)
	for name, c := range map[string]struct {
		frames []([]byte)
		text   string
	}{
		"unknown op":  {[][]byte{{0}}, "unknown op 0"},
		"unknown bit": {[][]byte{with(byte(dist.OpLink)|bitUnknown, pid, mine)}, "begins with 0x82"},
		"no pid told": {[][]byte{append(place(dist.OpSend), 1)}, "a pid of the pid dictionary that was not defined"},
		"cut":         {[][]byte{with(byte(dist.OpLink), pid)}, "an incomplete frame"},
		"third node": {[][]byte{with(byte(dist.OpLink), third, mine)},
			"is a process of c@host, where a process of a@host is required"},
		"third to": {[][]byte{with(byte(dist.OpExit), pid, third, 1)},
			"is a process of c@host, where a process of b@host is required"},
		"no pid":       {[][]byte{with(byte(dist.OpLink), nilByte, mine)}, "a pid is missing"},
		"no target":    {[][]byte{with(byte(dist.OpSend), pid, nilByte, 1)}, "a pid is missing"},
		"behind":       {[][]byte{with(byte(dist.OpLink), pid, mine, 1)}, "1 unexpected bytes follow it"},
		"behind term":  {[][]byte{with(byte(dist.OpSend), pid, mine, 1, 1)}, "1 unexpected bytes follow its payload"},
		"no term":      {[][]byte{with(byte(dist.OpSend), pid, mine, 0xc1)}, "0xc1"},
		"id":           {[][]byte{with(byte(dist.OpUnlink), pid, mine, 0)}, "the number 0"},
		"extra":        {[][]byte{with(byte(dist.OpSend)|bitExtras, pid, mine, 0x40, 1)}, "unknown flags: 0x40"},
		"both":         {[][]byte{with(byte(dist.OpSend)|bitExtras, pid, mine, extraCalls, refBytes(), 1)}, "the flags 0x18"},
		"reply to pid": {[][]byte{with(byte(dist.OpSend)|bitExtras, pid, mine, extraReply, 1)}, "the flags 0x10"},
		"request to alias": {[][]byte{with(byte(dist.OpSend)|bitExtras, pid, refBytes(), extraRequest, refBytes(), 1)},
			"the flags 0x8"},
		"numbered request": {[][]byte{with(byte(dist.OpSend)|bitExtras, pid, mine, extraRequest|extraID, 1, refBytes(), 1)},
			"the flags 0xa"},
		"link as request": {[][]byte{with(byte(dist.OpLink)|bitExtras, pid, mine, extraRequest, refBytes())}, "the flags 0x8"},
		"request of nobody": {[][]byte{with(byte(dist.OpSend)|bitExtras, nilByte, mine, extraRequest, refBytes(), 1)},
			"a request from nobody"},
		"request of a third": {[][]byte{with(byte(dist.OpSend)|bitExtras, third, mine, extraRequest, refBytes(), 1)},
			"is a process of c@host"},
		"request without ref": {[][]byte{with(byte(dist.OpSend)|bitExtras, pid, mine, extraRequest, 1)}, "0x01"},
		"wait of 0": {[][]byte{with(byte(dist.OpSend)|bitExtras, pid, mine, extraRequest|extraWait, refBytes(), 0, 1)},
			"a caller that waits for 0 ms"},
		"long wait": {[][]byte{with(byte(dist.OpSend)|bitExtras, pid, mine, extraRequest|extraWait, refBytes(),
			pack.AppendUint(nil, 1<<31), 1)}, "a caller that waits for 2147483648 ms"},
		"wait of a message": {[][]byte{with(byte(dist.OpSend)|bitExtras, pid, mine, extraWait, 5, 1)}, "the flags 0x20"},
		"wait of a reply": {[][]byte{with(byte(dist.OpSend)|bitExtras, pid, refBytes(), extraReply|extraWait, 5, 1)},
			"the flags 0x30"},
		"spawn":    {[][]byte{with(byte(dist.OpSpawn), pid, refBytes(), 1)}, "a spawn request with the payload 1"},
		"not zstd": {[][]byte{with(byte(dist.OpSend)|bitPacked, pid, mine, 1)}, "compressed"},
		"part":     {[][]byte{{opPart, 3, 1}}, "without a first part"},
		"far part": {[][]byte{{opPart, 200, 1}}, "without a first part"},
		"no part":  {[][]byte{opened, {opPart, 3}}, "an incomplete frame"},
		"long part": {[][]byte{opened, append([]byte{opPart, 3}, make([]byte, 11)...)},
			"a part of 11 bytes, where 10 were expected"},
		"twice":         {[][]byte{opened, opened}, "a second message in parts with the number 3"},
		"parts of link": {[][]byte{with(byte(dist.OpLink)|bitParts, pid, mine, 3, 10)}, "cannot be sent in parts"},
		"empty":         {[][]byte{with(byte(dist.OpSend)|bitParts, pid, mine, 3, 0)}, "an empty message in parts"},
		"beyond":        {[][]byte{with(byte(dist.OpSend)|bitParts, pid, mine, 3, 0xce, 0x7f, 0, 0, 0)}, "at most 1048576 are allowed"},
		"stream": {[][]byte{with(byte(dist.OpSend)|bitParts, pid, mine, 4, 10)},
			"number 4 for a message in parts; numbers below 4 are allowed"},
		"bye": {[][]byte{appendReason([]byte{opBye}, codeCookie, "so\x1b there")}, "the peer ended the link: so\\x{1B} there"},
	} {
		t.Run(name, func(t *testing.T) {
			l := reading(framed(c.frames...), dist.LinkLimits{Message: 1 << 20, Fragments: 4})
			err := l.Read(new(dist.Frame))
			require.ErrorContains(t, err, c.text)
			if out := l.conn.(*stream).out; name != "bye" {
				require.NotEmpty(t, out)
				require.Equal(t, byte(opBye), out[2])
				back := new(Protocol).over(&stream{in: out}, nodeA, nodeB, dist.LinkLimits{}).Read(new(dist.Frame))
				require.ErrorContains(t, back, "b@host: the peer ended the link")
				require.ErrorContains(t, back, c.text)
				require.ErrorIs(t, back, dist.ErrPeerProtocol)
			}
		})
	}
}

func refBytes() []byte {
	b, _ := pack.Append(nil, onA.RefOf(1))
	return b
}

// Announced lengths take no memory before the bytes have come, alone or together.
func TestBombs(t *testing.T) {
	pid, _ := pack.Append(nil, onA.PID(1))
	to, _ := pack.Append(nil, onB.PID(1))
	var frames [][]byte
	for i := range maxStreams { // each of 256 MiB, with 100 bytes sent
		frames = append(frames, append(append(append([]byte{byte(dist.OpSend) | bitParts}, pid...), to...), byte(i), 0xce, 0x10, 0, 0,
			0))
		frames = append(frames, append([]byte{opPart, byte(i)}, make([]byte, 100)...))
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	l := reading(framed(frames...), dist.LinkLimits{})
	require.ErrorContains(t, l.Read(new(dist.Frame)), "messages in parts of more than 537001984 bytes together")
	runtime.ReadMemStats(&after)
	require.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(4<<20))

	enc, err := zstd.NewWriter(nil)
	require.NoError(t, err)
	bomb := enc.EncodeAll(make([]byte, 256<<20), nil)
	require.Less(t, len(bomb), maxFrame-100)
	runtime.ReadMemStats(&before)
	l = reading(framed(append(append(append([]byte{byte(dist.OpSend) | bitPacked}, pid...), to...), bomb...)), dist.LinkLimits{})
	require.ErrorContains(t, l.Read(new(dist.Frame)), "compressed")
	runtime.ReadMemStats(&after)
	require.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(8<<20))
}

// stock returns a conversation with some of everything.
func stock(t testing.TB) []byte {
	ref := onA.RefOf(5)
	token := wire.Tuple{1, 2}
	frames := []dist.Frame{
		{Op: dist.OpSend, From: onA.PID(1), To: onB.PID(5), Payload: wire.Tuple{wire.Atom("x"), []byte("some"), onA.PID(9)}},
		{Op: dist.OpSend, From: onA.PID(1), To: onB.PID(5), Payload: []byte("binary")},
		{Op: dist.OpSend, From: onA.PID(1), Name: "name", Payload: 1, ID: 500, Urgent: true, Token: token},
		{Op: dist.OpSend, From: onA.PID(1), Ref: ref, Payload: 1},
		{Op: dist.OpLink, From: onA.PID(1), To: onB.PID(5)},
		{Op: dist.OpUnlink, From: onA.PID(1), To: onB.PID(5), ID: 3},
		{Op: dist.OpMonitor, From: onA.PID(1), Name: "name", Ref: ref},
		{Op: dist.OpDown, From: onA.PID(1), To: onB.PID(5), Ref: ref, Payload: wire.Atom("x")},
		{Op: dist.OpSpawn, From: onA.PID(1), Ref: ref,
			Spawn: &dist.Spawn{Module: "m", Function: "f", Args: []any{1}, Leader: onA.PID(2)}},
		{Op: dist.OpSpawnReply, From: onA.PID(1), To: onB.PID(5), Ref: ref, Linked: true},
		{Op: dist.OpReceipt, To: onB.PID(5), ID: 3, Payload: dist.Delivered},
		{Op: dist.OpSend, From: onA.PID(2), To: onB.PID(5), Payload: bytes.Repeat([]byte("long"), 20_000)},
		{Op: dist.OpSend, From: onA.PID(1), To: onB.PID(5), Payload: &links.Request{Ref: ref, Body: "six"}},
		{Op: dist.OpSend, From: onA.PID(1), Ref: ref, Payload: &links.Reply{Value: 7}, Token: token},
	}
	conn := &stream{}
	l := (&Protocol{Compress: 50}).over(conn, nodeA, nodeB, dist.LinkLimits{})
	for i := range frames {
		_, err := l.Write(&frames[i])
		require.NoError(t, err)
	}
	_, err := l.Flush(true)
	require.NoError(t, err)
	_, err = l.Flush(true)
	require.NoError(t, err)
	return conn.out
}

// all reads until the end.
func all(b []byte, limits dist.LinkLimits) (frames []dist.Frame, err error) {
	l := reading(b, limits)
	for {
		var f dist.Frame
		if err := l.Read(&f); err != nil {
			return frames, err
		}
		f.Payload = kept(f.Payload)
		frames = append(frames, f)
	}
}

// kept returns a payload of Read in a form that stays valid beyond the next Read.
func kept(payload any) any {
	switch p := payload.(type) {
	case *links.Request:
		again := *p
		return &again
	case *links.Reply:
		again := *p
		return &again
	}
	return payload
}

// same is linkkit.Same, also for requests and replies in frames of their own.
func same(want, got dist.Frame) error {
	switch w := want.Payload.(type) {
	case *links.Request:
		if g, ok := got.Payload.(*links.Request); ok && w.Ref == g.Ref && w.Wait == g.Wait {
			want.Payload, got.Payload = w.Body, g.Body
		}
	case *links.Reply:
		if g, ok := got.Payload.(*links.Reply); ok {
			want.Payload, got.Payload = w.Value, g.Value
		}
	}
	return linkkit.Same(want, got)
}

// To a peer that does not read how long a caller waits nothing is said about it.
func TestRequestToFormer(t *testing.T) {
	former := info(dist.LinkLimits{})
	require.NotZero(t, former.flags&flagWaits)
	former.flags &^= flagWaits
	former.id = nodeB
	written := func(theirs nodeInfo, wait time.Duration) []byte {
		conn := &stream{}
		m := &machine{h: dist.Handshake{Local: nodeA}, ours: info(dist.LinkLimits{}), theirs: theirs, state: finished}
		l := new(Protocol).newLink(conn, m, nil)
		_, err := l.Write(&dist.Frame{Op: dist.OpSend, From: onA.PID(1), To: onB.PID(5),
			Payload: &links.Request{Ref: onA.RefOf(5), Body: "body", Wait: wait}})
		require.NoError(t, err)
		_, err = l.Flush(true)
		require.NoError(t, err)
		return conn.out
	}
	require.Equal(t, written(former, 0), written(former, time.Second))

	now := former
	now.flags |= flagWaits
	in := reading(written(now, time.Second), dist.LinkLimits{})
	in.in.waits = false
	require.ErrorContains(t, in.Read(new(dist.Frame)), "unknown flags: 0x28")
}

// Requests and replies in frames of their own each arrive as they were sent, also in parts. They are not offered to a
// peer that does not know them.
func TestRequests(t *testing.T) {
	ref, token := onA.RefOf(5), wire.Tuple{1, "token"}
	var frames []dist.Frame
	for _, v := range []any{nil, 7, []byte("short"), wire.Tuple{wire.Atom("x"), onA.PID(4)}, bytes.Repeat([]byte("long"), 50_000),
		wire.Tuple{bytes.Repeat([]byte("long"), 50_000), 1}} {
		frames = append(frames,
			dist.Frame{Op: dist.OpSend, From: onA.PID(1), To: onB.PID(5), Payload: &links.Request{Ref: ref, Body: v}},
			dist.Frame{Op: dist.OpSend, From: onA.PID(2), Name: "till", Payload: &links.Request{Ref: ref, Body: v}, Token: token},
			dist.Frame{Op: dist.OpSend, From: onA.PID(1), To: onB.PID(5),
				Payload: &links.Request{Ref: ref, Body: v, Wait: links.MostWait}},
			dist.Frame{Op: dist.OpSend, From: onA.PID(2), Name: "till", Token: token,
				Payload: &links.Request{Ref: ref, Body: v, Wait: time.Millisecond}},
			dist.Frame{Op: dist.OpSend, From: onA.PID(3), Ref: onB.RefOf(9), Payload: &links.Reply{Value: v}},
			dist.Frame{Op: dist.OpSend, From: onA.PID(4), Ref: onB.RefOf(9), Payload: &links.Reply{Value: v}, Token: token})
	}
	for i := range frames {
		conn := &stream{}
		l := (&Protocol{Compress: 100}).over(conn, nodeA, nodeB, dist.LinkLimits{})
		require.True(t, l.Requests())
		_, err := l.Write(&frames[i])
		require.NoError(t, err)
		for left := 1; left > 0; {
			left, err = l.Flush(false)
			require.NoError(t, err)
		}
		var f dist.Frame
		require.NoError(t, reading(conn.out, dist.LinkLimits{}).Read(&f))
		require.NoError(t, same(frames[i], f))

		in := reading(conn.out, dist.LinkLimits{})
		in.in.requests = false
		require.ErrorContains(t, in.Read(&f), "unknown flags")
	}
	old := info(dist.LinkLimits{})
	old.flags &^= flagRequests
	old.id = nodeB
	m := &machine{h: dist.Handshake{Local: nodeA}, ours: info(dist.LinkLimits{}), theirs: old, state: finished}
	require.False(t, new(Protocol).newLink(&stream{}, m, nil).Requests())

	l := new(Protocol).over(&stream{}, nodeA, nodeB, dist.LinkLimits{})
	for _, f := range []dist.Frame{
		{Op: dist.OpSend, From: onA.PID(1), To: onB.PID(5), Payload: &links.Request{Body: "without a reference"}},
		{Op: dist.OpSend, To: onB.PID(5), Payload: &links.Request{Ref: ref, Body: "of nobody"}},
		{Op: dist.OpSend, From: onB.PID(1), To: onB.PID(5), Payload: &links.Request{Ref: ref, Body: "of the peer's"}},
		{Op: dist.OpSend, From: onA.PID(1), To: onB.PID(5), Payload: &links.Request{Ref: ref, Body: make(chan int)}},
		{Op: dist.OpSend, From: onA.PID(1), Ref: ref, Payload: &links.Reply{Value: make(chan int)}},
	} {
		before := len(l.out.buf)
		_, err := l.Write(&f)
		require.ErrorAs(t, err, new(*wire.EncodeError))
		require.Len(t, l.out.buf, before)
	}
}

func TestCutAndFlipped(t *testing.T) {
	b := stock(t)
	whole, err := all(b, dist.LinkLimits{})
	require.Len(t, whole, 14)
	require.ErrorContains(t, err, "ended without a goodbye")
	for i := range b {
		got, err := all(b[:i], dist.LinkLimits{})
		require.Error(t, err)
		for j := range got {
			require.NoError(t, same(whole[j], got[j]), "cut at %d", i)
		}
	}
	r := rand.New(rand.NewPCG(1, 2))
	for i := range b {
		c := bytes.Clone(b)
		c[i] ^= byte(1 + r.IntN(255))
		_, err := all(c, dist.LinkLimits{})
		require.Error(t, err)
	}
}

func FuzzFrames(f *testing.F) {
	f.Add(stock(f))
	f.Add(framed([]byte{opPart, 0, 0}))
	f.Fuzz(func(t *testing.T, b []byte) {
		frames, err := all(b, dist.LinkLimits{Message: 1 << 16, Fragments: 3})
		if err == nil {
			t.Error("no end")
		}
		for i := range frames { // what can be read can be written and read again
			g := frames[i]
			if g.Op == dist.OpSpawn && g.Spawn.Leader.IsZero() {
				continue
			}
			if _, bad := g.Payload.(*links.Unreadable); bad {
				continue
			}
			conn := &stream{}
			l := new(Protocol).over(conn, nodeA, nodeB, dist.LinkLimits{})
			if _, err := l.Write(&g); err != nil {
				t.Fatalf("%+v: %v", g, err)
			}
			for left := 1; left > 0; {
				left, _ = l.Flush(false)
			}
			var h dist.Frame
			if err := reading(conn.out, dist.LinkLimits{}).Read(&h); err != nil {
				t.Fatalf("%+v: %v", g, err)
			}
			if err := same(g, h); err != nil {
				t.Fatal(err)
			}
		}
	})
}

// All long messages arrive, even if there are more than can be under way at a time, and than the peer has room for
// together; senders that are held up go on.
func TestManyLong(t *testing.T) {
	conn := &stream{}
	p := new(Protocol)
	limits := dist.LinkLimits{Message: 300 << 10, Partial: 300 << 10}
	l := p.over(conn, nodeA, nodeB, limits)
	payload := func(i int) []byte { return bytes.Repeat([]byte{byte(i)}, 100<<10+i) }
	later := 0
	for i := range 50 {
		f := dist.Frame{Op: dist.OpSend, From: onA.PID(uint64(i)), To: onB.PID(5), Payload: payload(i)}
		for {
			_, err := l.Write(&f)
			if err == nil {
				break
			}
			require.ErrorIs(t, err, links.ErrLong)
			require.True(t, l.LongFull())
			require.GreaterOrEqual(t, i, sendStreams)
			later++
			_, err = l.Flush(false)
			require.NoError(t, err)
		}
	}
	require.NotZero(t, later)
	for left := 1; left > 0; {
		left, _ = l.Flush(false)
	}
	r := p.over(&stream{in: conn.out}, nodeB, nodeA, limits)
	seen := make(map[uint64]bool)
	for range 50 {
		var f dist.Frame
		require.NoError(t, r.Read(&f))
		i := f.From.Number()
		require.Equal(t, payload(int(i)), f.Payload)
		require.False(t, seen[i])
		seen[i] = true
	}
	require.Zero(t, r.in.held)
	require.Zero(t, r.in.count)
	require.Zero(t, l.out.open)
	require.Zero(t, l.out.used)
	require.False(t, l.LongFull())
}

func TestInOrderFromMany(t *testing.T) {
	linkkit.Crowd(t, &Protocol{}, 50, testkit.By(200, 2000, 20_000))
}

// A thousand idle links must fit: each has sent and received a little.
func TestIdleLinkIsSmall(t *testing.T) {
	in := recorded(t, dist.Frame{Op: dist.OpSend, From: onA.PID(1), Name: "name", Payload: wire.Tuple{wire.Atom("x"), 1}})
	const n = 200
	links := make([]*link, n)
	var before, after runtime.MemStats
	for range 2 { // the second run also removes what others have put into a sync.Pool
		runtime.GC()
	}
	runtime.ReadMemStats(&before)
	for i := range links {
		l := new(Protocol).over(&stream{in: in, drop: true}, nodeB, nodeA, dist.LinkLimits{})
		require.NoError(t, l.Read(new(dist.Frame)))
		_, err := l.Write(&dist.Frame{Op: dist.OpSend, From: onB.PID(1), Name: "name", Payload: wire.Tuple{wire.Atom("x"), 1}})
		require.NoError(t, err)
		for range 2 { // the second is a tick
			_, err = l.Flush(true)
			require.NoError(t, err)
		}
		links[i] = l
	}
	runtime.GC()
	runtime.ReadMemStats(&after)
	each := (int64(after.HeapAlloc) - int64(before.HeapAlloc)) / n // some of others' memory may be freed meanwhile
	t.Logf("%d bytes each", each)
	if !testkit.Race {
		require.Less(t, each, int64(32<<10))
	}
	runtime.KeepAlive(links)
}
