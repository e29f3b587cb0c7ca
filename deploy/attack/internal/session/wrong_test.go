package session

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
	"slices"

	"github.com/actornode/actornode/deploy/attack/internal/raw"
	"github.com/actornode/actornode/internal/wire/etfcodec"
	"github.com/actornode/actornode/internal/wire/links"
	"github.com/actornode/actornode/internal/wire/pack"
	"github.com/actornode/actornode/wire"
	"github.com/actornode/actornode/wire/dist"
)

// settled lets everything under way arrive, and reports whether the link is up then.
func (f *fuzz) settled(c *conn) bool {
	f.calm()
	if c.stage == up {
		f.settle()
	}
	return c.stage == up
}

// wrongFrame sends a frame that must end the link.
func (f *fuzz) wrongFrame(c *conn) {
	if !f.settled(c) {
		return
	}
	c.slow = false
	f.tally.wrong++
	far := wire.NewOrigin(wire.NodeID{Name: host, Creation: 77})
	x := wrongs{f: f, c: c, me: f.me(c), near: far.PID(1 << 30),
		other: wire.NewOrigin(wire.NodeID{Name: "third@127.0.0.1", Creation: 1}).PID(1), ref: c.ref()}
	var why string
	var frames [][]byte
	if c.erl != nil {
		why, frames = x.erlang()
	} else {
		why, frames = x.native()
	}
	f.note("%s: wrong: %s", c, why)
	c.doomed = why
	for _, b := range frames {
		c.frame(b)
	}
	f.sever(c)
	f.settle()
}

// unreadable sends a message that is complete and beyond the limits of the reader: only that message is lost.
func (f *fuzz) unreadable(c *conn) {
	if !f.settled(c) {
		return
	}
	me, near := f.me(c), wire.NewOrigin(wire.NodeID{Name: host, Creation: 77}).PID(1<<30)
	var b []byte
	if c.erl != nil {
		b = c.erl.ControlFrame(wire.Tuple{6, me, wire.Atom(""), wire.Atom("nobody")})
		if !c.headed {
			b = append(b, 131)
		}
		if c.headed || f.r.IntN(2) == 0 { // nothing may be compressed after a header
			b = append(append(b, bytes.Repeat([]byte{104, 1}, 1<<17)...), 106)
		} else {
			b = append(b, 80, 255, 255, 255, 255, 0x78, 0x9c, 1) // more than may be inflated
		}
	} else {
		b = raw.SignalFrame(byte(dist.OpSend), me, near)
		b = append(append(b, bytes.Repeat([]byte{0x91}, 60000)...), 1)
	}
	f.note("%s: a message of %d bytes that cannot be read", c, len(b))
	c.frame(b)
	f.settle()
}

type wrongs struct {
	f               *fuzz
	c               *conn
	me, near, other wire.PID
	ref             wire.Ref
}

// bad returns a term that no field of a control message may have.
func (x *wrongs) bad() any {
	return []any{wire.Tuple{}, 2.5, wire.Map{}, []byte("x"), -1, wire.List{1}}[x.f.r.IntN(6)]
}

// controls returns correct control messages, by their number of elements after the operation.
func (x *wrongs) controls() (wire.Tuple, []any) {
	r := x.f.r
	signals := []dist.Frame{
		{Op: dist.OpLink, From: x.me, To: x.near}, {Op: dist.OpUnlink, ID: 3, From: x.me, To: x.near},
		{Op: dist.OpUnlinkAck, ID: 3, From: x.me, To: x.near}, {Op: dist.OpExit, From: x.me, To: x.near, Payload: 1},
		{Op: dist.OpSignal, From: x.me, To: x.near, Payload: 1}, {Op: dist.OpMonitor, From: x.me, To: x.near, Ref: x.ref},
		{Op: dist.OpDemonitor, From: x.me, To: x.near, Ref: x.ref}, {Op: dist.OpDown, From: x.me, To: x.near, Ref: x.ref, Payload: 1},
		{Op: dist.OpSend, From: x.me, To: x.near, Payload: 1}, {Op: dist.OpGroupLeader, Leader: x.me, To: x.near},
		{Op: dist.OpSpawn, From: x.me, Ref: x.ref, Spawn: &dist.Spawn{Module: "demo", Function: "exit", Args: []any{1}, Leader: x.me}},
		{Op: dist.OpSend, From: x.me, Name: "nobody", Payload: 1},
	}
	return erlang(&signals[r.IntN(len(signals))])
}

