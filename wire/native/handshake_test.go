package native

import (
	"bytes"
	"context"
	"crypto/rand"
	"fmt"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/wire"
	"github.com/actornode/actornode/wire/dist"
)

// machines returns the two sides of a handshake, which change may alter.
func machines(t testing.TB, change func(a, b *machine)) (a, b *machine) {
	same := func(wire.Atom) (string, string) { return "secret", "secret" }
	ours := info(dist.LinkLimits{})
	make1 := func(h dist.Handshake, dialled bool) *machine {
		_, _ = rand.Read(ours.nonce[:])
		m, err := newMachine(h, dialled, ours)
		require.NoError(t, err)
		return m
	}
	a = make1(dist.Handshake{Local: nodeA, Peer: nodeB.Name, Cookies: same}, true)
	b = make1(dist.Handshake{Local: nodeB, Cookies: same}, false)
	b.session = sessionID{1, 2, 3}
	if change != nil {
		change(a, b)
	}
	return a, b
}

// record is a message of a handshake.
type record struct {
	dialled bool // it comes from the dialling side
	msg     []byte
}

// talk runs a handshake; bend may change messages on their way.
func talk(a, b *machine, bend func(n int, msg []byte) []byte) (said []record, errA, errB error) {
	n := 0
	for out, from := a.begin(), a; len(out) > 0; {
		to, err := b, &errB
		if from == b {
			to, err = a, &errA
		}
		var back [][]byte
		for _, msg := range out {
			said = append(said, record{from == a, msg})
			if bend != nil {
				msg = bend(n, bytes.Clone(msg))
			}
			n++
			if to.state < finished && msg != nil {
				back, *err = to.step(msg)
			}
		}
		out, from = back, to
	}
	return said, errA, errB
}

func TestHandshake(t *testing.T) {
	var states []string
	a, b := machines(t, func(a, b *machine) {
		b.h.Admit = func(id wire.NodeID) dist.Verdict {
			require.Equal(t, nodeA, id)
			return dist.Welcome
		}
	})
	said, errA, errB := talk(a, b, func(n int, msg []byte) []byte {
		states = append(states, fmt.Sprintf("%c %s | %s", msg[0], a.state, b.state))
		return msg
	})
	require.NoError(t, errA)
	require.NoError(t, errB)
	require.Equal(t, []string{
		"H await welcome | await hello",
		"W await welcome | await proof",
		"P await ack | await proof",
		"A await ack | await done",
		"D finished | await done",
	}, states)
	require.Equal(t, finished, b.state)
	require.Equal(t, nodeB, a.theirs.id)
	require.Equal(t, nodeA, b.theirs.id)
	require.Len(t, said, 5)
	require.Zero(t, a.session, "a session that nobody wants")
}

// What is refused, for which reason, and that both sides say why.
func TestRefusals(t *testing.T) {
	cookies := func(in, out string) func(wire.Atom) (string, string) {
		return func(wire.Atom) (string, string) { return in, out }
	}
	for name, c := range map[string]struct {
		change func(a, b *machine)
		kind   error
		text   string
	}{
		"busy": {func(_, b *machine) { b.h.Admit = verdict(dist.Busy) }, dist.ErrBusy, "b@host is connecting to a@host itself"},
		"not allowed": {func(_, b *machine) { b.h.Admit = verdict(dist.NotAllowed) }, dist.ErrNotAllowed,
			"b@host does not accept a@host"},
		"alive": {func(a, b *machine) {
			b.h.Admit = verdict(dist.Alive)
			a.h.Insist = func(wire.NodeID) bool { return false }
		}, dist.ErrBusy, "b@host and a@host are already connected"},
		"dial cookie": {func(a, _ *machine) { a.h.Cookies = cookies("secret", "x") }, dist.ErrCookie,
			"a@host does not know the cookie that b@host expects"},
		"their cookie": {func(_, b *machine) { b.h.Cookies = cookies("secret", "x") }, dist.ErrCookie,
			"b@host does not know the cookie that a@host expects"},
		"name": {func(a, _ *machine) { a.h.Peer = "c@host" }, dist.ErrPeerName,
			"a@host wants to connect to c@host, but this is b@host"},
		"own name": {func(_, b *machine) { b.h.Local.Name = "x@host"; b.ours.id.Name = "y@host" }, dist.ErrPeerName,
			"wants to connect to"},
		"tls":     {func(a, _ *machine) { a.ours.flags |= flagBound }, dist.ErrNotAllowed, "uses TLS"},
		"session": {func(a, _ *machine) { a.ours.flags |= flagResume }, errSession, "no longer keeps the link"},
	} {
		t.Run(name, func(t *testing.T) {
			a, b := machines(t, c.change)
			_, errA, errB := talk(a, b, nil)
			for _, err := range []error{errA, errB} {
				require.ErrorIs(t, err, c.kind)
				require.ErrorContains(t, err, c.text)
			}
			require.Equal(t, failed, a.state)
			require.Equal(t, failed, b.state)
		})
	}
	for _, v := range []dist.Verdict{dist.Welcome, dist.Simultaneous, dist.Alive} {
		a, b := machines(t, func(_, b *machine) { b.h.Admit = verdict(v) })
		_, errA, errB := talk(a, b, nil)
		require.NoError(t, errA)
		require.NoError(t, errB)
	}
}

