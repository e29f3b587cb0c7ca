package attack

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/deploy/attack/internal/raw"
	"github.com/actornode/actornode/internal/testkit"
	"github.com/actornode/actornode/internal/testkit/erltest"
	"github.com/actornode/actornode/wire"
	"github.com/actornode/actornode/wire/dist"
)

// flows are attacks of peers that know the cookie and take too much, too slowly, or without end.
var flows = []row{
	{name: "erlang: calls whose answers are not read", attack: func(a *attempt) {
		e := a.slowErlang()
		a.floodErlang(e, 200_000, func(i int) []byte {
			return e.ControlFrame(wire.Tuple{6, e.PID(1), wire.Atom(""), wire.Atom("counter")}, call(e.PID(1),
				e.Ref(uint32(i), 1), wire.Atom("get")))
		})
		a.holdErlang(e)
	}, want: want{peak: 512}},
	{name: "native: calls whose answers are not read", attack: func(a *attempt) {
		n := a.slowNative()
		a.floodNative(n, 200_000, func(i int) []byte {
			return raw.SignalFrame(byte(dist.OpSend), n.PID(1), wire.Atom("counter"), call(n.PID(1), n.Ref(uint32(i), 1),
				wire.Atom("get")))
		})
		a.holdNative(n)
	}, want: want{peak: 512}},
	{name: "native: calls whose answers are not read, in a session", setup: "grace", attack: func(a *attempt) {
		n := raw.NewNative(a.dial(attacker, a.Native), a.self(), a.Daemon.Name)
		n.Us.Flags |= raw.Session
		n.Us.Grace = 2000
		require.NoError(a, n.SetReadBuffer(4096))
		require.NoError(a, n.Handshake(a.Cookie))
		a.floodNative(n, 100_000, func(i int) []byte {
			return raw.SignalFrame(byte(dist.OpSend), n.PID(1), wire.Atom("counter"), call(n.PID(1), n.Ref(uint32(i), 1),
				wire.Atom("get")))
		})
		a.holdNative(n)
	}},
	{name: "erlang: monitors of nobody, answers not read", attack: func(a *attempt) {
		e := a.slowErlang()
		a.floodErlang(e, a.many(1_000_000, 3_000_000), func(i int) []byte {
			return e.ControlFrame(wire.Tuple{19, e.PID(1), wire.Atom("nobody"), e.Ref(uint32(i), 1, 1)})
		})
		a.holdErlang(e)
	}, want: want{peak: 640}}, // 256 MiB of answers (four times limits.answers), as much garbage, and the daemon's own memory
	{name: "native: monitors of nobody, answers not read", attack: func(a *attempt) {
		n := a.slowNative()
		a.floodNative(n, a.many(1_000_000, 3_000_000), func(i int) []byte {
			return raw.SignalFrame(byte(dist.OpMonitor), n.PID(1), wire.Atom("nobody"), n.Ref(uint32(i), 1, 1))
		})
		a.holdNative(n)
	}, want: want{peak: 512}}, // limits.answers, four times that at the same time, and garbage
	{name: "erlang: links to nobody, answers not read", attack: func(a *attempt) {
		e := a.slowErlang()
		a.floodErlang(e, a.many(300_000, 2_000_000), func(i int) []byte {
			return e.ControlFrame(wire.Tuple{1, e.PID(uint64(i + 1)), wire.NewOrigin(e.Peer).PID(1<<40 + uint64(i))})
		})
		a.holdErlang(e)
	}, want: want{peak: 512}}, // limits.answers, four times that at the same time, and garbage
	{name: "erlang: spawns of what is not there, answers not read", attack: func(a *attempt) {
		e := a.slowErlang()
		a.floodErlang(e, 200_000, func(i int) []byte {
			return e.ControlFrame(wire.Tuple{29, e.Ref(uint32(i), 1), e.PID(1), e.PID(1), wire.Tuple{wire.Atom("no"),
				wire.Atom("such"), 0}, wire.List{}}, wire.List{})
		})
		a.holdErlang(e)
	}, want: want{peak: 512}},
	// All peers together may have 256 MiB waiting, and the heap may reach several times that before the soft limit of
	// the memory, which these rows are far from.
	{name: "erlang: big answers that are not read", attack: func(a *attempt) {
		e := a.slowErlang()
		big := make([]byte, 1<<20)
		a.floodErlang(e, 300, func(i int) []byte {
			return e.ControlFrame(wire.Tuple{6, e.PID(1), wire.Atom(""), wire.Atom("echo")}, call(e.PID(1), e.Ref(uint32(i),
				1), big))
		})
		a.holdErlang(e)
	}, want: want{peak: 1024}},
	{name: "native: big answers that are not read", attack: func(a *attempt) {
		n := a.slowNative()
		big := string(make([]byte, 60_000))
		a.floodNative(n, 2_500, func(i int) []byte {
			return raw.SignalFrame(byte(dist.OpSend), n.PID(1), wire.Atom("echo"), call(n.PID(1), n.Ref(uint32(i), 1), big))
		})
		a.holdNative(n)
	}, want: want{peak: 1024}},
	{name: "erlang: answers of 32 MiB that are not read", slow: true, attack: func(a *attempt) {
		e := a.slowErlang()
		big := make([]byte, 32<<20)
		a.floodErlang(e, 60, func(i int) []byte {
			return e.ControlFrame(wire.Tuple{6, e.PID(1), wire.Atom(""), wire.Atom("echo")}, call(e.PID(1), e.Ref(uint32(i),
				1), big))
		})
		a.holdErlang(e)
	}, want: want{peak: 1536}},
	{name: "erlang: 8 who have a million monitors of nobody each, answers not read", slow: true, attack: func(a *attempt) {
		es := make([]*raw.Erlang, 8)
		for i := range es {
			es[i] = a.slowErlang()
		}
		several(len(es), len(es), func(i int) {
			e := es[i]
			a.floodErlang(e, 1_000_000, func(i int) []byte {
				return e.ControlFrame(wire.Tuple{19, e.PID(1), wire.Atom("nobody"), e.Ref(uint32(i), 1, 1)})
			})
		})
		a.holdErlang(es[0])
	}, want: want{peak: 2048, served: 15 * time.Second}},
	{name: "erlang: 40 who do not read at the same time", attack: func(a *attempt) {
		es := make([]*raw.Erlang, 40)
		for i := range es {
			es[i] = a.slowErlang()
		}
		several(len(es), len(es), func(i int) {
			e := es[i]
			a.floodErlang(e, 20_000, func(i int) []byte {
				return e.ControlFrame(wire.Tuple{19, e.PID(1), wire.Atom("nobody"), e.Ref(uint32(i), 1, 1)})
			})
		})
		a.holdErlang(es[0])
		for _, e := range es {
			e.Reset()
		}
	}, want: want{peak: 320}},
	{name: "erlang: a byte now and then inside a frame", attack: func(a *attempt) {
		e := a.erlang()
		frame := e.ControlFrame(wire.Tuple{6, e.PID(1), wire.Atom(""), wire.Atom("counter")}, addToken)
		require.NoError(a, e.Send([]byte{0, 0, 0, byte(len(frame))}))
		for i := range 10 {
			require.NoError(a, e.Send(frame[i:i+1]))
			a.someWait()
		}
		e.Reset()
		a.notCounted()
	}},
	{name: "native: a byte now and then inside a frame", attack: func(a *attempt) {
		n := a.native()
		frame := n.Framed(raw.SignalFrame(byte(dist.OpSend), nil, wire.Atom("counter"), addToken))
		for i := range 10 {
			require.NoError(a, n.Send(frame[i:i+1]))
			a.someWait()
		}
		n.Reset()
		a.notCounted()
	}},
	{name: "both: half-closed connections", attack: func(a *attempt) {
		for range 20 {
			e, n := a.erlang(), a.native()
			require.NoError(a, e.CloseWrite())
			require.NoError(a, n.CloseWrite())
			a.closes(e.Conn, 5*time.Second)
			a.closes(n.Conn, 5*time.Second)
			e = a.erlang()
			require.NoError(a, e.CloseRead())
			_, _ = e.Call("counter", wire.Atom("get"))
			_ = e.Close()
		}
	}},
	{name: "both: connections that are reset in the middle of everything", attack: func(a *attempt) {
		several(200, 4, func(i int) {
			if i%2 == 0 {
				e, err := raw.DialErlang(a.Erlang, raw.Self(fmt.Sprint("reset", i, "@127.0.0.1"), 1), a.Cookie)
				if err != nil {
					return
				}
				for range 20 {
					_ = e.SendReg(e.PID(1), "echo", call(e.PID(1), e.Ref(1), make([]byte, 10_000)))
				}
				e.Reset()
				return
			}
			n, err := raw.DialNative(a.Native, raw.Self(fmt.Sprint("reset", i, "@127.0.0.1"), 1), a.Daemon.Name, a.Cookie)
			if err != nil {
				return
			}
			for range 20 {
				_ = n.SendReg(n.PID(1), "echo", call(n.PID(1), n.Ref(1), make([]byte, 10_000)))
			}
			n.Reset()
		})
	}, want: want{logKiB: 512}},
	{name: "both: peers that say nothing are gone in time", setup: "hasty", attack: func(a *attempt) {
		e, n := a.erlang(), a.native()
		_ = e.Tick()
		_ = n.Tick()
		a.closes(e.Conn, 15*time.Second)
		a.closes(n.Conn, 15*time.Second)
	}, want: want{log: `msg="node down"`}},
	{name: "both: ticks without anything else keep a peer, and read nothing", setup: "hasty", slow: true,
		attack: func(a *attempt) {
			e, n := a.erlang(), a.native()
			for range 8 {
				require.NoError(a, e.Tick())
				require.NoError(a, n.Tick())
				a.someWait()
				_, ended := e.Rest(time.Second)
				require.False(a, ended)
			}
		}},
	{name: "both: 500,000 ticks", attack: func(a *attempt) {
		e := a.erlang()
		for range 10 {
			require.NoError(a, e.Send(make([]byte, 200_000)))
		}
		require.True(a, a.goesOn(e))
	}},
	{name: "both: a peer is stopped by SIGSTOP", setup: "hasty", needs: []need{linux}, attack: func(a *attempt) {
		port, err := strconv.Atoi(a.EPMD[strings.LastIndexByte(a.EPMD, ':')+1:])
		require.NoError(a, err)
		peer := raw.Start(a.T, raw.Options{Name: "frozen@127.0.0.1", EPMD: port, Args: []string{"--join",
			string(a.Daemon.Name)}, Config: "tick_time: 4s\n"})
		defer peer.Kill()
		a.untilUp(10*time.Second, "frozen@127.0.0.1", true)
		require.NoError(a, peer.Signal(erltest.Suspend))
		frozen := wire.NewOrigin(raw.Self("frozen@127.0.0.1", 1)).PID(1)
		e := a.erlang()
		for range 200 { // answers to it cannot be delivered
			require.NoError(a, e.SendReg(e.PID(1), "echo", call(frozen, e.Ref(1), make([]byte, 1<<16))))
		}
		_ = e.Tick()
		a.untilUp(15*time.Second, "frozen@127.0.0.1", false)
		_ = peer.Signal(erltest.Resume)
	}},
	{name: "erlang: answers to 10,000 nodes that there are not", attack: func(a *attempt) {
		e := a.erlang()
		most := 0
		for i := range a.many(3_000, 10_000) {
			ghost := wire.NewOrigin(raw.Self(fmt.Sprintf("ghost%d@127.0.0.%d", i, 3+i%200), 1)).PID(1)
			require.NoError(a, e.SendReg(ghost, "echo", call(ghost, e.Ref(1), 1)))
			if i%100 == 0 {
				most = max(most, a.Figures().Files)
			}
		}
		a.until(20*time.Second, func() bool {
			most = max(most, a.Figures().Files)
			dials, err := a.Metric(`actornode_limit_used{limit="dials"}`)
			return err == nil && dials == 0
		}, "it dials no more")
		require.Less(a, most, 400, "so many files were open")
	}, want: want{logKiB: 512}},
	{name: "erlang: 300,000 messages to names that there are not", attack: func(a *attempt) {
		e := a.erlang()
		a.allErlang(e, 300_000, "counter", wire.Atom("get"), func(i int) []byte {
			return e.ControlFrame(wire.Tuple{6, e.PID(1), wire.Atom(""), wire.Atom(fmt.Sprint("no", i))}, wire.Atom("x"))
		})
		require.True(a, a.goesOn(e))
	}},
	{name: "erlang: 50,000 monitors and links of one process", attack: func(a *attempt) {
		victim := a.spawnEcho(1)[0]
		e := a.slowErlang()
		a.floodErlang(e, 100_000, func(i int) []byte {
			if i%2 == 0 {
				return e.ControlFrame(wire.Tuple{1, e.PID(uint64(i + 1)), victim})
			}
			return e.ControlFrame(wire.Tuple{19, e.PID(1), victim, e.Ref(uint32(i), 1, 1)})
		})
		a.holdErlang(e)
	}},
	// The total of all peers is bounded, however many names they have.
	{name: "erlang: 8 names with 30,000 monitors and links each", own: &raw.Options{Config: "limits:\n  held: 8MiB\n"},
		attack: func(a *attempt) {
			victim := a.spawnEcho(1)[0]
			for range 8 {
				e := a.erlang()
				go func() { _, _ = e.Rest(time.Minute) }() // reads until the connection is closed
				_ = a.sendErlang(e, 60_000, func(i int) []byte {
					if i%2 == 0 {
						return e.ControlFrame(wire.Tuple{1, e.PID(uint64(i + 1)), victim})
					}
					return e.ControlFrame(wire.Tuple{19, e.PID(1), victim, e.Ref(uint32(i), 1, 1)})
				})
			}
			a.until(20*time.Second, func() bool {
				refused, err := a.Metric(`actornode_limit_refused_total{limit="held"}`)
				return err == nil && refused > 0
			}, "some are refused")
			held, err := a.Metric(`actornode_limit_used{limit="held"}`)
			require.NoError(a, err)
			require.LessOrEqual(a, held, float64(2*8<<20+8*64<<10))
		}, want: want{peak: 200}},
	{name: "erlang: 20,000 processes", attack: func(a *attempt) {
		e := a.erlang()
		a.floodErlang(e, 20_000, func(i int) []byte { return e.ControlFrame(spawnRequest(e, i, "echo", 0), wire.List{}) })
	}, want: want{logKiB: 512}},
	{name: "erlang: 3,000 processes with names", attack: func(a *attempt) {
		e := a.erlang()
		go func() { _, _ = e.Rest(10 * time.Second) }() // reads until the connection is closed
		for i := range 3_000 {
			name := wire.Atom(fmt.Sprint("name", i))
			request := wire.Tuple{wire.Atom("spawn"), wire.Atom("demo"), wire.Atom("echo"), wire.List{}, name}
			if e.SendReg(e.PID(1), "actornode", call(e.PID(1), e.Ref(uint32(i)), request)) != nil {
				break
			}
		}
		a.someWait()
	}, want: want{logKiB: 512}},
	{name: "erlang: 50,000 process groups", attack: func(a *attempt) {
		e := a.erlang()
		me := e.PID(1)
		require.NoError(a, e.SendReg(me, "pg", wire.Tuple{wire.Atom("discover"), me}))
		require.NoError(a, e.SendReg(me, "pg", wire.Tuple{wire.Atom("sync"), me, wire.List{}}))
		a.floodErlang(e, 50_000, func(i int) []byte {
			return e.ControlFrame(wire.Tuple{6, me, wire.Atom(""), wire.Atom("pg")}, cast(wire.Tuple{wire.Atom("join"), me, i,
				me}))
		})
		a.floodErlang(e, 50_000, func(i int) []byte {
			return e.ControlFrame(wire.Tuple{6, me, wire.Atom(""), wire.Atom("pg")}, wire.Tuple{wire.Atom("join"), me, i, me})
		})
	}},
	{name: "erlang: 100,000 messages that echo does not know", attack: func(a *attempt) {
		e := a.erlang()
		secret := strings.Repeat("S", 500) + "-the-end"
		a.allErlang(e, 100_000, "echo", 1, func(i int) []byte {
			return e.ControlFrame(wire.Tuple{6, e.PID(1), wire.Atom(""), wire.Atom("echo")}, wire.Tuple{1, 2, i,
				[]byte(secret)})
		})
		require.True(a, a.goesOn(e))
	}, want: want{logKiB: 256, peak: 512}},
	{name: "erlang: 50 casts and calls that counter does not know, of 1 MiB", attack: func(a *attempt) {
		e := a.erlang()
		big := []byte(strings.Repeat("S", 1<<20) + "-the-end")
		for i := range 50 {
			m := cast(wire.Tuple{wire.Atom("unknown"), big})
			if i%2 == 0 {
				m = call(e.PID(1), e.Ref(uint32(i)), wire.Tuple{wire.Atom("unknown"), i})
			}
			require.NoError(a, e.SendReg(e.PID(1), "counter", m))
		}
		_, err := e.Call("echo", 1)
		require.NoError(a, err)
	}, want: want{logKiB: 256, never: "-the-end", peak: 512, breaks: true, refuses: true}}, // counter is restarted
	{name: "erlang: what net_kernel, rex, actornode, pg and user do not know, of 1 MiB", attack: func(a *attempt) {
		big := []byte(strings.Repeat("S", 1<<20) + "-the-end")
		for _, name := range services {
			e := a.erlang()
			for i, m := range []any{big, wire.Tuple{wire.Atom("x"), big}, cast(big), wire.List{1, 2, big}} {
				_ = e.SendReg(e.PID(1), name, m)
				_ = e.SendReg(e.PID(1), name, call(e.PID(1), e.Ref(uint32(i)), m))
			}
			go func() { _, _ = e.Rest(5 * time.Second) }()
		}
		a.someWait()
		a.servicesWork()
	}, want: want{logKiB: 128, never: "-the-end", peak: 768}},
	{name: "erlang: 30,000 traces, subscriptions and drains", attack: func(a *attempt) {
		e := a.slowErlang()
		a.floodErlang(e, 30_000, func(i int) []byte {
			var q any = wire.Tuple{wire.Atom("trace"), wire.NewMap(wire.Atom("targets"), wire.List{wire.Atom("counter")},
				wire.Atom("to"), e.PID(uint64(i)))}
			if i%2 == 0 {
				q = wire.Tuple{wire.Atom("deadletters"), wire.NewMap(wire.Atom("to"), e.PID(uint64(i)))}
			}
			return e.ControlFrame(wire.Tuple{6, e.PID(1), wire.Atom(""), wire.Atom("actornode")}, call(e.PID(1),
				e.Ref(uint32(i)), q))
		})
		a.holdErlang(e)
	}},
}