func (x *wrongs) erlang() (why string, frames [][]byte) {
	r, c := x.f.r, x.c
	enc := func(control any, payload ...any) []byte { return c.erl.ControlFrame(control, payload...) }
	kind := r.IntN(16)
	if kind >= 9 && !c.headed {
		kind = r.IntN(9)
	}
	if kind == 15 && x.f.far != nil { // a daemon reads longer ones
		kind = 14
	}
	switch kind {
	case 0:
		t, p := x.controls()
		i := 1 + r.IntN(len(t)-1)
		t[i] = x.bad()
		if _, ok := t[i].(wire.List); ok && t[0] == 29 { // options may be a list
			t[i] = 2.5
		}
		if n, ok := t[0].(int); ok && n == 31 {
			t[i] = 2.5
		}
		return "an element of another type: " + wire.Format(t), [][]byte{enc(t, p...)}
	case 1:
		t, p := x.controls()
		if r.IntN(2) == 0 {
			t = append(t, 1)
		} else {
			t = t[:len(t)-1]
		}
		return "a wrong number of elements: " + wire.Format(t), [][]byte{enc(t, p...)}
	case 2:
		op := []any{0, 5, 9, 10, 11, 14, 15, 17, 38, 255, 1 << 40, -1, wire.Atom("x"), 2.5}[r.IntN(14)]
		return fmt.Sprint("the operation ", op), [][]byte{enc(wire.Tuple{op, x.me, x.near})}
	case 3:
		t := []wire.Tuple{{1, x.other, x.near}, {1, x.me, x.me}, {35, 1, x.other, x.near}, {19, x.other, x.near, x.ref},
			{3, x.other, x.near, 1}, {28, x.other, x.near, x.ref, 1}, {35, 0, x.me, x.near}, {4, x.me, x.near}}[r.IntN(8)]
		return "a process of a third node, or another wrong value: " + wire.Format(t), [][]byte{enc(t)}
	case 4:
		s := wire.Tuple{29, x.ref, x.me, x.me, wire.Tuple{wire.Atom("demo"), wire.Atom("exit"), 1 + r.IntN(3)*100}, wire.List{}}
		return "a spawn with another arity", [][]byte{enc(s, wire.List{1, 2})}
	case 5:
		return "a frame that begins with nonsense", [][]byte{{byte(1 + r.IntN(100)), 68, 0}}
	case 6:
		t, p := x.controls()
		b := enc(t, p...)
		return "a frame that is cut: " + wire.Format(t), [][]byte{b[:len(b)-1-r.IntN(min(len(b)-4, 20))]}
	case 7:
		t, p := x.controls()
		for len(p) > 0 { // the bytes after a payload are not read
			t, p = x.controls()
		}
		return "bytes behind: " + wire.Format(t), [][]byte{append(enc(t), byte(r.IntN(256)))}
	case 8:
		b := enc(wire.Tuple{6, x.me, wire.Atom(""), wire.Atom("nobody")})
		if !c.headed {
			b = append(b, 131)
		}
		bad := [][]byte{{80, 0, 0, 255, 255, 1, 2, 3}, {108, 255, 255, 255, 255, 106},
			{104, 255}, {105, 255, 255, 255, 255}, {109, 255, 255, 255, 255, 1}, {110, 255, 1}, {111, 255, 255, 255, 255, 0},
			{116, 255, 255, 255, 255},
			{116, 0, 0, 0, 2, 97, 1, 97, 1, 97, 1, 97, 2}, {77, 0, 0, 0, 1, 9, 0}, {119, 200, 1}, {119, 2, 0xff, 0xfe}, {82, 3}, {255},
			{90, 0, 9}, {88},
			{0x92, 1, 2}, {112}}
		return "a payload that is no term", [][]byte{append(b, bad[r.IntN(len(bad))]...)}
	case 9:
		segment, at := byte(r.IntN(8)), byte(r.IntN(256))
		if c.atomTold[int(segment)<<8|int(at)] {
			return "a header that is cut", [][]byte{{131, 68, 3, 0}}
		}
		return "an atom that has not been told", [][]byte{{131, 68, 1, segment, at, 104, 1, 82, 0}}
	case 10:
		return "a fragment of nothing", [][]byte{raw.Fragment(false, 1<<50, 2, []byte{1})}
	case 11:
		b := append([]byte{0}, enc(wire.Tuple{6, x.me, wire.Atom(""), wire.Atom("nobody")})[3:]...)
		return "a fragment out of order", [][]byte{raw.Fragment(true, 1<<50, 5, b), raw.Fragment(false, 1<<50, 3, []byte{1})}
	case 12:
		b := append([]byte{0}, enc(wire.Tuple{6, x.me, wire.Atom(""), wire.Atom("nobody")})[3:]...)
		return "a sequence that begins twice", [][]byte{raw.Fragment(true, 1<<50, 5, b), raw.Fragment(true, 1<<50, 5, b)}
	case 13:
		var all [][]byte
		for i := range 65 { // the daemon's limit; that of the node in the bubble is 8
			all = append(all, raw.Fragment(true, 1<<50+uint64(i), math.MaxUint64-uint64(r.IntN(2)), []byte{0, 104}))
		}
		return "more sequences than there may be", all
	case 14:
		return "a fragment 0", [][]byte{raw.Fragment(true, 1<<50, 0, []byte{0, 104})}
	default:
		all := [][]byte{raw.Fragment(true, 1<<50, 1<<40, []byte{0, 104})}
		for i := range uint64(20) {
			all = append(all, raw.Fragment(false, 1<<50, 1<<40-1-i, make([]byte, 64<<10)))
		}
		return "a message in fragments that is too long", all
	}
}

