package attack

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"net"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/deploy/attack/internal/raw"
	"github.com/actornode/actornode/internal/testkit"
	"github.com/actornode/actornode/internal/wire/epmdserver"
	"github.com/actornode/actornode/wire"
	"github.com/actornode/actornode/wire/dist"
)

// door is a listener for nodes.
type door struct {
	name  string
	addr  func(*attempt) string
	first func(*attempt) []byte // the first bytes of a handshake
}

var doors = []door{
	{"erlang", func(a *attempt) string { return a.Erlang }, func(a *attempt) []byte {
		e := raw.Erlang{Self: a.self(), Flags: raw.PlainFlags}
		return sized(e.NameMessage())
	}},
	{"native", func(a *attempt) string { return a.Native }, func(a *attempt) []byte {
		return sized(raw.NewNative(nil, a.self(), a.Daemon.Name).HelloMessage())
	}},
}

// sized returns a message of a handshake with its length in front.
func sized(b []byte) []byte { return append(binary.BigEndian.AppendUint16(nil, uint16(len(b))), b...) }

// strangers attack the listeners for nodes without the cookie.
var strangers = slices.Concat(atDoor(doors[0]), atDoor(doors[1]), atErlang, atNative)

// atDoor returns the attacks on both protocols.
func atDoor(d door) []row {
	rows := []row{
		{name: "half-open handshakes from one address", attack: func(a *attempt) { a.halfOpen(d, 1100, 1) }},
		{name: "half-open handshakes from 64 addresses", attack: func(a *attempt) { a.halfOpen(d, 1280, 64) }},
		{name: "connections without a byte from one address", attack: func(a *attempt) {
			for range 1100 {
				if c, err := raw.DialFrom(attacker, d.addr(a)); err == nil {
					defer func() { _ = c.Close() }()
				}
			}
			a.someWait()
		}},
		{name: "connections that come and go", attack: func(a *attempt) {
			several(2000, 8, func(i int) {
				if c, err := raw.DialFrom(attacker, d.addr(a)); err == nil {
					if i%2 == 0 {
						c.Reset()
					}
					_ = c.Close()
				}
			})
		}},
		{name: "1,000 times garbage", attack: func(a *attempt) {
			seeds := make([][]byte, 1000)
			for i := range seeds {
				seeds[i] = a.noise(1 + i)
			}
			several(len(seeds), 8, func(i int) { a.pour(d.addr(a), seeds[i]) })
		}, want: want{logKiB: 700}},
		{name: "HTTP", attack: func(a *attempt) {
			for _, text := range []string{"GET / HTTP/1.1\r\nHost: x\r\n\r\n", "POST / HTTP/1.0\r\n\r\n",
				"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
				"SSH-2.0-x\r\n", "EHLO x\r\n", "\x04\x01\x00\x50\x00\x00\x00\x00\x00"} {
				a.pour(d.addr(a), []byte(text))
			}
		}},
		{name: "hello of TLS", attack: func(a *attempt) {
			a.pour(d.addr(a), append([]byte{0x16, 3, 1, 2, 0, 1, 0, 1, 0xfc, 3, 3}, a.noise(600)...))
		}},
		{name: "a handshake cut at every byte", attack: func(a *attempt) {
			first := d.first(a)
			for i := range len(first) + 1 {
				a.pour(d.addr(a), first[:i])
			}
		}},
		{name: "every byte of a handshake changed", attack: func(a *attempt) {
			first := d.first(a)
			for i := range first {
				for _, bit := range []byte{1, 0x80, 0xff} {
					b := bytes.Clone(first)
					b[i] ^= bit
					a.pour(d.addr(a), b)
				}
			}
		}, want: want{logKiB: 256}},
		{name: "messages of every length that lies", attack: func(a *attempt) {
			first := d.first(a)[2:]
			for _, n := range []int{0, 1, 2, len(first) - 1, len(first) + 1, 255, 4095, 4096, 4097, 65535} {
				a.pour(d.addr(a), append(binary.BigEndian.AppendUint16(nil, uint16(n)), first...))
			}
		}},
		{name: "64 KiB where a name is expected", attack: func(a *attempt) {
			for range 20 {
				a.pour(d.addr(a), append(append([]byte{0xff, 0xff}, d.first(a)[2:9]...), bytes.Repeat([]byte("a"), 65_535)...))
			}
		}},
		{name: "a byte a second", setup: "hasty", slow: true, attack: func(a *attempt) {
			c := a.dial(attacker, d.addr(a))
			begun := time.Now()
			for _, b := range d.first(a) {
				if c.Send([]byte{b}) != nil {
					break
				}
				if _, ended := c.Rest(time.Second); ended {
					break
				}
			}
			a.inTime(10*time.Second, begun, "the connection was closed")
		}},
		{name: "a handshake that is never gone on with", setup: "hasty", attack: func(a *attempt) {
			var wg sync.WaitGroup
			for range 50 {
				c := a.dial(attacker, d.addr(a))
				require.NoError(a, c.Send(d.first(a)))
				wg.Go(func() { a.closes(c, 5*time.Second) })
			}
			wg.Wait()
		}},
	}
	for i := range rows {
		rows[i].name = d.name + ": " + rows[i].name
	}
	return rows
}

