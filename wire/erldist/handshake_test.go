package erldist

import (
	"context"
	"fmt"
	"net"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/internal/wire/erlflags"
	"github.com/actornode/actornode/wire"
	"github.com/actornode/actornode/wire/dist"
)

var (
	alice = wire.NodeID{Name: "alice@host", Creation: 1}
	bob   = wire.NodeID{Name: "bob@host", Creation: 2}
)

// walk is a handshake from one side: the messages that come, those that must go out, and the state after them.
type walk struct {
	name    string
	dialled bool
	change  func(h *dist.Handshake)
	steps   []walkStep
	kind    error  // of the last step's error
	text    string // in it; "": none
}

type walkStep struct {
	in   []byte
	out  [][]byte
	then state
}

func msgs(l ...interface{ append([]byte) []byte }) (out [][]byte) {
	for _, m := range l {
		out = append(out, m.append(nil))
	}
	return out
}

func msg(m interface{ append([]byte) []byte }) []byte { return m.append(nil) }

const ourChallenge, theirChallenge = 0x01020304, 0xfffefdfc

// The flags in the walks: all flags, with and without those that this side has.
var (
	full   = erlflags.Announced | erlflags.Published
	nameMe = erlflags.Announced | erlflags.NameMe
)

func walks() []walk {
	hisName := nameMsg{flags: full, creation: bob.Creation, name: bob.Name}
	myName := nameMsg{flags: full, creation: alice.Creation, name: alice.Name}
	hisChallenge := challengeMsg{flags: full, challenge: theirChallenge, creation: bob.Creation, name: bob.Name}
	myChallenge := challengeMsg{flags: full, challenge: ourChallenge, creation: alice.Creation, name: alice.Name}
	myReply := replyMsg{ourChallenge, digestOf("out", theirChallenge)}
	hisReply := replyMsg{theirChallenge, digestOf("in", ourChallenge)}
	start := walkStep{out: msgs(myName), then: awaitStatus}
	ok := walkStep{in: msg(statusOK), then: awaitChallenge}
	challenged := walkStep{msg(hisChallenge), msgs(myReply), awaitAck}
	idle := walkStep{then: awaitName}
	posed := walkStep{msg(hisName), msgs(statusOK, myChallenge), awaitReply}
	proven := walkStep{msg(hisReply), msgs(ackMsg{digestOf("out", theirChallenge)}), finished}
	admit := func(v dist.Verdict) func(*dist.Handshake) {
		return func(h *dist.Handshake) { h.Admit = func(wire.NodeID) dist.Verdict { return v } }
	}
	failing := func(in []byte, out ...[]byte) walkStep { return walkStep{in, out, failed} }
	names := func(h *dist.Handshake) {
		h.NameFor = func(host string) (wire.NodeID, bool) {
			return wire.NodeID{Name: wire.Atom("dyn@" + host), Creation: 9}, host == "host"
		}
	}
	asks := func(h *dist.Handshake) {
		h.Local = wire.NodeID{Name: "undefined@host", Creation: 3}
		h.Named = func(wire.NodeID) {}
	}
	asking := walkStep{out: msgs(nameMsg{flags: full&^erlflags.Published | erlflags.NameMe, name: "host"}), then: awaitStatus}
	missing := func(f erlflags.Flags) challengeMsg {
		c := hisChallenge
		c.flags &^= f | erlflags.Mandatory25Digest
		return c
	}
	old := append([]byte{'n', 0, 5}, append(be32(uint32(full&^erlflags.Mandatory25Digest)), "bob@host"...)...)
	return []walk{
		{"dial", true, nil, []walkStep{start, ok, challenged, {in: msg(ackMsg{digestOf("in", ourChallenge)}), then: finished}}, nil,
			""},
		{"dial, simultaneous", true, nil, []walkStep{start, {msg(statusSimultaneous), nil, awaitChallenge}, challenged}, nil, ""},
		{"dial, alive", true, nil, []walkStep{start, {msg(statusAlive), msgs(statusTrue), awaitChallenge}, challenged}, nil, ""},
		{"dial, alive, and here too", true, func(h *dist.Handshake) { h.Insist = func(wire.NodeID) bool { return false } },
			[]walkStep{start, failing(msg(statusAlive), msg(statusFalse))}, dist.ErrBusy,
			"is already connected, by a connection that both nodes keep"},
		{"dial, bytes behind", true, nil, []walkStep{start, ok, {append(msg(hisChallenge), "more"...), msgs(myReply), awaitAck}}, nil,
			""},
		{"dial, nok", true, nil, []walkStep{start, failing(msg(statusNok))}, dist.ErrBusy, "bob@host answered nok"},
		{"dial, not allowed", true, nil, []walkStep{start, failing(msg(statusNotAllowed))}, dist.ErrNotAllowed,
			"bob@host answered not_allowed"},
		{"dial, named", true, nil, []walkStep{start, failing(msg(namedMsg(bob)))}, dist.ErrPeerProtocol,
			"a name that this node did not ask for"},
		{"dial, asks for a name", true, asks, []walkStep{asking, {msg(namedMsg(wire.NodeID{Name: "me@host", Creation: 9})), nil,
			awaitChallenge}, challenged, {in: msg(ackMsg{digestOf("in", ourChallenge)}), then: finished}}, nil, ""},
		{"dial, asks for a name and gets none", true, asks, []walkStep{asking, failing(msg(statusOK))}, dist.ErrPeerProtocol,
			"assigns no name"},
		{"dial, asks for a name and is not allowed", true, asks, []walkStep{asking, failing(msg(statusNotAllowed))}, dist.ErrNotAllowed,
			"answered not_allowed"},
		{"dial, asks for a name and gets a part", true, asks, []walkStep{asking, failing(msg(namedMsg(bob)[:12]))},
			dist.ErrPeerProtocol, "is too short"},
		{"dial, asks for a name and gets one elsewhere", true, asks, []walkStep{asking, failing(msg(namedMsg(wire.NodeID{Name: "me@there"})))},
			dist.ErrPeerName, "not one at the host host"},
		{"dial, unknown status", true, nil, []walkStep{start, failing(msg(statusMsg("maybe")))}, dist.ErrPeerProtocol,
			`status "maybe"`},
		{"dial, no status", true, nil, []walkStep{start, failing([]byte("HTTP/1.1"))}, dist.ErrPeerProtocol,
			`expected a status, got "HTTP/1.1"`},
		{"dial, no challenge", true, nil, []walkStep{start, ok, failing(msg(statusOK))}, dist.ErrPeerProtocol,
			`expected a challenge, got "sok"`},
		{"dial, another name", true, nil, []walkStep{start, ok, failing(msg(challengeMsg{flags: full, name: "eve@host"}))},
			dist.ErrPeerName, `expected bob@host to answer, but "eve@host" did`},
		{"dial, a long name", true, nil, []walkStep{start, ok, failing(msg(challengeMsg{flags: full, name: "bob@host.org"}))},
			dist.ErrPeerName, "which has a long name (-name)"},
		{"dial, missing flags", true, nil, []walkStep{start, ok, failing(msg(missing(erlflags.UTF8Atoms | erlflags.BigCreation)))},
			dist.ErrNotAllowed, `alice@host: Connection attempt to node bob@host aborted since it cannot handle ["BIG_CREATION","UTF8_ATOMS"].`},
		{"dial, wrong ack", true, nil, []walkStep{start, ok, challenged, failing(msg(ackMsg{digestOf("wrong", ourChallenge)}))},
			dist.ErrCookie, "bob@host does not know the cookie"},
		{"dial, no ack", true, nil, []walkStep{start, ok, challenged, failing(msg(ackMsg{})[1:])}, dist.ErrPeerProtocol,
			"expected the acknowledgement"},
		{"dial, hidden", true, func(h *dist.Handshake) { h.Hidden = true }, []walkStep{
			{out: msgs(nameMsg{flags: erlflags.Announced, creation: 1, name: alice.Name}), then: awaitStatus}}, nil, ""},
		{"dial, mixed names", true, func(h *dist.Handshake) { h.Peer = "bob@host.org" }, []walkStep{{then: failed}},
			dist.ErrPeerName, "a long name, with a dot in its host, the other a short one"},
		{"dial, no name", true, func(h *dist.Handshake) { h.Peer = "bob" }, []walkStep{{then: failed}}, dist.ErrPeerName,
			`"bob" is not a node name`},
		{"dial, not Latin-1", true, func(h *dist.Handshake) { h.Local.Name = "ж@host" }, []walkStep{{then: failed}}, dist.ErrPeerName,
			"not Latin-1"},

		{"accept", false, nil, []walkStep{idle, posed, proven}, nil, ""},
		{"accept, bytes behind", false, nil, []walkStep{idle, {append(msg(hisName), 0, 1), msgs(statusOK, myChallenge), awaitReply},
			proven}, nil, ""},
		{"accept, simultaneous", false, admit(dist.Simultaneous), []walkStep{idle, {msg(hisName), msgs(statusSimultaneous, myChallenge), awaitReply}}, nil, ""},
		{"accept, alive, true", false, admit(dist.Alive), []walkStep{idle, {msg(hisName), msgs(statusAlive), awaitAlive},
			{msg(statusTrue), msgs(myChallenge), awaitReply}, proven}, nil, ""},
		{"accept, alive, false", false, admit(dist.Alive), []walkStep{idle, {msg(hisName), msgs(statusAlive), awaitAlive},
			failing(msg(statusFalse))}, dist.ErrBusy, "bob@host keeps the existing connection"},
		{"accept, alive, other", false, admit(dist.Alive), []walkStep{idle, {msg(hisName), msgs(statusAlive), awaitAlive},
			failing(msg(statusOK))}, dist.ErrPeerProtocol, `bob@host answered "ok" to the status alive`},
		{"accept, busy", false, admit(dist.Busy), []walkStep{idle, failing(msg(hisName), msg(statusNok))}, dist.ErrBusy, "is connecting to bob@host itself"},
		{"accept, not allowed", false, admit(dist.NotAllowed), []walkStep{idle, failing(msg(hisName), msg(statusNotAllowed))},
			dist.ErrNotAllowed, "connection attempt from disallowed node bob@host"},
		{"accept, missing flag", false, nil, []walkStep{idle,
			failing(msg(nameMsg{flags: full &^ (erlflags.Handshake23 | erlflags.Mandatory25Digest), name: bob.Name}), msg(statusNotAllowed))}, dist.ErrNotAllowed,
			`alice@host: Connection attempt from node bob@host rejected since it cannot handle ["HANDSHAKE_23"].`},
		{"accept, digest only", false, nil, []walkStep{idle,
			{msg(nameMsg{flags: erlflags.Mandatory25Digest, creation: 2, name: bob.Name}), msgs(statusOK, myChallenge), awaitReply}, proven}, nil, ""},
		{"accept, old name", false, nil, []walkStep{idle, {old, msgs(statusOK, myChallenge), awaitComplement},
			{in: msg(complementMsg{uint32(full >> 32), 2}), then: awaitReply}, proven}, nil, ""},
		{"accept, old name, no complement", false, nil, []walkStep{idle, {old, msgs(statusOK, myChallenge), awaitComplement},
			failing(msg(hisReply))}, dist.ErrPeerProtocol, "expected the complement of an old name"},
		{"accept, old name, alive", false, admit(dist.Alive), []walkStep{idle, {old, msgs(statusAlive), awaitAlive},
			{msg(statusTrue), msgs(myChallenge), awaitComplement}, {in: msg(complementMsg{uint32(full >> 32), 2}), then: awaitReply}, proven}, nil, ""},
		{"accept, no cookies", false, func(h *dist.Handshake) { h.Cookies = nil }, []walkStep{{then: failed}}, dist.ErrCookie, "no cookie for the peer"},
		{"accept, dynamic name", false, names, []walkStep{idle, {msg(nameMsg{flags: nameMe, name: "host"}),
			msgs(namedMsg(wire.NodeID{Name: "dyn@host", Creation: 9}), challengeMsg{flags: nameMe, challenge: ourChallenge, creation: 1, name: alice.Name}),
			awaitReply}, proven}, nil, ""},
		{"accept, dynamic name refused", false, names, []walkStep{idle, failing(msg(nameMsg{flags: nameMe, name: "other"}), msg(statusNotAllowed))},
			dist.ErrNotAllowed, "a node at other asks for a name, and this node does not assign names"},
		{"accept, dynamic name, none given", false, nil, []walkStep{idle, failing(msg(nameMsg{flags: nameMe, name: "host"}), msg(statusNotAllowed))},
			dist.ErrNotAllowed, "asks for a name"},
		{"accept, dynamic name with @", false, names, []walkStep{idle, failing(msg(nameMsg{flags: nameMe, name: "a@host"}), msg(statusNotAllowed))},
			dist.ErrPeerProtocol, "invalid host"},
		{"accept, no node name", false, nil, []walkStep{idle, failing(msg(nameMsg{flags: full, name: "bob"}))}, dist.ErrPeerProtocol, `"bob" is not a node name`},
		{"accept, no name", false, nil, []walkStep{idle, failing([]byte("GET / HTTP/1.1\r\n"))}, dist.ErrPeerProtocol, "expected the name of a node"},
		{"accept, name cut", false, nil, []walkStep{idle, failing(msg(hisName)[:nameHead+3])}, dist.ErrPeerProtocol, "expected a name of 8 bytes, but 3 are left"},
		{"accept, wrong reply", false, nil, []walkStep{idle, posed, failing(msg(replyMsg{theirChallenge, digestOf("wrong", ourChallenge)}))},
			dist.ErrCookie, "connection attempt from node bob@host rejected: it does not know the cookie"},
		{"accept, own reply mirrored", false, nil, []walkStep{idle, posed, failing(msg(replyMsg{ourChallenge, digestOf("out", ourChallenge)}))}, dist.ErrCookie, ""},
		{"accept, another cookie", false, func(h *dist.Handshake) {
			h.Accept = func(peer wire.Atom, knows func(string) bool) (string, bool) {
				return "their other", peer == bob.Name && !knows("in") && knows("other")
			}
		}, []walkStep{idle, posed, {msg(replyMsg{theirChallenge, digestOf("other", ourChallenge)}),
			msgs(ackMsg{digestOf("their other", theirChallenge)}), finished}}, nil, ""},
		{"accept, none of the cookies", false, func(h *dist.Handshake) {
			h.Accept = func(_ wire.Atom, knows func(string) bool) (string, bool) { return "x", knows("other") }
		}, []walkStep{idle, posed, failing(msg(replyMsg{theirChallenge, digestOf("wrong", ourChallenge)}))}, dist.ErrCookie,
			"does not know the cookie"},
		{"dial, client", true, func(h *dist.Handshake) { h.Client = true }, []walkStep{
			{out: msgs(nameMsg{flags: full | erlflags.Client, creation: alice.Creation, name: alice.Name}), then: awaitStatus}}, nil, ""},
		{"accept, no reply", false, nil, []walkStep{idle, posed, failing(nil)}, dist.ErrPeerProtocol, "expected the answer to a challenge"},
	}
}