func (x *wrongs) native() (why string, frames [][]byte) {
	r := x.f.r
	one := func(why string, b []byte) (string, [][]byte) { return why, [][]byte{b} }
	send := byte(dist.OpSend)
	switch r.IntN(16) {
	case 0:
		return one("the highest bit", []byte{send | 0x80, 1, 2, 3})
	case 1:
		f := raw.SignalFrame(byte(1 + r.IntN(13)))
		if r.IntN(2) == 0 {
			f = append(f, 0xc1)
		}
		return one("an op without fields", f)
	case 2:
		bad := []any{wire.Tuple{}, 2.5, "text", 200, wire.Map{}, true}[r.IntN(6)]
		return one("a field of another type", raw.SignalFrame(byte(dist.OpLink), x.me, bad))
	case 3:
		f := [][]byte{raw.SignalFrame(byte(dist.OpLink), x.other, x.near), raw.SignalFrame(byte(dist.OpLink), x.me, x.me),
			raw.SignalFrame(byte(dist.OpMonitor), x.other, x.near, x.ref), raw.SignalFrame(byte(dist.OpUnlink), x.me, x.near, 0),
			raw.SignalFrame(byte(dist.OpExit), x.other, x.near, 1), raw.SignalFrame(byte(dist.OpSpawn), x.other, x.ref, 1),
			raw.SignalFrame(byte(dist.OpDown), x.me, x.me, x.ref, 1)}
		return one("a process of a third node", f[r.IntN(len(f))])
	case 4:
		return one("more that is not known", raw.SignalFrame(send|raw.Extras, x.me, x.near, 64+r.IntN(60), 1))
	case 5:
		return one("what is no zstd", append(raw.SignalFrame(send|raw.Packed, x.me, x.near),
			bytes.Repeat([]byte{byte(r.IntN(256))}, r.IntN(60))...))
	case 6:
		return one("too much in zstd", append(raw.SignalFrame(send|raw.Packed, x.me, x.near), x.f.zipped(make([]byte, 1<<24))...))
	case 7:
		return one("a part of nothing", []byte{raw.OpPart, byte(50 + r.IntN(200)), 1})
	case 8:
		size := []any{0, 1 << 30, uint64(math.MaxUint64), -1}[r.IntN(4)]
		return one(fmt.Sprint("parts of ", size, " bytes"), raw.SignalFrame(send|raw.Parts, x.me, x.near, 7, size))
	case 9:
		b := raw.SignalFrame(send|raw.Parts, x.me, x.near, 7, 10)
		return "a stream that begins twice", [][]byte{b, b}
	case 10:
		b := raw.SignalFrame(send|raw.Parts, x.me, x.near, 7, 10)
		return "a part that is too long", [][]byte{b, append([]byte{raw.OpPart, 7}, make([]byte, 11)...)}
	case 11:
		b := raw.SignalFrame(send, x.me, x.near, x.f.payload())
		return one("bytes behind", append(b, 1))
	case 12:
		b := raw.SignalFrame(byte(dist.OpMonitor), x.me, x.near, x.ref)
		return one("a frame that is cut", b[:1+r.IntN(len(b)-1)])
	case 13:
		bad := [][]byte{{0xc7, 3, 77, 1, 2, 3}, {0xdd, 255, 255, 255, 255}, {0xdf, 255, 255, 255, 255}, {0xc6, 255, 255, 255, 255},
			{0xc1},
			{0xc7, 2, 4, 9, 9}, {0xd4, 9, 9}, {0xd4, 3, 250}, bytes.Repeat([]byte{0x91}, 60000), {0x82, 1, 1, 1, 2}, {0xdb, 0, 0, 1, 0, 1},
			{131, 104, 0}}
		i := r.IntN(len(bad))
		return one(fmt.Sprintf("a payload that is no term: % x", bad[i][:min(len(bad[i]), 8)]),
			append(raw.SignalFrame(send, x.me, x.near), bad[i]...))
	case 14:
		return one("a spawn of nonsense", raw.SignalFrame(byte(dist.OpSpawn), x.me, x.ref, wire.Tuple{1, 2, 3}))
	default:
		if x.c.session {
			return one("an ack of what was not sent", pack.AppendUint([]byte{raw.OpAck}, 1<<50))
		}
		return one("an ack without a session", pack.AppendUint([]byte{raw.OpAck}, 1))
	}
}