// services are the processes of the node itself.
var services = []wire.Atom{"net_kernel", "rex", "actornode", "pg", "user", "logger_proxy", "application_controller"}

// call returns the message that gen_server:call sends.
func call(from wire.PID, ref wire.Ref, request any) wire.Tuple {
	return wire.Tuple{wire.Atom("$gen_call"), wire.Tuple{from, ref}, request}
}

// many returns quick, or with -attack.all slow.
func (a *attempt) many(quick, slow int) int {
	if *all {
		return slow
	}
	return quick
}

// slowErlang is a connection with small buffers for bytes that are not read.
func (a *attempt) slowErlang() *raw.Erlang {
	e := a.openErlang()
	require.NoError(a, e.SetReadBuffer(4096))
	require.NoError(a, e.Handshake(a.Cookie))
	return e
}

func (a *attempt) slowNative() *raw.Native {
	n := a.openNative()
	require.NoError(a, n.SetReadBuffer(4096))
	require.NoError(a, n.Handshake(a.Cookie))
	return n
}

// floodErlang sends frames, many in a write, until there are n or the node takes no more for two seconds, which is
// permitted.
func (a *attempt) floodErlang(e *raw.Erlang, n int, frame func(i int) []byte) {
	e.Patience = 2 * time.Second
	defer func() { e.Patience = raw.Patience }()
	_ = a.sendErlang(e, n, frame)
}