func verdict(v dist.Verdict) func(wire.NodeID) dist.Verdict {
	return func(wire.NodeID) dist.Verdict { return v }
}

// Whatever bit changes on the way, wherever a message is cut, and whatever bytes a damaged length adds to it, no side
// finishes that should not.
func TestHandshakeDamaged(t *testing.T) {
	said, _, _ := talk2(t, nil)
	for n, r := range said {
		_, okA, okB := talk2(t, func(k int, msg []byte) []byte {
			if k == n {
				return append(msg, "the first frame"...)
			}
			return msg
		})
		require.False(t, okB, "message %d with what follows it", n)
		require.True(t, !okA || n == 4, "message %d with what follows it", n)
		for i := range r.msg {
			_, okA, okB := talk2(t, func(k int, msg []byte) []byte {
				if k == n {
					msg[i] ^= 1 << (i % 8)
				}
				return msg
			})
			require.False(t, okB, "message %d with byte %d flipped", n, i)
			require.True(t, !okA || n == 4, "message %d with byte %d flipped", n, i)
			_, okA, okB = talk2(t, func(k int, msg []byte) []byte {
				if k == n {
					return msg[:i]
				}
				return msg
			})
			require.False(t, okB, "message %d cut at %d", n, i)
			require.True(t, !okA || n == 4, "message %d cut at %d", n, i)
		}
	}
}

func talk2(t *testing.T, bend func(int, []byte) []byte) (said []record, okA, okB bool) {
	a, b := machines(t, nil)
	said, _, _ = talk(a, b, bend)
	return said, a.state == finished, b.state == finished
}

// A proof is useless in another conversation, and to the side that posed the challenge.
func TestReplayAndReflection(t *testing.T) {
	said, okA, okB := talk2(t, nil)
	require.True(t, okA && okB)
	b := func() *machine { _, b := machines(t, nil); return b }

	replay := b() // all that A said before
	for _, r := range said {
		if r.dialled && replay.state < finished {
			_, _ = replay.step(r.msg)
		}
	}
	require.Equal(t, failed, replay.state)

	// An attacker without the cookie dials B, and makes B itself prove it, by dialling as B to B.
	same := func(wire.Atom) (string, string) { return "secret", "secret" }
	for _, tag := range []byte{tagProof, tagAck} {
		victim := b()
		hello := helloMsg{min: 1, max: 1, peer: nodeB.Name, node: nodeInfo{id: nodeB}}
		out, err := victim.step(hello.append(nil))
		require.NoError(t, err)
		dials, err := newMachine(dist.Handshake{Local: nodeB, Peer: nodeB.Name, Cookies: same}, true, nodeInfo{})
		require.NoError(t, err)
		dials.begin()
		dials.hello = hello.append(nil) // the best case for the attacker
		proof, err := dials.step(out[0])
		require.NoError(t, err)
		proof[0][0] = tag
		if tag == tagProof { // the proof by a holder of the cookie, for this very conversation
			_, err = victim.step(proof[0])
			require.NoError(t, err)
			continue
		}
		_, err = dials.step(proof[0]) // the same proof as an answer to itself
		require.ErrorIs(t, err, dist.ErrCookie)
	}
}

