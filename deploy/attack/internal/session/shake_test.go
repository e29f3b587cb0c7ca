package session

import (
	"bytes"
	"crypto/hmac"
	"encoding/binary"
	"slices"
	"time"

	"github.com/actornode/actornode/deploy/attack/internal/raw"
	"github.com/actornode/actornode/internal/wire/erlflags"
	"github.com/actornode/actornode/wire"
)

// Handshakes, step by step.

// connect opens a connection to one of the node's listeners.
func (f *fuzz) connect(native bool) *end {
	name := "erlang"
	if native {
		name = "native"
	}
	if f.far != nil {
		return f.reach(native)
	}
	ours, theirs := pipe()
	f.net.mu.Lock()
	l := f.net.listeners[name]
	f.net.mu.Unlock()
	l.come <- theirs
	return ours
}

// open starts a connection of a peer.
func (f *fuzz) open(p *peer) {
	if f.r.IntN(6) == 0 && p.link() == nil {
		p.creation += 8
	}
	native := f.r.IntN(2) == 0
	c := f.newConn(p, native, f.connect(native))
	c.since = time.Now()
	if native && f.far == nil && f.r.IntN(2) == 0 {
		c.nat.Us.Flags |= raw.Session
		c.nat.Us.Grace = uint32(f.grace().Milliseconds())
	}
	f.note("%s: open", c)
}

// put sends a message of the handshake.
func (c *conn) put(b []byte) {
	c.send(append(binary.BigEndian.AppendUint16(nil, uint16(len(b))), b...))
}

// advance takes the next step of a handshake.
func (f *fuzz) advance(c *conn) {
	f.note("%s: goes on from %s", c, c.stage)
	if c.stage == opened {
		c.stage = named
		c.lazy = !f.good && f.far == nil && f.r.IntN(6) == 0
		if c.erl != nil {
			c.put(c.erl.NameMessage())
		} else {
			c.nat.Hello = c.nat.HelloMessage()
			c.put(c.nat.Hello)
		}
		return
	}
	if len(c.p.conns) > 1 { // what the others have sent is read before this one replaces them
		f.settle()
	}
	b, ok := c.message()
	if !ok {
		f.settle()
		if c.stage == gone || c.stage == up {
			return
		}
		b, ok = c.message()
	}
	if len(c.p.conns) > 1 {
		defer f.settle()
	}
	switch {
	case !ok && !c.over && c.stage == proved && (len(c.p.conns) > 1 || f.net.how[c.p.name] != refuses):
		return // the node waits for the result of its own dial
	case !ok && !c.over:
		if f.aged(c) || c.stage == called {
			f.drop(c)
			return
		}
		f.fail("%s: nothing comes in stage %s", c, c.stage)
	case !ok:
	case c.erl != nil:
		f.onErlang(c, b)
	default:
		f.onNative(c, b)
	}
}

// drop gives up a connection that is not a link.
func (f *fuzz) drop(c *conn) {
	f.note("%s: gives up in stage %s", c, c.stage)
	if f.r.IntN(2) == 0 {
		c.end.reset()
	} else {
		_ = c.end.Close()
	}
	c.stage = gone
	c.p.conns = slices.DeleteFunc(c.p.conns, func(d *conn) bool { return d == c })
}

// aged reports whether the handshake may have timed out. A connection that has sent nothing yet has less time.
func (f *fuzz) aged(c *conn) bool {
	if c.stage == opened {
		return time.Since(c.since) > time.Second
	}
	return time.Since(c.since) > 6*time.Second
}

