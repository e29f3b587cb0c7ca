package erldist

import (
	"encoding/binary"
	"encoding/hex"
	"flag"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/internal/testkit"
	"github.com/actornode/actornode/internal/wire/erlflags"
	"github.com/actornode/actornode/wire"
	"github.com/actornode/actornode/wire/dist"
)

// The transcripts in testdata are conversations with a real OTP 25: lines with > went to it, lines with < came from it,
// one message or frame each, in hexadecimal without its length. A line with =, below a frame, says what the frame
// means.
var record = flag.Bool("record", false, "record the transcripts in testdata anew, with the erl on PATH")

// tape records what goes over a connection.
type tape struct {
	net.Conn
	mu      sync.Mutex
	in, out []byte
}

func (c *tape) Read(b []byte) (int, error) {
	n, err := c.Conn.Read(b)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.in = append(c.in, b[:n]...)
	return n, err
}

func (c *tape) Write(b []byte) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.out = append(c.out, b...)
	return c.Conn.Write(b)
}

// frameList cuts b into frames.
func frameList(b []byte) (l [][]byte) {
	for len(b) > 0 {
		size := 4 + int(binary.BigEndian.Uint32(b))
		l = append(l, b[4:size])
		b = b[size:]
	}
	return l
}

// describe returns a signal as text.
func describe(f dist.Frame) string {
	var s strings.Builder
	fmt.Fprintf(&s, "%s from %v", f.Op, f.From)
	if !f.To.IsZero() {
		fmt.Fprintf(&s, " to %v", f.To)
	}
	if f.Name != "" {
		fmt.Fprintf(&s, " name %s", wire.Format(f.Name))
	}
	if !f.Ref.IsZero() {
		fmt.Fprintf(&s, " ref %v", f.Ref)
	}
	if f.ID != 0 {
		fmt.Fprintf(&s, " id %d", f.ID)
	}
	if f.Spawn != nil {
		fmt.Fprintf(&s, " spawn %s:%s%s leader %v link %v monitor %v %s", f.Spawn.Module, f.Spawn.Function,
			wire.Format(wire.List(f.Spawn.Args)),
			f.Spawn.Leader, f.Spawn.Link, f.Spawn.Monitor, wire.Format(f.Spawn.Options))
	}
	if f.Token != nil {
		fmt.Fprintf(&s, " token %s", wire.Format(f.Token))
	}
	text := wire.Format(f.Payload)
	if len(text) > 200 {
		text = fmt.Sprintf("%s… (%d)", text[:200], len(text))
	}
	fmt.Fprintf(&s, " payload %s", text)
	return s.String()
}

// scene makes erl send one of everything, and makes us answer some of it.
func scene(e *erl, s *side, blob int) {
	e.Tell("catch monitor(process, {nobody, 'go@127.0.0.1'}), {a, 'go@127.0.0.1'} ! {hello, self(), list_to_atom([233,1078]), " +
		"[1,2,3]}, ok")
	e.Answer()
	e.Tell("seq_trace:set_token(label, 7), {a, 'go@127.0.0.1'} ! hello, seq_trace:set_token([]), ok")
	e.Answer()
	e.Tell("P = " + theirView(s.pid(7)) + ", link(P), unlink(P), link(P), P ! [hello | tail], exit(P, {because, \"of\"}), ok")
	e.Answer()
	e.Tell("spawn_request('go@127.0.0.1', lists, seq, [1, 20], [link, monitor, {priority, low}]), ok")
	e.Answer()
	e.Tell("{a, 'go@127.0.0.1'} ! {farend:atoms(\"atom\", 40), list_to_atom(lists:duplicate(200, 1078)), " + fmt.Sprintf("farend:blob(%d)}, ok", blob))
	e.Answer()
	e.Tell("{a, 'go@127.0.0.1'} ! {farend:atoms(\"atom\", 40), list_to_atom(lists:duplicate(200, 1078)), the_end}, ok")
	e.Answer()
	for {
		f := s.next()
		if t, ok := f.Payload.(wire.Tuple); ok && t[len(t)-1] == any(wire.Atom("the_end")) {
			return
		}
	}
}

func TestRecord(t *testing.T) {
	if !*record {
		t.Skip("only with -record")
	}
	e := startErl(t)
	for name, p := range map[string]*Protocol{"dial": {}, "dial-nocache": {Without: uint64(erlflags.DistHdrAtomCache | erlflags.Fragments)}} {
		c := &tape{Conn: e.conn()}
		l, err := p.Dial(t.Context(), c, e.handshake())
		require.NoError(t, err)
		s := newSide(t, l)
		blob := 70_000
		if p.Without != 0 {
			blob = 70
		}
		scene(e, s, blob)
		_ = l.Close()
		assert.Error(t, s.ends())
		save(t, name, c.in, c.out, true)
		require.Equal(t, "ok", e.Ask("(fun F() -> case nodes(hidden) of [] -> ok; _ -> timer:sleep(5), F() end end)()"))
	}
	ln := e.listen()
	e.Tell(gone + ", net_kernel:connect_node('go@127.0.0.1')")
	conn, err := ln.Accept()
	require.NoError(t, err)
	c := &tape{Conn: conn}
	l, err := new(Protocol).Accept(t.Context(), c, e.handshake())
	require.NoError(t, err)
	e.Answer()
	s := newSide(t, l)
	scene(e, s, 70)
	_ = l.Close()
	assert.Error(t, s.ends())
	save(t, "accept", c.in, c.out, false)
}

