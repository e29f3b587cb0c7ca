package attack

import (
	"crypto/tls"
	"fmt"
	"net"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/deploy/attack/internal/raw"
	"github.com/actornode/actornode/internal/testkit/certtest"
	"github.com/actornode/actornode/wire"
)

// others are attacks by peers that a daemon dials, by TLS, and by way of rights.
var others = []row{
	dialledBy("erlang", map[string]func(*raw.Conn){
		"nothing":        func(*raw.Conn) {},
		"silence":        func(c *raw.Conn) { _, _ = c.Rest(3 * time.Second) },
		"zeroes":         func(c *raw.Conn) { _ = c.Send(make([]byte, 1<<20)) },
		"noise":          func(c *raw.Conn) { _ = c.Send([]byte("HTTP/1.1 400 Bad Request\r\n\r\n")) },
		"status 64 KiB":  func(c *raw.Conn) { _ = c.Send([]byte{0xff, 0xff, 's'}, make([]byte, 65_534)) },
		"unknown status": erlangAnswer(func(e *raw.Erlang) { _ = e.SendStatus("\x1b[2Jpwned\x07") }),
		"nok":            erlangAnswer(func(e *raw.Erlang) { _ = e.SendStatus("nok") }),
		"alive":          erlangAnswer(func(e *raw.Erlang) { _ = e.SendStatus("alive"); _, _ = e.Status() }),
		"named":          erlangAnswer(func(e *raw.Erlang) { _ = e.SendStatus("named:\x00\x0cgo@127.0.0.1\x00\x00\x00\x01") }),
		"another name":   erlangAnswer(as("x@127.0.0.1")),
		"no flags":       erlangAnswer(func(e *raw.Erlang) { e.Flags = 0; _ = e.SendStatus("ok"); _ = e.SendChallenge(1) }),
		"challenge cut":  erlangAnswer(func(e *raw.Erlang) { _ = e.SendStatus("ok"); _ = e.SendMessage([]byte("N123")) }),
		"no proof": erlangAnswer(func(e *raw.Erlang) {
			_ = e.SendStatus("ok")
			_ = e.SendChallenge(1)
			_, _, _ = e.Reply()
			_ = e.SendAck([16]byte{})
		}),
		"the proof back": erlangAnswer(func(e *raw.Erlang) {
			_ = e.SendStatus("ok")
			_ = e.SendChallenge(1)
			_, d, _ := e.Reply()
			_ = e.SendAck(d)
		}),
		"the name back": func(c *raw.Conn) { e := raw.NewErlang(c, wire.NodeID{}); b, _ := e.Message(); _ = e.SendMessage(b) },
		"frames too soon": erlangAnswer(func(e *raw.Erlang) {
			_ = e.SendFrame(e.ControlFrame(wire.Tuple{6, e.PID(1), wire.Atom(""), wire.Atom("counter")}, addToken))
		}),
	}),
	dialledBy("native", map[string]func(*raw.Conn){
		"nothing":        func(*raw.Conn) {},
		"silence":        func(c *raw.Conn) { _, _ = c.Rest(3 * time.Second) },
		"zeroes":         func(c *raw.Conn) { _ = c.Send(make([]byte, 1<<20)) },
		"noise":          func(c *raw.Conn) { _ = c.Send([]byte("HTTP/1.1 400 Bad Request\r\n\r\n")) },
		"64 KiB":         func(c *raw.Conn) { _ = c.Send([]byte{0xff, 0xff, 'W'}, make([]byte, 65_534)) },
		"refusal":        nativeAnswer(func(n *raw.Native, _ []byte) { _ = n.SendMessage([]byte("E\x01\x1b[2Jpwned\x07\n")) }),
		"unknown code":   nativeAnswer(func(n *raw.Native, _ []byte) { _ = n.SendMessage([]byte("E\xff")) }),
		"the hello back": nativeAnswer(func(n *raw.Native, hello []byte) { _ = n.SendMessage(hello) }),
		"as a welcome": nativeAnswer(func(n *raw.Native, hello []byte) {
			_ = n.SendMessage(append([]byte("WACTN\x01\x00"),
				hello[7:]...))
		}),
		"another version": nativeAnswer(func(n *raw.Native,
			_ []byte) {
			_ = n.SendMessage(n.Us.Append([]byte("WACTN\x09\x00")))
		}),
		"another name": nativeAnswer(func(n *raw.Native,
			_ []byte) {
			_ = n.SendMessage(n.Us.Append([]byte("WACTN\x01\x00")))
		}),
		"no proof": nativeAnswer(func(n *raw.Native, _ []byte) {
			_ = n.SendMessage(n.Us.Append([]byte("WACTN\x01\x00")))
			_, _ = n.Message()
			_ = n.SendMessage(append([]byte{'A'}, make([]byte, 56)...))
		}),
		"the proof back": nativeAnswer(func(n *raw.Native, _ []byte) {
			_ = n.SendMessage(n.Us.Append([]byte("WACTN\x01\x01")))
			b, _ := n.Message()
			if len(b) > 0 {
				b[0] = 'A'
				_ = n.SendMessage(b)
			}
		}),
	}),

	{name: "tls: no certificate, one of another authority, for another host, old versions, none at all", alone: true,
		own: &raw.Options{Prepare: func(t testing.TB, o *raw.Options) {
			tlsFiles = certtest.New(t, "cluster")
			f := tlsFiles.Write(t.TempDir(), certtest.Host("127.0.0.1"))
			o.Args = []string{"--tls-cert", f.Cert, "--tls-key", f.Key, "--tls-ca", f.CA}
		}}, attack: attackTLS, want: want{log: "refused an incoming connection"}},

	{name: "rights: who is no operator may not kill, unregister, spawn, trace, drain, stop", setup: "restricted",
		attack: func(a *attempt) {
			e, pids := a.erlang(), a.servicePIDs()
			atom := func(s string) wire.Atom { return wire.Atom(s) }
			for _, q := range []any{
				wire.Tuple{atom("exit"), atom("net_kernel"), atom("kill")}, wire.Tuple{atom("exit"), pids[0], atom("kill")},
				wire.Tuple{atom("exit"), atom("demo"), atom("kill")},
				wire.Tuple{atom("unregister"), atom("rex")}, wire.Tuple{atom("register"), atom("mine"), atom("counter")},
				wire.Tuple{atom("spawn"), atom("demo"), atom("echo"), wire.List{}}, wire.Tuple{atom("send"), atom("counter"),
					addToken},
				wire.Tuple{atom("call"), atom("counter"), wire.Tuple{atom("add"), token}, 1000}, wire.Tuple{atom("connect"),
					atom("nobody@127.0.0.1")},
				wire.Tuple{atom("disconnect"), atom("bystander1@127.0.0.1")}, atom("drain"), atom("stop"),
				wire.Tuple{atom("log_level"), atom("debug")},
				wire.Tuple{atom("trace"), wire.NewMap(atom("targets"), wire.List{atom("counter")})},
				wire.Tuple{atom("deadletters"), wire.NewMap()},
			} {
				answer, err := e.Call("actornode", q)
				require.NoError(a, err)
				t, ok := answer.(wire.Tuple)
				require.True(a, ok && len(t) == 2 && t[0] == atom("error"), "%v: %v", wire.Format(q), wire.Format(answer))
				n := a.native()
				me := n.PID(1)
				require.NoError(a, n.SendReg(me, "actornode", call(me, n.Ref(1, 2, 3), q)))
				// In the name of an operator, over a connection that is not one.
				operator := wire.NewOrigin(raw.Self("ops@127.0.0.1", 1)).PID(1)
				require.NoError(a, n.SendReg(operator, "actornode", call(operator, n.Ref(1, 2, 3), q)))
				require.NoError(a, n.SendReg(me, "actornode", call(operator, n.Ref(1, 2, 3), q)))
				require.NoError(a, n.SendReg(operator, "actornode", call(me, n.Ref(1, 2, 3), q)))
				a.nativeGoesOn(n)
			}
			a.notCounted()
			a.servicesWork()
		}},
	{name: "rights: what is not allowed is started in no way", setup: "restricted", attack: func(a *attempt) {
		e := a.erlang()
		atom := func(s string) wire.Atom { return wire.Atom(s) }
		bad := func(answer any) bool {
			t, ok := answer.(wire.Tuple)
			return ok && len(t) > 1 && (t[0] == atom("badrpc") || t[0] == atom("error"))
		}
		answer, err := rpc(e, "demo", "add", 1, 2)
		require.NoError(a, err)
		require.True(a, bad(answer), wire.Format(answer))
		answer, err = e.Call("demo", wire.Tuple{atom("start_child"), wire.NewMap(atom("id"), atom("x"), atom("start"),
			wire.Tuple{atom("demo"), atom("counter"), wire.List{}})})
		require.NoError(a, err)
		require.True(a, bad(answer), wire.Format(answer))
		answer, err = e.Call("actornode", wire.Tuple{atom("spawn"), atom("demo"), atom("counter"), wire.List{}})
		require.NoError(a, err)
		require.True(a, bad(answer), wire.Format(answer))
		for i, f := range []string{"counter", "exit"} {
			request := spawnRequest(e, i, wire.Atom(f), i)
			request[5] = wire.List{atom("monitor")}
			require.NoError(a, e.Control(request, wire.List{1, 1}[:i]))
			// As in Erlang, there is a process for a moment, which exits as it does if the function does not exist.
			control, reason, err := e.Signal()
			for err == nil && (len(control) == 0 || control[0] != 28) {
				control, reason, err = e.Signal()
			}
			require.NoError(a, err)
			require.Contains(a, wire.Format(reason), "undef", "demo:%s", f)
		}
		require.Len(a, a.spawnEcho(1), 1, "what is allowed is started")
	}},
}