// halfOpen begins handshakes and leaves them unfinished while others want to connect.
func (a *attempt) halfOpen(d door, n, sources int) {
	conns := make([]*raw.Conn, n)
	hellos := make([][]byte, n)
	for i := range hellos {
		hellos[i] = d.first(a)
	}
	several(n, 8, func(i int) {
		if c, err := raw.DialFrom(fmt.Sprint("127.0.1.", 1+i%sources), d.addr(a)); err == nil {
			conns[i] = c
			_ = c.Send(hellos[i])
		}
	})
	a.someWait()
	for _, c := range conns {
		if c != nil {
			_ = c.Close()
		}
	}
}

// someWait lets an attack go on until each bystander has been answered to a call that began now, or the time is up.
func (a *attempt) someWait() {
	now := time.Now()
	for _, b := range a.bystanders {
		_ = a.Until(10*time.Second, func() bool { return b.since(now) })
	}
}

// noise returns random bytes.
func (a *attempt) noise(n int) []byte {
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(a.rand.Uint32())
	}
	return b
}

// pour sends bytes to addr, closes its side, and takes the answer until the daemon closes.
func (a *attempt) pour(addr string, b []byte) []byte {
	c, err := raw.DialFrom(attacker, addr)
	if err != nil {
		return nil
	}
	defer func() { _ = c.Close() }()
	_ = c.Send(b)
	_ = c.CloseWrite()
	answer, _ := c.Rest(5 * time.Second)
	return answer
}

// refusedErlang checks that a connection was refused: it gives no access.
func (a *attempt) refusedErlang(e *raw.Erlang) {
	if e.SendReg(e.PID(1), "counter", addToken) == nil {
		_, ended := e.Rest(5 * time.Second)
		require.True(a, ended, "the connection stays open")
	}
	a.notCounted()
}

// token is the number that strangers, who must not reach counter, tell it to add: it would show.
const token = 1 << 40

var addToken = cast(wire.Tuple{wire.Atom("add"), token})

func cast(m any) wire.Tuple { return wire.Tuple{wire.Atom("$gen_cast"), m} }

// notCounted checks that no such cast has arrived.
func (a *attempt) notCounted() {
	e, err := raw.DialErlang(a.Erlang, raw.Self("teller@127.0.0.1", 1), a.Cookie)
	require.NoError(a, err)
	defer func() { _ = e.Close() }()
	total, err := e.Call("counter", wire.Atom("get"))
	require.NoError(a, err)
	n, ok := wire.AsInt(total)
	require.True(a, ok && n < token, "counter has been reached without the cookie: %v", total)
}