// allErlang sends n frames, all of which the node must take, and waits until the process to has taken those for it.
func (a *attempt) allErlang(e *raw.Erlang, n int, to wire.Atom, ask any, frame func(i int) []byte) {
	e.Patience = testkit.Limit
	defer func() { e.Patience = raw.Patience }()
	require.NoError(a, a.sendErlang(e, n, frame))
	_, err := e.Call(to, ask)
	require.NoError(a, err)
}

func (a *attempt) sendErlang(e *raw.Erlang, n int, frame func(i int) []byte) error {
	var b []byte
	for i := range n {
		f := frame(i)
		b = append(append(b, byte(len(f)>>24), byte(len(f)>>16), byte(len(f)>>8), byte(len(f))), f...)
		if len(b) > 64<<10 || i == n-1 {
			if err := e.Send(b); err != nil {
				return err
			}
			b = b[:0]
		}
	}
	return nil
}

func (a *attempt) floodNative(c *raw.Native, n int, frame func(i int) []byte) {
	c.Patience = 2 * time.Second
	defer func() { c.Patience = raw.Patience }()
	var b []byte
	for i := range n {
		b = append(b, c.Framed(frame(i))...)
		if len(b) > 64<<10 || i == n-1 {
			if c.Send(b) != nil {
				return
			}
			b = b[:0]
		}
	}
}