func be32(n uint32) []byte { return []byte{byte(n >> 24), byte(n >> 16), byte(n >> 8), byte(n)} }

func walkHandshake() dist.Handshake {
	return dist.Handshake{Local: alice, Peer: bob.Name, Cookies: func(wire.Atom) (string, string) { return "in", "out" }}
}

func TestMachineWalks(t *testing.T) {
	seen := map[state]bool{}
	for _, w := range walks() {
		t.Run(w.name, func(t *testing.T) {
			h := walkHandshake()
			if w.change != nil {
				w.change(&h)
			}
			var m *machine
			for i, s := range w.steps {
				var out [][]byte
				var err error
				if i == 0 {
					m, out, err = newMachine(h, w.dialled, erlflags.Announced, ourChallenge)
				} else {
					out, err = m.step(s.in)
				}
				seen[m.state] = true
				require.Equal(t, s.out, out, "step %d", i)
				require.Equal(t, s.then, m.state, "step %d: %v", i, err)
				if s.then != failed {
					require.NoError(t, err)
					continue
				}
				require.ErrorIs(t, err, w.kind)
				require.ErrorContains(t, err, w.text)
				_, err = m.step([]byte("s"))
				require.Error(t, err)
			}
			if m.state == finished {
				want := bob
				if strings.Contains(w.name, "dynamic") {
					want = wire.NodeID{Name: "dyn@host", Creation: 9}
				}
				assert.Equal(t, want, m.peer)
				assert.True(t, m.flags().Has(erlflags.Needed))
			}
		})
	}
	for s := awaitStatus; s <= failed; s++ {
		assert.True(t, seen[s], "no walk comes to state %s", s)
	}
}