func erlangAnswer(do func(*raw.Erlang)) func(*raw.Conn) {
	return func(c *raw.Conn) {
		e := raw.NewErlang(c, wire.NodeID{Creation: 1})
		if e.Name() == nil {
			e.Self.Name = evilName(c)
			do(e)
		}
	}
}

// as sends a challenge in another name.
func as(name wire.Atom) func(*raw.Erlang) {
	return func(e *raw.Erlang) {
		e.Self.Name = name
		_ = e.SendStatus("ok")
		_ = e.SendChallenge(1)
	}
}

func nativeAnswer(do func(n *raw.Native, hello []byte)) func(*raw.Conn) {
	return func(c *raw.Conn) {
		n := raw.NewNative(c, wire.NodeID{Name: "x@127.0.0.1", Creation: 1}, "go@127.0.0.1")
		if hello, err := n.Message(); err == nil {
			n.Us.ID.Name = evilName(c)
			do(n, hello)
		}
	}
}

// evilName returns the name of the peer that is looked for at the near end of a connection.
func evilName(c *raw.Conn) wire.Atom {
	return wire.Atom(fmt.Sprint("evil", c.LocalAddr().(*net.TCPAddr).Port, "@127.0.0.1"))
}

// dialledBy returns a row in which the daemon is told to connect to peers that answer wrongly, each in its way, again
// and again.
func dialledBy(protocol string, answers map[string]func(*raw.Conn)) row {
	var met []*atomic.Int32
	return row{name: fmt.Sprintf("%s: %d peers that the node dials, each of which answers wrongly", protocol, len(answers)),
		own: &raw.Options{Prepare: func(t testing.TB, o *raw.Options) {
			var names []string
			for _, answer := range answers {
				l, err := net.Listen("tcp", "127.0.0.1:0")
				require.NoError(t, err)
				t.Cleanup(func() { _ = l.Close() })
				name := fmt.Sprint("evil", l.Addr().(*net.TCPAddr).Port, "@127.0.0.1")
				names = append(names, name)
				o.Args = append(o.Args, "--peer", name+"="+protocol+"://"+l.Addr().String())
				count := new(atomic.Int32)
				met = append(met, count)
				go func() { // until the listener is closed
					for {
						c, err := l.Accept()
						if err != nil {
							return
						}
						go func() { // until the daemon closes
							conn := raw.NewConn(c.(*net.TCPConn))
							defer func() { _ = conn.Close() }()
							conn.Patience = 3 * time.Second
							answer(conn)
							count.Add(1)
						}()
					}
				}()
			}
			o.Args = append(o.Args, "--join", strings.Join(names, ","))
			o.Config = "connect_timeout: 1s\n"
		}},
		attack: func(a *attempt) {
			a.until(20*time.Second, func() bool {
				for _, count := range met {
					if count.Load() == 0 {
						return false
					}
				}
				return true
			}, "all have been dialled")
			a.notCounted()
			require.NotContains(a, a.Daemon.Log(), `msg="node up" peer=evil`)
		}, want: want{unready: true, never: "\x1b|\x07", goroutine: 40}}
}