// holdErlang leaves a connection as it is until others have been served, while it keeps sending ticks. Then it resets
// it.
func (a *attempt) holdErlang(e *raw.Erlang) {
	e.Patience = 50 * time.Millisecond
	_ = e.Tick()
	a.someWait()
	_ = e.Tick()
	e.Reset()
}

func (a *attempt) holdNative(n *raw.Native) {
	n.Patience = 50 * time.Millisecond
	_ = n.Tick()
	a.someWait()
	_ = n.Tick()
	n.Reset()
}

// rpc calls a function of the node through rex.
func rpc(e *raw.Erlang, m, f wire.Atom, args ...any) (any, error) {
	return e.Call("rex", wire.Tuple{wire.Atom("call"), m, f, wire.List(args), e.PID(1)})
}

// servicesWork checks that the node's own processes are there and answer.
func (a *attempt) servicesWork() {
	var why error
	err := a.Until(testkit.Limit, func() bool { why = a.askServices(); return why == nil })
	require.NoError(a, err, "%v", why)
}

func (a *attempt) askServices() error {
	e, err := raw.DialErlang(a.Erlang, raw.Self("asker@127.0.0.1", 1), a.Cookie)
	if err != nil {
		return err
	}
	defer func() { _ = e.Close() }()
	e.Patience = 3 * time.Second
	if yes, err := e.Call("net_kernel", wire.Tuple{wire.Atom("is_auth"), e.Self.Name}); err != nil || yes != wire.Atom("yes") {
		return fmt.Errorf("net_kernel: %v, %w", yes, err)
	}
	for _, name := range services {
		pid, err := rpc(e, "erlang", "whereis", name)
		if err != nil {
			return fmt.Errorf("rex: %w", err)
		}
		if _, ok := pid.(wire.PID); !ok {
			return fmt.Errorf("%s is %v", name, pid)
		}
	}
	if status, err := e.Call("actornode", wire.Atom("status")); err != nil || status == nil {
		return fmt.Errorf("actornode: %w", err)
	}
	me, ref := e.PID(1), e.Ref(9, 9)
	if err := e.SendReg(me, "user", wire.Tuple{wire.Atom("io_request"), me, ref, wire.Tuple{wire.Atom("put_chars"),
		wire.Atom("unicode"), []byte("x\n")}}); err != nil {
		return err
	}
	if err := e.SendReg(me, "pg", wire.Tuple{wire.Atom("discover"), me}); err != nil {
		return err
	}
	for said := 0; said < 2; {
		_, payload, err := e.Signal()
		if err != nil {
			return fmt.Errorf("user and pg, %d of 2 answers: %w", said, err)
		}
		t, ok := payload.(wire.Tuple)
		if ok && len(t) == 3 && t[0] == wire.Atom("io_reply") && t[1] == ref {
			said++
		}
		if ok && len(t) == 2 && t[0] == wire.Atom("$gen_cast") {
			if s, ok := t[1].(wire.Tuple); ok && len(s) == 3 && s[0] == wire.Atom("sync") {
				said++
			}
		}
	}
	return nil
}