func (f *fuzz) onErlang(c *conn, b []byte) {
	e := c.erl
	switch c.stage {
	case named:
		switch status := string(b); status {
		case "sok", "sok_simultaneous":
			c.stage = challenged
		case "salive":
			if f.r.IntN(8) == 0 {
				c.put([]byte("sfalse"))
				c.wrong, c.doomed = true, "that the link that there is stays"
				f.settle()
				return
			}
			c.put([]byte("strue"))
			c.stage = challenged
		case "snok":
			f.drop(c)
		default:
			f.fail("%s: the status %q", c, status)
		}
	case challenged:
		if len(b) < 19 || b[0] != 'N' || wire.Atom(b[19:]) != host {
			f.fail("%s: no challenge: %q", c, b)
		}
		e.Theirs = erlflags.Flags(binary.BigEndian.Uint64(b[1:]))
		e.Posed = binary.BigEndian.Uint32(b[9:])
		knows := cookie
		if !f.good && f.r.IntN(20) == 0 {
			knows, c.wrong, c.doomed = "guessed", true, "a wrong proof"
		}
		digest := raw.Digest(knows, e.Posed)
		c.put(append([]byte{'r', 0, 0, 0, 9}, digest[:]...))
		c.stage = proved
		if c.wrong {
			f.settle()
		}
	case called:
		if len(b) < 15 || b[0] != 'N' || wire.Atom(b[15:]) != host {
			f.fail("%s: no name: %q", c, b)
		}
		e.Theirs = erlflags.Flags(binary.BigEndian.Uint64(b[1:]))
		status := []string{"ok", "ok", "ok", "ok", "nok", "not_allowed", "alive", "x"}[f.r.IntN(8)]
		c.put([]byte("s" + status))
		if status != "ok" {
			c.wrong = true
			f.drop(c)
			return
		}
		c.put(e.ChallengeMessage(5))
		c.stage = posed
	case posed:
		digest := raw.Digest(cookie, 5)
		if len(b) != 21 || b[0] != 'r' || !bytes.Equal(b[5:], digest[:]) {
			f.fail("%s: no proof: %q", c, b)
		}
		digest = raw.Digest(cookie, binary.BigEndian.Uint32(b[1:]))
		if f.r.IntN(10) == 0 {
			digest[3]++
			c.wrong, c.doomed = true, "a wrong proof"
		}
		c.put(append([]byte{'a'}, digest[:]...))
		if !c.wrong {
			c.stage = done
		}
		f.settle()
	default:
		f.fail("%s: in stage %s a message %q", c, c.stage, b)
	}
}

// acked handles the end of an Erlang handshake: the node has sent its proof.
func (f *fuzz) acked(c *conn) {
	b, ok := c.message()
	if !ok {
		return
	}
	digest := raw.Digest(cookie, 9)
	if len(b) != 17 || b[0] != 'a' || !bytes.Equal(b[1:], digest[:]) {
		f.fail("%s: no proof of the node: %q", c, b)
	}
	c.stage = done
}

func (f *fuzz) onNative(c *conn, b []byte) {
	n := c.nat
	if len(b) > 2 && b[0] == 'E' {
		if b[1] != 4 { // another connection goes on
			f.fail("%s: refused: %q", c, b)
		}
		f.drop(c)
		return
	}
	switch c.stage {
	case named:
		if len(b) < 60 || b[0] != 'W' {
			f.fail("%s: no welcome: %q", c, b)
		}
		n.Welcome = bytes.Clone(b)
		p := binary.BigEndian.AppendUint64(append([]byte{'P'}, n.Session[:]...), n.Received)
		knows := cookie
		if !f.good && f.r.IntN(20) == 0 {
			knows, c.wrong, c.doomed = "guessed", true, "a wrong proof"
		}
		n.Proof = append(p, raw.MAC(knows, raw.LabelDialled, n.Hello, n.Welcome, p)...)
		c.put(n.Proof)
		c.stage = proved
		if c.wrong {
			f.settle()
		}
	case proved:
		const body = 1 + 16 + 8
		if len(b) != body+32 || b[0] != 'A' || !hmac.Equal(b[body:],
			raw.MAC(cookie, raw.LabelAccepted, n.Hello, n.Welcome, n.Proof, b[:body])) {
			f.fail("%s: no proof of the node: %q", c, b)
		}
		copy(n.Session[:], b[1:])
		n.Sums = n.Session != [16]byte{}
		c.session = n.Sums
		c.put([]byte{'D'})
		c.stage = done
		f.settle()
	default:
		f.fail("%s: in stage %s a message %q", c, c.stage, b)
	}
}