// save writes a transcript: the handshake in turns, then all frames that came.
func save(t *testing.T, name string, in, out []byte, dialled bool) {
	var b strings.Builder
	turns, from, to := "><<><", in, out // name; status, challenge; reply; ack
	if !dialled {
		turns = "<>><>"
	}
	for _, turn := range turns {
		l := &from
		if turn == '>' {
			l = &to
		}
		size := 2 + int(binary.BigEndian.Uint16(*l))
		fmt.Fprintf(&b, "%c %x\n", turn, (*l)[2:size])
		*l = (*l)[size:]
	}
	var r *reader
	flags := erlflags.Announced
	if strings.Contains(name, "nocache") {
		flags &^= erlflags.DistHdrAtomCache | erlflags.Fragments
	}
	r = newReader(self.Name, "e@127.0.0.1", flags&^erlflags.AltactSig, dist.LinkLimits{})
	for _, frame := range frameList(from) {
		fmt.Fprintf(&b, "< %x\n", frame)
		var f dist.Frame
		ok, err := r.frame(frame, &f)
		require.NoError(t, err)
		if ok {
			fmt.Fprintf(&b, "= %s\n", describe(f))
		}
	}
	require.NoError(t, os.WriteFile(filepath.Join("testdata", name+".txt"), []byte(b.String()), 0o600))
}

// line is a line of a transcript.
type line struct {
	kind byte
	b    []byte // of > and <
	text string // of =
}

func load(t testing.TB, name string) (l []line) {
	b, err := os.ReadFile(filepath.Join("testdata", name+".txt"))
	require.NoError(t, err)
	for _, s := range strings.Split(strings.TrimSuffix(string(b), "\n"), "\n") {
		x := line{kind: s[0], text: s[2:]}
		if x.kind != '=' {
			x.b, err = hex.DecodeString(s[2:])
			require.NoError(t, err)
		}
		l = append(l, x)
	}
	return l
}

var transcripts = []string{"dial", "dial-nocache", "accept"}

// replay goes through a handshake of a transcript; our messages must be the recorded ones.
func replay(t *testing.T, name string) (m *machine, frames []line) {
	l := load(t, name)
	dialled := l[0].kind == '>'
	h := dist.Handshake{Local: self, Hidden: true, Peer: "e@127.0.0.1", Cookies: knows("secret")}
	announce := erlflags.Announced
	if strings.Contains(name, "nocache") {
		announce &^= erlflags.DistHdrAtomCache | erlflags.Fragments
	}
	var ours uint32 // our challenge at that time
	for _, x := range l[:5] {
		switch {
		case x.kind == '>' && x.b[0] == tagReply:
			r, err := parseReply(x.b)
			require.NoError(t, err)
			ours = r.challenge
		case x.kind == '>' && x.b[0] == tagName && !dialled:
			c, err := parseChallenge(x.b)
			require.NoError(t, err)
			ours = c.challenge
		}
	}
	m, out, err := newMachine(h, dialled, announce, ours)
	require.NoError(t, err)
	for _, x := range l[:5] {
		if x.kind == '>' {
			require.NotEmpty(t, out, "nothing is sent where %q was", x.b)
			assert.Equal(t, x.b, out[0])
			out = out[1:]
			continue
		}
		require.Empty(t, out)
		out, err = m.step(x.b)
		require.NoError(t, err)
	}
	require.Equal(t, finished, m.state)
	return m, l[5:]
}

func TestTranscripts(t *testing.T) {
	for _, name := range transcripts {
		m, lines := replay(t, name)
		r := newReader(self.Name, m.peer.Name, m.flags(), dist.LinkLimits{})
		kinds := map[dist.Op]bool{}
		for i := 0; i < len(lines); i++ {
			var f dist.Frame
			ok, err := r.frame(lines[i].b, &f)
			require.NoError(t, err)
			if ok {
				i++
				assert.Equal(t, lines[i].text, describe(f))
				kinds[f.Op] = true
			}
		}
		assert.Len(t, kinds, 6, "%s: %v", name, kinds)
	}
}

// Frames of the transcripts are cut at each byte and have each byte changed: the reader may take or refuse them, in
// bounded memory and without a panic.
func TestFramesCutAndFlipped(t *testing.T) {
	for _, name := range transcripts {
		m, lines := replay(t, name)
		var before [][]byte
		for _, x := range lines {
			if x.kind != '<' {
				continue
			}
			if len(x.b) < 2000 {
				try := func(b []byte) error {
					r := newReader(self.Name, m.peer.Name, m.flags(), dist.LinkLimits{Message: 1 << 20})
					var f dist.Frame
					for _, b := range before {
						_, err := r.frame(b, &f)
						require.NoError(t, err)
					}
					_, err := r.frame(b, &f)
					return err
				}
				step := 1 + len(x.b)/testkit.By(50, 150, 2000)
				for i := 1; i < len(x.b); i += step {
					assert.Error(t, try(x.b[:i]), "a frame that is cut is taken")
					b := append([]byte(nil), x.b...)
					b[i] ^= 1 << (i % 8)
					_ = try(b)
					b[i] = 0xff
					_ = try(b)
				}
			}
			if len(x.b) < 2000 {
				before = append(before, x.b)
			}
		}
	}
}