// Every message of every walk, cut at each byte and with each byte changed, causes no panic and no accidental success.
func TestMachineCutsAndFlips(t *testing.T) {
	for _, w := range walks() {
		for last := 1; last < len(w.steps); last++ {
			good := w.steps[last].in
			try := func(in []byte) {
				h := walkHandshake()
				if w.change != nil {
					w.change(&h)
				}
				m, _, _ := newMachine(h, w.dialled, erlflags.Announced, ourChallenge)
				for _, s := range w.steps[1:last] {
					_, err := m.step(s.in)
					require.NoError(t, err)
				}
				_, err := m.step(in)
				require.Equal(t, err != nil, m.state == failed)
				if m.state == finished {
					require.Equal(t, good[len(good)-digestSize:], in[len(in)-digestSize:], "a changed proof is believed")
				}
			}
			for i := range good {
				try(good[:i])
				for _, x := range []byte{1, 0x80, 0xff} {
					b := append([]byte(nil), good...)
					b[i] ^= x
					try(b)
				}
			}
		}
	}
}

// A peer's hanging up means different things at different times.
func TestHangingUp(t *testing.T) {
	for s, want := range map[state]string{
		awaitStatus: "without an answer", awaitChallenge: "before its challenge", awaitAck: "most likely it has a different cookie",
		awaitName: "before it sent its name", awaitAlive: "when told that it is already connected", awaitReply: "it may not accept this node",
		awaitComplement: "it may not accept this node",
	} {
		m, _, err := newMachine(walkHandshake(), s <= awaitAck, erlflags.Announced, 1)
		require.NoError(t, err)
		m.state = s
		assert.ErrorContains(t, m.ended(), want)
	}
}