// badShake sends something that does not belong to a handshake.
func (f *fuzz) badShake(c *conn) {
	if c.stage == proved {
		f.drop(c)
		return
	}
	c.wrong, c.doomed = true, "a handshake that is none"
	bad := [][]byte{
		{0, 0}, {255, 255}, []byte("GET / HTTP/1.1\r\n\r\n"), {0x16, 3, 1, 2, 0, 1}, {0, 1, 'z'}, {0, 3, 'N', 0, 0},
		{0, 5, 's', 'n', 'o', 'n', 'e'}, append([]byte{1, 0}, bytes.Repeat([]byte{'H'}, 256)...),
		{0, 8, 'H', 'A', 'C', 'T', 'N', 1, 1, 0}, {0, 8, 'H', 'A', 'C', 'T', 'N', 9, 9, 0}, {0, 2, 'E', 1}, {0, 21, 'r'},
	}
	b := bad[f.r.IntN(len(bad))]
	f.note("%s: sends % x in stage %s", c, b[:min(len(b), 12)], c.stage)
	c.send(b)
	c.end.closeWrite()
	f.settle()
}

// resume continues a session over a new connection.
func (f *fuzz) resume(c *conn) {
	f.settle()
	if c.stage != up {
		return
	}
	stop, wrong := f.r.IntN(12), f.r.IntN(8) == 0
	f.note("%s: goes on with its session (up to step %d, wrong: %v)", c, stop, wrong)
	e := f.connect(true)
	n := raw.NewNative(nil, c.nat.Us.ID, host)
	n.Us = c.nat.Us
	n.Us.Flags |= raw.Resume
	n.Session = c.nat.Session
	if wrong {
		n.Session[5]++
	}
	var in []byte
	next := func() []byte {
		f.arrive(func() bool {
			in, _ = e.take(in)
			return len(in) >= 2 && len(in) >= 2+int(binary.BigEndian.Uint16(in))
		})
		if len(in) < 2 || len(in) < 2+int(binary.BigEndian.Uint16(in)) {
			f.fail("%s: the node does not answer who would go on with a session: %q", c, in)
		}
		b := in[2 : 2+binary.BigEndian.Uint16(in)]
		in = in[2+len(b):]
		return b
	}
	put := func(b []byte) { e.send(append(binary.BigEndian.AppendUint16(nil, uint16(len(b))), b...)) }
	n.Hello = n.HelloMessage()
	put(n.Hello)
	if stop == 0 {
		_ = e.Close()
		return
	}
	n.Welcome = bytes.Clone(next())
	// The count that is sent now must stay true: nothing more is read from the old connection.
	old := c.end
	if !c.cut {
		f.lose(c, false)
	}
	p := binary.BigEndian.AppendUint64(append([]byte{'P'}, n.Session[:]...), c.received)
	n.Proof = append(p, raw.MAC(cookie, raw.LabelDialled, n.Hello, n.Welcome, p)...)
	put(n.Proof)
	b := next()
	if len(b) != 57 || b[0] != 'A' || !hmac.Equal(b[25:], raw.MAC(cookie, raw.LabelAccepted, n.Hello, n.Welcome, n.Proof, b[:25])) {
		f.fail("%s: no proof of the node: %q", c, b)
	}
	if wrong {
		if !bytes.Equal(b[1:17], make([]byte, 16)) {
			f.fail("%s: the node goes on with a session that there is not", c)
		}
		old.reset()
		e.reset()
		f.settle()
		return
	}
	old.reset()
	want := binary.BigEndian.Uint64(b[17:])
	if !bytes.Equal(b[1:17], c.nat.Session[:]) || want < c.base || want > c.base+uint64(len(c.sent)) {
		f.fail("%s: the node wants byte %d of the session, and here are %d to %d: % x", c, want, c.base, c.base+uint64(len(c.sent)),
			b[1:17])
	}
	if stop == 1 {
		e.reset()
		f.settle()
		return
	}
	put([]byte{'D'})
	c.end, c.in, c.over, c.cut = e, in, false, false
	c.sent, c.base = c.sent[want-c.base:], want
	c.send(c.sent)
	f.tally.resumes++
	f.settle()
}

// lose takes the connection of a session away; the session survives for the time of grace.
func (f *fuzz) lose(c *conn, reset bool) {
	c.in, _ = c.end.take(c.in)
	f.read(c)
	c.cut, c.slow, c.in, c.since = true, false, nil, time.Now()
	if reset {
		c.end.reset()
	}
}