// atErlang are the attacks on the Erlang distribution protocol.
var atErlang = []row{
	{name: "erlang: wrong proofs", attack: func(a *attempt) {
		for i := range 300 {
			e := a.openErlang()
			cookie := []string{"", "wrong", a.Cookie + " ", a.Cookie[:len(a.Cookie)-1], strings.Repeat("x", 1000)}[i%5]
			require.Error(a, e.Handshake(cookie))
			_ = e.Close()
		}
		a.notCounted()
	}, want: want{log: `refused an incoming connection`, logKiB: 256}},
	{name: "erlang: the proof is the challenge, zeroes, or none", attack: func(a *attempt) {
		for i := range 4 {
			e := a.openErlang()
			require.NoError(a, e.SendName())
			_, err := e.Status()
			require.NoError(a, err)
			require.NoError(a, e.Challenge())
			switch i {
			case 0:
				require.NoError(a, e.SendReply(e.Posed, [16]byte{}))
			case 1:
				require.NoError(a, e.SendReply(e.Posed, raw.Digest("", e.Posed)))
			case 2:
				require.NoError(a, e.SendMessage([]byte("r")))
			case 3:
				require.NoError(a, e.SendFrame(e.ControlFrame(wire.Tuple{6, e.PID(1), wire.Atom(""), wire.Atom("counter")},
					addToken)))
			}
			_, err = e.Ack()
			require.Error(a, err)
			a.refusedErlang(e)
		}
	}},
	{name: "erlang: control messages instead of a handshake", attack: func(a *attempt) {
		e := a.openErlang()
		_ = e.SendFrame(e.ControlFrame(wire.Tuple{6, e.PID(1), wire.Atom(""), wire.Atom("counter")}, addToken))
		a.closes(e.Conn, 10*time.Second)
		a.notCounted()
	}},
	{name: "erlang: replay of a whole handshake", attack: func(a *attempt) {
		id := a.self()
		e := raw.NewErlang(a.dial(attacker, a.Erlang), id)
		require.NoError(a, e.SendName())
		_, err := e.Status()
		require.NoError(a, err)
		require.NoError(a, e.Challenge())
		digest := raw.Digest(a.Cookie, e.Posed)
		require.NoError(a, e.SendReply(1, digest))
		_, err = e.Ack()
		require.NoError(a, err)
		require.NoError(a, e.Close())
		for range 20 {
			r := raw.NewErlang(a.dial(attacker, a.Erlang), id)
			require.NoError(a, r.SendName())
			if status, err := r.Status(); err == nil && status == "alive" {
				require.NoError(a, r.SendStatus("true"))
			}
			require.NoError(a, r.Challenge())
			require.NotEqual(a, e.Posed, r.Posed)
			require.NoError(a, r.SendReply(1, digest))
			_, err = r.Ack()
			require.Error(a, err)
			a.refusedErlang(r)
		}
	}},
	{name: "erlang: the node's own challenge posed to itself when it dials", own: &raw.Options{Args: []string{"--join",
		"shop@127.0.0.1", "--protocols", "erlang"}},
		attack: func(a *attempt) {
			l, err := net.Listen("tcp", "127.0.0.1:0")
			require.NoError(a, err)
			a.Cleanup(func() { _ = l.Close() })
			require.NoError(a, l.(*net.TCPListener).SetDeadline(time.Now().Add(testkit.Limit)))
			m, err := raw.DialEPMD(a.EPMD)
			require.NoError(a, err)
			a.Cleanup(func() { _ = m.Close() })
			answer, err := m.Register(epmdserver.Registration{Name: "shop", Port: uint16(l.Addr().(*net.TCPAddr).Port)})
			require.NoError(a, err)
			require.Zero(a, answer.Result)
			c, err := l.Accept() // the node comes
			require.NoError(a, err)
			in := raw.NewErlang(raw.NewConn(c.(*net.TCPConn)), raw.Self("shop@127.0.0.1", 1))
			a.Cleanup(func() { _ = in.Close() })
			require.NoError(a, in.Name())
			require.NoError(a, in.SendStatus("ok"))
			// Under another name, to which it is not connecting, the node sends its challenge ...
			out := raw.NewErlang(a.dial("", a.Erlang), raw.Self("relay@127.0.0.1", 1))
			require.NoError(a, out.SendName())
			_, err = out.Status()
			require.NoError(a, err)
			require.NoError(a, out.Challenge())
			// ... and gets that challenge itself.
			require.NoError(a, in.SendChallenge(out.Posed))
			in.Patience = 3 * time.Second
			_, digest, err := in.Reply()
			if err != nil {
				return // it does not answer its own challenge
			}
			require.NoError(a, out.SendReply(1, digest))
			out.Patience = 3 * time.Second
			_, err = out.Ack()
			require.Error(a, err, "the node has let in whoever shows it its own answer")
		}, want: want{unready: true}},
	{name: "erlang: the name of a peer is half-open while that comes and goes", attack: func(a *attempt) {
		for range 3 {
			id := a.self()
			stranger := raw.NewErlang(a.dial(attacker, a.Erlang), id)
			require.NoError(a, stranger.SendName())
			_, err := stranger.Status()
			require.NoError(a, err)
			peer, err := raw.DialErlang(a.Erlang, id, a.Cookie)
			require.NoError(a, err)
			_, err = peer.Call("counter", wire.Atom("get"))
			require.NoError(a, err)
			require.NoError(a, peer.Close())
			a.untilUp(10*time.Second, id.Name, false)
			require.NoError(a, stranger.Close())
			again, err := raw.DialErlang(a.Erlang, id, a.Cookie) // after the stranger's end
			require.NoError(a, err)
			require.NoError(a, again.Close())
		}
	}},
	{name: "erlang: the node's own name is claimed", attack: func(a *attempt) {
		e := raw.NewErlang(a.dial(attacker, a.Erlang), wire.NodeID{Name: a.Daemon.Name, Creation: 1})
		require.Error(a, e.Handshake(a.Cookie))
	}},
	{name: "erlang: the name of a connected peer is claimed without the cookie", attack: func(a *attempt) {
		for range 50 {
			e := raw.NewErlang(a.dial(attacker, a.Erlang), raw.Self("bystander1@127.0.0.1", 2))
			require.Error(a, e.Handshake("wrong"))
			_ = e.Close()
		}
	}},
	{name: "erlang: names that are none", attack: func(a *attempt) {
		for _, name := range []string{"", "@", "x", "x@", "@x", "a@b@c", strings.Repeat("x", 250) + "@127.0.0.1",
			"x\x00@127.0.0.1",
			"x@\x1b[2J\x1b]0;pwned\x07", "x\n@127.0.0.1", "..@127.0.0.1", "\xff\xfe@127.0.0.1", "x@short", "%s%n@127.0.0.1"} {
			e := raw.NewErlang(a.dial(attacker, a.Erlang), wire.NodeID{Name: wire.Atom(name), Creation: 1})
			require.Error(a, e.Handshake("wrong"))
		}
	}, want: want{never: "\x1b|\x07"}},
	{name: "erlang: names with escapes of terminals, with the cookie", attack: func(a *attempt) {
		for _, name := range escapes("@127.0.0.1") {
			e := raw.NewErlang(a.dial(attacker, a.Erlang), wire.NodeID{Name: wire.Atom(name), Creation: 1})
			require.Error(a, e.Handshake(a.Cookie), "%q", name)
			_ = e.Close()
		}
		e := a.erlang()
		for _, name := range escapes("") {
			require.NoError(a, e.SendReg(e.PID(1), wire.Atom(name), wire.Atom(name)))
			_, _ = e.Call("counter", wire.Tuple{wire.Atom(name), name})
		}
	}, want: want{never: "\x1b|\x07|(?m)^level=ERROR msg=forged"}},
	{name: "erlang: flags that lack, and all flags", attack: func(a *attempt) {
		for bit := range 65 {
			e := a.openErlang()
			e.Flags &^= 1 << bit
			if bit == 64 {
				e.Flags = 1<<64 - 1
			}
			_ = e.Handshake("wrong")
			_ = e.Close()
		}
	}},
	{name: "erlang: a name of the old form, complements, a name to be given", attack: func(a *attempt) {
		for _, m := range []string{"n\x00\x05\x01\x02\x03\x04x@127.0.0.1", "n", "c12345678", "sok", "sfalse", "strue", "r",
			"a", "N", "",
			"N\x00\x00\x00\x02\x07\xff\xff\xff\x00\x00\x00\x01\x00\x09127.0.0.1"} {
			e := a.openErlang()
			require.NoError(a, e.SendMessage([]byte(m)))
			_ = e.SendMessage([]byte("c\x00\x00\x00\x00\x00\x00\x00\x01"))
			_ = e.SendReply(1, [16]byte{})
			_ = e.CloseWrite()
			_, _ = e.Rest(5 * time.Second)
		}
	}},
	{name: "erlang: handshakes in random order", attack: func(a *attempt) {
		for range 200 {
			e := a.openErlang()
			steps := [][]byte{e.NameMessage(), []byte("strue"), []byte("sfalse"), append([]byte("r\x00\x00\x00\x01"),
				make([]byte, 16)...),
				append([]byte{'a'}, make([]byte, 16)...), e.ChallengeMessage(1), []byte("c12345678")}
			a.rand.Shuffle(len(steps), func(i, j int) { steps[i], steps[j] = steps[j], steps[i] })
			for _, s := range steps {
				_ = e.SendMessage(s)
			}
			_ = e.CloseWrite()
			_, _ = e.Rest(5 * time.Second)
			_ = e.Close()
		}
	}, want: want{logKiB: 256}},
}