// The machine calls nothing but Cookies and Admit before the peer has proved itself.
func TestNoChangeBeforeProof(t *testing.T) {
	a, b := machines(t, func(_, b *machine) {
		b.h.Cookies = func(wire.Atom) (string, string) { return "other", "secret" }
		b.find = func(wire.NodeID, sessionID) (uint64, bool) { t.Error("sessions are looked for"); return 0, false }
	})
	a.ours.flags |= flagResume
	_, errA, errB := talk(a, b, nil)
	require.ErrorIs(t, errA, dist.ErrCookie)
	require.ErrorIs(t, errB, dist.ErrCookie)
	require.Nil(t, b.proof)
}

func TestVersions(t *testing.T) {
	_, b := machines(t, nil)
	future := append(append([]byte{tagHello}, magic...), 7, 9, 'x')
	out, err := b.step(future)
	require.ErrorIs(t, err, dist.ErrNotAllowed)
	require.ErrorContains(t, err, "the peer speaks 7 to 9")
	a, _ := machines(t, nil)
	a.begin()
	_, err = a.step(out[0])
	require.ErrorIs(t, err, dist.ErrNotAllowed)
	require.ErrorContains(t, err, "the peer speaks 7 to 9, this node 1 to 1")

	_, b = machines(t, nil) // one that speaks newer versions too, with more to say
	a, _ = machines(t, nil)
	hello := helloMsg{min: 1, max: 200, peer: nodeB.Name, node: a.ours}
	out, err = b.step(append(hello.append(nil), "more"...))
	require.NoError(t, err)
	require.Equal(t, byte(1), out[0][5])
}

// Peers that speak another protocol are told so, and our error names it.
func TestStrangers(t *testing.T) {
	erlang := "\x00\x15N\x00\x00\x00\x0d\x07\xdf\x7f\xbd\x00\x00\x00\x01\x00\x06e@host"
	for in, want := range map[string]string{
		erlang:                                 "speaks the Erlang distribution protocol",
		"GET / HTTP/1.1\r\nHost: x\r\n\r\n":    `sent an HTTP request that begins with "GE"`,
		"\x16\x03\x01\x02\x00\x01\x00\x01\xfc": "the peer uses TLS",
		"\xff\xff\xff\xff":                     "a handshake message of 65535 bytes",
		"\x00\x00":                             "expected a node that speaks the native protocol",
		"\x00\x01H":                            "expected a node that speaks the native protocol",
	} {
		ca, cb := net.Pipe()
		answer := make(chan []byte, 1)
		go func() { // ends with the connection
			_, _ = ca.Write([]byte(in)[:min(len(in), 2)])
			_, _ = ca.Write([]byte(in)[min(len(in), 2):])
		}()
		go func() { // ends with the connection
			var all []byte
			b := make([]byte, 1000)
			for {
				n, err := ca.Read(b)
				if all = append(all, b[:n]...); err != nil {
					answer <- all
					return
				}
			}
		}()
		_, err := new(Protocol).Accept(t.Context(), cb, dist.Handshake{Local: nodeB,
			Cookies: func(wire.Atom) (string, string) { return "", "" }})
		require.ErrorIs(t, err, dist.ErrPeerProtocol, in)
		require.ErrorContains(t, err, want)
		got := <-answer
		if in == erlang {
			require.Equal(t, "\x00\x0csnot_allowed", string(got))
		} else {
			require.Contains(t, string(got), want[len(want)-10:], in)
		}
		_ = ca.Close()
	}
}