// Each step has its own time: a peer that takes most of it each time gets through, one that takes more does not.
func TestTimeoutOfEachStep(t *testing.T) {
	for delay, ok := range map[time.Duration]bool{6 * time.Second: true, 8 * time.Second: false} {
		synctest.Test(t, func(t *testing.T) {
			a, b := net.Pipe()
			errs := make(chan error, 1)
			go func() { // ends with the handshake
				ha := dist.Handshake{Local: alice, Peer: bob.Name, Cookies: knows("x")}
				_, err := new(Protocol).Dial(t.Context(), slow{a, delay}, ha)
				errs <- err
			}()
			_, err := new(Protocol).Accept(t.Context(), b, dist.Handshake{Local: bob, Cookies: knows("x")})
			other := <-errs
			assert.Equal(t, ok, err == nil && other == nil, "%v: %v, %v", delay, err, other)
			if !ok {
				assert.ErrorContains(t, err, "did not answer within 7s")
			}
			_, _ = a.Close(), b.Close()
		})
	}
}

// slow waits before each write.
type slow struct {
	net.Conn
	delay time.Duration
}

func (s slow) Write(b []byte) (int, error) {
	time.Sleep(s.delay) // of the bubble's clock
	return s.Conn.Write(b)
}

func TestHugeHandshakeMessage(t *testing.T) {
	a, b := net.Pipe()
	go func() { _, _ = b.Write([]byte{0x7f, 0xff, 0xff, 0xff}) }() // ends with a
	_, err := (&Protocol{Packet4: true}).Accept(context.Background(), a, walkHandshake())
	assert.ErrorIs(t, err, dist.ErrPeerProtocol)
	assert.ErrorContains(t, err, "a handshake message of 2147483647 bytes")
	_ = b.Close()
}