// mutated sends a frame in which some bytes have been changed. Its effect cannot be predicted, but it must not affect
// others: so the frame must not name, however changed, a process or a name that the model knows.
func (f *fuzz) mutated(c *conn) {
	f.calm()
	if c.stage != up || c.cut {
		return
	}
	f.settle()
	if c.stage != up {
		return
	}
	f.tally.chaos++
	near := wire.NewOrigin(wire.NodeID{Name: host, Creation: 77}).PID(1 << 30)
	for _, p := range f.procs {
		if p.chaos && f.r.IntN(3) > 0 {
			near = p.pid
		}
	}
	me, ref := f.me(c), c.ref()
	signals := []dist.Frame{
		{Op: dist.OpLink, From: me, To: near}, {Op: dist.OpUnlink, ID: uint64(1 + f.r.IntN(9)), From: me, To: near},
		{Op: dist.OpUnlinkAck, ID: uint64(1 + f.r.IntN(9)), From: me, To: near},
		{Op: dist.OpExit, From: me, To: near, Payload: f.payload()},
		{Op: dist.OpSignal, From: me, To: near, Payload: f.payload()}, {Op: dist.OpMonitor, From: me, To: near, Ref: ref},
		{Op: dist.OpDemonitor, From: me, To: near, Ref: ref}, {Op: dist.OpDown, From: me, To: near, Ref: ref, Payload: f.payload()},
		{Op: dist.OpSend, From: me, To: near, Payload: wire.Tuple{me, f.payload()}}, {Op: dist.OpGroupLeader, Leader: me, To: near},
		{Op: dist.OpSpawn, From: me, Ref: ref, Spawn: &dist.Spawn{Module: "demo", Function: "exit", Args: []any{f.payload()},
			Leader: me,
			Link:   f.r.IntN(2) == 0, Monitor: f.r.IntN(2) == 0}},
		{Op: dist.OpSpawnReply, From: me, To: near, Ref: ref},
		{Op: dist.OpSend, From: me, Name: "nobody", Payload: wire.Tuple{calls, wire.Tuple{me, ref}, f.payload()}},
	}
	typed, _ := f.typed(me)
	if c.goNode {
		signals = append(signals,
			dist.Frame{Op: dist.OpSend, From: me, To: near, Payload: raw.Bytes(typed)},
			dist.Frame{Op: dist.OpSend, From: me, To: near, Payload: &links.Request{Ref: ref, Body: raw.Bytes(typed)}},
			dist.Frame{Op: dist.OpSend, From: me, Name: "counter", Payload: &links.Request{Ref: ref, Body: f.payload()}},
			dist.Frame{Op: dist.OpSend, From: me, Ref: ref, Payload: &links.Reply{Value: raw.Bytes(typed)}})
	}
	s := signals[f.r.IntN(len(signals))]
	b := c.encode(&s)
	base := bytes.Clone(b)
	for range 1 + f.r.IntN(4) {
		i := f.r.IntN(len(b))
		switch f.r.IntN(7) {
		case 0, 1:
			b[i] ^= 1 << f.r.IntN(8)
		case 2:
			b[i] = []byte{0, 1, 127, 128, 255, 131, 104, 0xc0}[f.r.IntN(8)]
		case 3:
			b = append(b[:i], b[min(i+1+f.r.IntN(3), len(b)):]...)
		case 4:
			b = append(b[:i:i], append([]byte{byte(f.r.IntN(256))}, b[i:]...)...)
		case 5:
			j := f.r.IntN(len(b))
			b = append(b[:i:i], append(bytes.Clone(b[min(i, j):max(i, j)]), b[i:]...)...)
		case 6:
			b = b[:i+1]
		}
		if len(b) < 2 {
			b = append(b, 131, 68)
		}
	}
	if len(b) > 60000 || !f.harmless(c, base, b) {
		return
	}
	f.note("%s: chaos: % x, of %s", c, b, text(&s))
	c.chaos = true
	c.frame(b)
	if f.r.IntN(8) == 0 {
		c.frame(b)
	}
	f.settle()
}