// Over TCP a refusal arrives even if the peer has sent more than was read.
func TestRefusalOverTCP(t *testing.T) {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer ln.Close()
	done := make(chan error, 1)
	go func() { // ends with the handshake
		conn, err := ln.Accept()
		if err == nil {
			_, err = new(Protocol).Accept(context.Background(), conn,
				dist.Handshake{Local: nodeB, Limits: dist.LinkLimits{Timeout: 5 * time.Second},
					Cookies: func(wire.Atom) (string, string) { return "", "" }})
		}
		done <- err
	}()
	conn, err := net.Dial("tcp", ln.Addr().String())
	require.NoError(t, err)
	defer conn.Close()
	_, err = conn.Write([]byte("GET / HTTP/1.1\r\n" + strings.Repeat("X: y\r\n", 1000)))
	require.NoError(t, err)
	b := make([]byte, 1000)
	n, err := conn.Read(b)
	require.NoError(t, err)
	require.Contains(t, string(b[:n]), "the peer sent an HTTP request")
	_ = conn.Close()
	require.ErrorIs(t, <-done, dist.ErrPeerProtocol)
}

func FuzzHandshake(f *testing.F) {
	a, b := machines(f, nil)
	said, _, _ := talk(a, b, nil)
	for i, r := range said {
		f.Add(byte(i), r.msg)
	}
	f.Fuzz(func(t *testing.T, at byte, msg []byte) {
		a, b := machines(t, nil)
		said, _, _ := talk(a, b, func(n int, was []byte) []byte {
			if n == int(at%5) {
				return msg
			}
			return was
		})
		if at %= 5; int(at) < len(said) && !bytes.Equal(said[at].msg, msg) && at < 4 && a.state == finished {
			t.Errorf("%q in place of %q, and it goes on", msg, said[at].msg)
		}
	})
}

// An empty cookie counts as no cookie, on either side and whatever the peer wants, and a peer that resumes a link is
// checked like any other.
func TestEmptyCookie(t *testing.T) {
	none := func(wire.Atom) (string, string) { return "", "" }
	some := func(wire.Atom) (string, string) { return "x", "x" }
	type cookies = func(wire.Atom) (string, string)
	for _, resume := range []bool{false, true} {
		refused := func(dials, accepts cookies) {
			a, b := machines(t, func(a, b *machine) {
				a.h.Cookies, b.h.Cookies = dials, accepts
				if resume {
					a.ours.flags |= flagResume
				}
				b.find = func(wire.NodeID, sessionID) (uint64, bool) { t.Error("looked for"); return 0, true }
			})
			_, errA, errB := talk(a, b, nil)
			require.ErrorIs(t, errA, dist.ErrCookie)
			require.ErrorIs(t, errB, dist.ErrCookie)
			require.ErrorContains(t, errB, "has no cookie for")
		}
		for _, half := range []cookies{none, func(wire.Atom) (string, string) { return "", "secret" },
			func(wire.Atom) (string, string) { return "secret", "" }} {
			refused(none, half) // an empty cookie on both sides does not help
			refused(half, some)
		}
		refused(some, none) // the side that dials does not stop by itself
	}
	for verdict, want := range map[dist.Verdict]error{dist.NotAllowed: dist.ErrNotAllowed, dist.Busy: nil, dist.Alive: nil,
		dist.Full: nil} {
		a, b := machines(t, func(a, b *machine) {
			a.ours.flags |= flagResume
			a.creation = nodeB.Creation
			b.h.Admit = func(wire.NodeID) dist.Verdict { return verdict }
			b.h.Proved = func(wire.NodeID) error { t.Error("it is no new link"); return nil }
			b.find = func(wire.NodeID, sessionID) (uint64, bool) { return 0, true }
		})
		_, errA, _ := talk(a, b, nil)
		require.ErrorIs(t, errA, want)
	}
}

// The accepting side may take other cookies than the one meant for the peer, and then proves that one, too.
func TestAccept(t *testing.T) {
	for cookie, ok := range map[string]bool{"secret": true, "further": true, "other": false} {
		a, b := machines(t, func(a, b *machine) {
			a.h.Cookies = func(wire.Atom) (string, string) { return cookie, cookie }
			b.h.Accept = func(peer wire.Atom, knows func(string) bool) (string, bool) {
				require.Equal(t, nodeA.Name, peer)
				for _, c := range []string{"secret", "further"} {
					if knows(c) {
						return c, true
					}
				}
				return "", false
			}
		})
		_, errA, errB := talk(a, b, nil)
		require.Equal(t, ok, errA == nil && errB == nil, "%s: %v, %v", cookie, errA, errB)
		if !ok {
			require.ErrorIs(t, errB, dist.ErrCookie)
		}
	}
}