func TestFlags(t *testing.T) {
	assert.Equal(t, erlflags.Flags(0xd07df7fbd)|erlflags.AltactSig, erlflags.Announced|erlflags.Published, "what OTP 28 sends")
	assert.Equal(t, erlflags.Flags(0x1070f94), erlflags.Needed)
	for _, k := range erlflags.Known {
		assert.Equal(t, k.Demanded == 25, erlflags.Needed.Has(k.Flag), k.Name)
		assert.LessOrEqual(t, k.Since, 28, k.Name)
	}
	assert.Equal(t, erlflags.Needed|erlflags.Mandatory25Digest, erlflags.Mandatory25Digest.Expanded())
	assert.Equal(t, "0x8000002000000001 (UNKNOWN<8000000000000000> ALTACT_SIG PUBLISHED)", (1<<63 | erlflags.AltactSig | erlflags.Published).String())
	for s := awaitStatus; s <= failed; s++ {
		assert.NotEmpty(t, fmt.Sprint(s))
	}
}

func FuzzHandshake(f *testing.F) {
	for _, w := range walks() {
		var all []byte
		for _, s := range w.steps[1:] {
			all = append(append(all, byte(len(s.in))), s.in...)
		}
		f.Add(w.dialled, byte(0), all)
	}
	f.Fuzz(func(t *testing.T, dialled bool, verdict byte, b []byte) {
		h := walkHandshake()
		h.Admit = func(wire.NodeID) dist.Verdict { return dist.Verdict(verdict % 6) }
		h.NameFor = func(host string) (wire.NodeID, bool) {
			return wire.NodeID{Name: wire.Atom("x@" + host), Creation: 1}, true
		}
		m, _, err := newMachine(h, dialled, erlflags.Announced, ourChallenge)
		for err == nil && m.state != finished && len(b) > 0 {
			n := min(int(b[0]), len(b)-1)
			_, err = m.step(b[1 : 1+n])
			b = b[1+n:]
		}
		if (err != nil) != (m.state == failed) {
			t.Fatalf("state %s and error %v", m.state, err)
		}
		_ = m.ended()
	})
}