// harmless reports whether a frame names nothing that the model knows.
func (f *fuzz) harmless(c *conn, base, b []byte) bool {
	terms := func(b []byte) (all []any) {
		if c.nat != nil {
			if b[0]&15 == raw.OpPart || b[0]&15 == raw.OpBye || b[0]&15 == 0 {
				return []any{b[0] & 15}
			}
			_, all, _ = raw.NewNative(nil, c.nat.Us.ID, host).Terms(b)
			return all
		}
		var dec etfcodec.Decoder
		dec.Atoms = func(byte) (any, bool) { return wire.Atom("nobody"), true }
		rest := b
		switch {
		case c.headed && len(b) > 3 && b[1] == 68 && b[2] == 0:
			rest = b[3:]
		case len(b) > 1 && b[0] == 112:
			rest = b[1:]
		default:
			return nil
		}
		for len(rest) > 0 {
			t, more, err := dec.DecodeBare(bytes.TrimPrefix(rest, []byte{131}))
			if err != nil {
				return all
			}
			all, rest = append(all, t), more
		}
		return all
	}
	was, is := terms(base), terms(b)
	for i, t := range is {
		if !f.innocent(c, t) {
			return false
		}
		if c.nat == nil || i >= len(was) {
			continue
		}
		_, pid := was[i].(wire.PID)
		if _, place := t.(int); pid && place {
			return false
		}
	}
	if c.nat == nil && (len(b) < 3 || b[0] == 131 && b[1] != 68 && b[1] != 69 && b[1] != 70) {
		return true
	}
	// In fragments, and after what does not decode, only the bytes are searched.
	for _, p := range f.procs {
		if p.chaos || c.erl == nil {
			continue
		}
		if n := binary.BigEndian.AppendUint32(nil, uint32(p.pid.Number())); bytes.Contains(b, n) && bytes.Contains(b, []byte(host)) {
			return false
		}
	}
	return true
}

func (f *fuzz) innocent(c *conn, t any) bool {
	switch t := t.(type) {
	case wire.PID:
		if t.Node() == host {
			p := f.proc(t)
			return p != nil && p.chaos || t.Number()&0xffffffff >= 1<<24
		}
		return t.Node() == c.p.name
	case wire.Ref:
		return t.Node() == host || t.Node() == c.p.name
	case wire.Atom:
		if f.far != nil {
			return !slices.Contains([]wire.Atom{"demo", "echo", "counter", "rex", "net_kernel", "actornode", "pg", "user", "kernel"}, t)
		}
		_, taken := f.n.Whereis(t)
		return !taken
	case wire.Tuple:
		for _, e := range t {
			if !f.innocent(c, e) {
				return false
			}
		}
	case wire.List:
		for _, e := range t {
			if !f.innocent(c, e) {
				return false
			}
		}
	case wire.Map:
		for k, e := range t.All() {
			if !f.innocent(c, k) || !f.innocent(c, e) {
				return false
			}
		}
	case wire.ImproperList:
		return f.innocent(c, wire.Tuple(t.Head)) && f.innocent(c, t.Tail)
	}
	return true
}