// atNative are the attacks on the native protocol.
var atNative = []row{
	{name: "native: wrong proofs", attack: func(a *attempt) {
		for i := range 300 {
			n := a.openNative()
			var refused *raw.Refusal
			require.ErrorAs(a, n.Handshake([]string{"", "wrong", a.Cookie + " ", a.Cookie[1:]}[i%4]), &refused)
			_ = n.Close()
		}
		a.notCounted()
	}, want: want{log: `refused an incoming connection`, logKiB: 256}},
	{name: "native: an empty cookie for a session that there is not", attack: func(a *attempt) {
		for range 20 {
			n := a.openNative()
			n.Us.Flags |= raw.Session | raw.Resume
			n.Us.Grace = 5000
			require.Error(a, n.Handshake(""))
			_ = n.Close()
		}
	}},
	{name: "native: a session is guessed with the cookie", setup: "grace", attack: func(a *attempt) {
		for i := range 200 {
			n := a.openNative()
			n.Us.Flags |= raw.Session | raw.Resume
			n.Us.Grace = 5000
			copy(n.Session[:], a.noise(16))
			n.Received = []uint64{0, 1, 1 << 63, 1<<64 - 1}[i%4]
			_ = n.Handshake(a.Cookie)
			require.Zero(a, n.Session[0]|n.Session[1])
			_ = n.Close()
		}
	}, want: want{logKiB: 256}},
	{name: "native: a session is taken by who only knows its name", setup: "grace", attack: func(a *attempt) {
		id := a.self()
		open := func() *raw.Native {
			n := raw.NewNative(a.dial("", a.Native), id, a.Daemon.Name)
			n.Us.Flags |= raw.Session
			n.Us.Grace = 5000
			return n
		}
		n := open()
		require.NoError(a, n.Handshake(a.Cookie))
		for range 20 {
			thief := open()
			thief.Us.Flags |= raw.Resume
			thief.Session = n.Session
			require.Error(a, thief.Handshake("wrong"))
			_ = thief.Close()
		}
		_, err := n.Call("counter", wire.Atom("get"))
		require.NoError(a, err)
	}},
	{name: "native: a session is gone on with more bytes than were sent", setup: "grace", attack: func(a *attempt) {
		for _, received := range []uint64{1 << 20, 1 << 40, 1<<64 - 1} {
			id := a.self()
			open := func() *raw.Native {
				n := raw.NewNative(a.dial("", a.Native), id, a.Daemon.Name)
				n.Us.Flags |= raw.Session
				n.Us.Grace = 5000
				return n
			}
			n := open()
			require.NoError(a, n.Handshake(a.Cookie))
			n.Reset()
			again := open()
			again.Us.Flags |= raw.Resume
			again.Session, again.Received = n.Session, received
			_ = again.Handshake(a.Cookie)
			_, ended := again.Rest(15 * time.Second)
			require.True(a, ended)
		}
	}},
	{name: "native: sums that are wrong", setup: "grace", attack: func(a *attempt) {
		for range 20 {
			n := a.openNative()
			n.Us.Flags |= raw.Session
			n.Us.Grace = 1000
			require.NoError(a, n.Handshake(a.Cookie))
			b := n.Framed(raw.SignalFrame(byte(dist.OpSend), n.PID(1), wire.Atom("counter"), addToken))
			b[len(b)-1] ^= 1
			require.NoError(a, n.Send(b))
			a.closes(n.Conn, 10*time.Second)
		}
		a.notCounted()
	}, want: want{leaves: true}},
	{name: "native: replay of a whole handshake", attack: func(a *attempt) {
		n := a.native()
		hello, proof := n.Hello, n.Proof
		require.NoError(a, n.Close())
		for range 20 {
			r := a.openNative()
			require.NoError(a, r.SendMessage(hello))
			require.NoError(a, r.ReadWelcome())
			require.NoError(a, r.SendMessage(proof))
			_, err := r.Message()
			require.Error(a, err)
		}
	}},
	{name: "native: the node's own welcome and proof are sent back", attack: func(a *attempt) {
		for range 10 {
			n := a.openNative()
			require.NoError(a, n.SendHello())
			require.NoError(a, n.ReadWelcome())
			back := bytes.Clone(n.Welcome)
			back[0] = 'H'
			r := a.openNative()
			require.NoError(a, r.SendMessage(back))
			_, err := r.Message()
			require.Error(a, err)
			require.NoError(a, n.SendMessage(append([]byte{'P'}, make([]byte, 56)...)))
			_, err = n.Message()
			require.Error(a, err)
		}
	}},
	{name: "native: the node's own name, and that of a connected peer", attack: func(a *attempt) {
		for _, name := range []wire.Atom{a.Daemon.Name, "bystander2@127.0.0.1", "bystander1@127.0.0.1"} {
			n := raw.NewNative(a.dial(attacker, a.Native), wire.NodeID{Name: name, Creation: 2}, a.Daemon.Name)
			cookie := "wrong"
			if name == a.Daemon.Name {
				cookie = a.Cookie
			}
			require.Error(a, n.Handshake(cookie))
		}
	}},
	{name: "native: names with escapes of terminals, with the cookie", attack: func(a *attempt) {
		for _, name := range escapes("@127.0.0.1") {
			n := raw.NewNative(a.dial(attacker, a.Native), raw.Self(name, 1), a.Daemon.Name)
			require.Error(a, n.Handshake(a.Cookie), "%q", name)
			_ = n.Close()
		}
	}, want: want{never: "\x1b|\x07|(?m)^level=ERROR msg=forged"}},
	{name: "native: names that are none, for another node, with escapes", attack: func(a *attempt) {
		for _, name := range []string{"", "@", "x", "a@b@c", strings.Repeat("x", 3000) + "@h", "x@\x1b[2J\x07", "x\n@h",
			"\xff@h", "x\x00@h"} {
			n := raw.NewNative(a.dial(attacker, a.Native), raw.Self(name, 1), a.Daemon.Name)
			require.Error(a, n.Handshake("wrong"))
			n = raw.NewNative(a.dial(attacker, a.Native), a.self(), wire.Atom(name))
			require.Error(a, n.Handshake("wrong"))
		}
	}, want: want{never: "\x1b|\x07"}},
	{name: "native: versions and what a node says of itself, wrong", attack: func(a *attempt) {
		for i := range 16 {
			n := a.openNative()
			switch i {
			case 0:
				n.Us.Message = 0
			case 1:
				n.Us.Message = 1<<64 - 1
			case 2:
				n.Us.Partial = 0
			case 3:
				n.Us.Partial = 1<<64 - 1
			case 4:
				n.Us.Open = 0
			case 5:
				n.Us.Grace, n.Us.Flags = 1<<32-1, raw.Session
			case 6:
				n.Us.Flags = 1<<32 - 1
			case 7:
				n.Us.Flags = raw.Bound
			case 8:
				n.Us.NameSize = 65_535
			case 9:
				n.Us.NameSize = 0
			case 10:
				n.Us.ID.Creation = 0
			default:
				hello := n.HelloMessage()
				hello[5], hello[6] = [2][5]byte{{0, 2, 255, 1, 5}, {0, 9, 255, 0, 1}}[0][i-11], [5]byte{0, 9, 255, 0, 1}[i-11]
				require.NoError(a, n.SendMessage(hello))
				_, _ = n.Message()
				continue
			}
			if n.Handshake(a.Cookie) == nil {
				_, _ = n.Call("echo", make([]byte, 100_000))
			}
		}
	}},
	{name: "native: frames behind a wrong proof", attack: func(a *attempt) {
		n := a.openNative()
		require.NoError(a, n.SendHello())
		require.NoError(a, n.ReadWelcome())
		require.NoError(a, n.SendProof("wrong"))
		_ = n.SendDone()
		_ = n.SendReg(n.PID(1), "counter", addToken)
		_, _ = n.Rest(5 * time.Second)
		a.notCounted()
	}},
	{name: "native: done and frames without a proof", attack: func(a *attempt) {
		n := a.openNative()
		require.NoError(a, n.SendHello())
		require.NoError(a, n.ReadWelcome())
		require.NoError(a, n.SendDone())
		_ = n.SendReg(n.PID(1), "counter", addToken)
		_, _ = n.Rest(5 * time.Second)
		a.notCounted()
	}},
}