var tlsFiles *certtest.Authority

func attackTLS(a *attempt) {
	dir := a.TempDir()
	right := tlsFiles.Write(dir, certtest.Host("127.0.0.1"))
	good, err := tls.LoadX509KeyPair(right.Cert, right.Key)
	require.NoError(a, err)
	wrong := certtest.New(a.T, "others").Write(a.TempDir(), certtest.Host("127.0.0.1"))
	strange, err := tls.LoadX509KeyPair(wrong.Cert, wrong.Key)
	require.NoError(a, err)
	elsewhere := tlsFiles.Write(a.TempDir(), certtest.Host("elsewhere"))
	other, err := tls.LoadX509KeyPair(elsewhere.Cert, elsewhere.Key)
	require.NoError(a, err)
	for _, addr := range []string{a.Erlang, a.Native} {
		for i, c := range []*tls.Config{
			{}, {Certificates: []tls.Certificate{strange}}, {Certificates: []tls.Certificate{other}},
			{Certificates: []tls.Certificate{good}, MaxVersion: tls.VersionTLS11, MinVersion: tls.VersionTLS10},
		} {
			c.InsecureSkipVerify = true //nolint:gosec // an attacker's
			conn, err := tls.Dial("tcp", addr, c)
			if err != nil {
				continue
			}
			_ = conn.SetDeadline(time.Now().Add(10 * time.Second))
			message := raw.NewErlang(nil, a.self()).NameMessage()
			head := append([]byte{0, 0, 0, byte(len(message))}, message...)
			if addr == a.Native {
				head = sized(raw.NewNative(nil, a.self(), a.Daemon.Name).HelloMessage())
			}
			_, _ = conn.Write(head)
			b := make([]byte, 100)
			n, err := conn.Read(b)
			_ = conn.Close()
			require.False(a, err == nil && (b[0] == 0 && strings.Contains(string(b[:n]), "sok") ||
				strings.Contains(string(b[:n]), "WACTN")),
				"%s, case %d: the node speaks to it: %q", addr, i, b[:n])
		}
		a.pour(addr, []byte("\x00\x05hello"))
		a.pour(addr, doors[0].first(a))
		a.pour(addr, append([]byte{0x16, 3, 1, 0x40, 0}, a.noise(16_384)...))
		several(200, 8, func(int) {
			if c, err := raw.DialFrom(attacker, addr); err == nil {
				_ = c.Send([]byte{0x16, 3, 1})
				c.Reset()
			}
		})
	}
}
