package attack

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"math/big"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/deploy/attack/internal/raw"
	"github.com/actornode/actornode/wire"
	"github.com/actornode/actornode/wire/dist"
	"github.com/actornode/actornode/wire/etf"
)

// shape is a control message, or a native frame: its fields by kind, one letter each.
//
//	f  a process of the sender      t  one of the node     n  a registered name
//	r  a reference                  i  an id               k  a trace token
//	e  the empty atom               x  a reason            l  a group leader
//	m  {M, F, Arity}                o  options             g  flags
//	N  nil
type shape struct {
	op      int
	name    string
	kinds   string
	payload bool
}

var controlShapes = []shape{
	{1, "LINK", "ft", false}, {2, "SEND", "et", true}, {3, "EXIT", "ftx", false}, {4, "UNLINK", "ft", false},
	{6, "REG_SEND", "fen", true}, {7, "GROUP_LEADER", "lt", false}, {8, "EXIT2", "ftx", false}, {12, "SEND_TT", "etk", true},
	{13, "EXIT_TT", "ftkx", false}, {16, "REG_SEND_TT", "fenk", true}, {18, "EXIT2_TT", "ftkx", false},
	{19, "MONITOR_P", "ftr", false}, {20, "DEMONITOR_P", "ftr", false}, {21, "MONITOR_P_EXIT", "ftrx", false},
	{22, "SEND_SENDER", "ft", true}, {23, "SEND_SENDER_TT", "ftk", true}, {24, "PAYLOAD_EXIT", "ft", true},
	{25, "PAYLOAD_EXIT_TT", "ftk", true}, {26, "PAYLOAD_EXIT2", "ft", true}, {27, "PAYLOAD_EXIT2_TT", "ftk", true},
	{28, "PAYLOAD_MONITOR_P_EXIT", "ftr", true}, {29, "SPAWN_REQUEST", "rflmo", true}, {30, "SPAWN_REQUEST_TT", "rflmok", true},
	{31, "SPAWN_REPLY", "rtgf", false}, {32, "SPAWN_REPLY_TT", "rtgfk", false}, {33, "ALIAS_SEND", "fr", true},
	{34, "ALIAS_SEND_TT", "frk", true}, {35, "UNLINK_ID", "ift", false}, {36, "UNLINK_ID_ACK", "ift", false},
	{37, "ALTACT_SIG_SEND", "gft", true},
}

var frameShapes = []shape{
	{int(dist.OpSend), "OpSend", "ft", true}, {int(dist.OpLink), "OpLink", "ft", false}, {int(dist.OpUnlink), "OpUnlink",
		"fti", false},
	{int(dist.OpUnlinkAck), "OpUnlinkAck", "fti", false}, {int(dist.OpExit), "OpExit", "ft", true},
	{int(dist.OpSignal), "OpSignal", "ft", true}, {int(dist.OpMonitor), "OpMonitor", "ftr", false},
	{int(dist.OpDemonitor), "OpDemonitor", "ftr", false}, {int(dist.OpDown), "OpDown", "ftr", true},
	{int(dist.OpGroupLeader), "OpGroupLeader", "flt", false}, {int(dist.OpSpawn), "OpSpawn", "fr", true},
	{int(dist.OpSpawnReply), "OpSpawnReply", "ftrg", true}, {int(dist.OpReceipt), "OpReceipt", "fti", true},
}

// side is the client of either protocol, as attacks with the cookie see it.
type side interface {
	PID(id uint64) wire.PID
	Ref(words ...uint32) wire.Ref
	Close() error
}

// values are right values for fields of each kind.
func values(s side, victim wire.PID, kind rune) any {
	switch kind {
	case 'f', 'l':
		return s.PID(1)
	case 't':
		return victim
	case 'n':
		return wire.Atom("echo")
	case 'r':
		return s.Ref(7, 8, 9)
	case 'i':
		return 5
	case 'k':
		return wire.Tuple{0, 0, 1, s.PID(1), 0}
	case 'e':
		return wire.Atom("")
	case 'x':
		return wire.Atom("normal")
	case 'm':
		return wire.Tuple{wire.Atom("demo"), wire.Atom("exit"), 1}
	case 'o':
		return wire.List{wire.Atom("link"), wire.Atom("monitor")}
	case 'g':
		return 0
	}
	return nil
}

// wrongs are wrong values for fields, in any place or in some.
func wrongs(victim wire.PID) []any {
	third := wire.NewOrigin(raw.Self("third@127.0.0.1", 1))
	old := wire.NewOrigin(raw.Self(string(victim.Node()), victim.Creation()+1))
	l := []any{
		wire.Atom("x"), -1, 0, third.PID(1), victim, old.PID(victim.Number()), third.Ref(1, 2, 3), 1.5, wire.Tuple{}, nil,
		wire.NewOrigin(raw.Self(string(victim.Node()), victim.Creation())).PID(1<<63 - 1), new(big.Int).Lsh(big.NewInt(1), 100),
	}
	if *all {
		l = append(l, math.MaxInt64, wire.List{}, wire.List{wire.List{wire.List{}}}, []byte("bytes"), wire.Atom(""),
			wire.Atom(strings.Repeat("ä", 255)), wire.Map{}, third.Port(1), wire.Export{Module: "m", Function: "f", Arity: 1},
			wire.NewOrigin(raw.Self("third@127.0.0.1", 0)).PID(0), wire.Tuple{wire.Atom("demo"), wire.Atom("exit"), -1},
			wire.List{wire.Tuple{wire.Atom("name"), wire.Atom("net_kernel")}}, wire.Tuple{wire.Atom("erlang"),
				wire.Atom("halt"), 0},
			new(big.Int).Lsh(big.NewInt(1), 10_000), wire.Charlist(strings.Repeat("c", 60_000)))
	}
	return l
}

// controls returns rows of each control message with each field wrong, before and after there are links and monitors.
func controls() (rows []row) {
	for _, s := range controlShapes {
		rows = append(rows, row{name: fmt.Sprintf("erlang: %s (%d) with each field wrong", s.name, s.op),
			attack: func(a *attempt) { a.wrongControls(s) }, want: want{logKiB: 1024}})
	}
	return rows
}

// frames returns the same for the native protocol.
func frames() (rows []row) {
	for _, s := range frameShapes {
		rows = append(rows, row{name: fmt.Sprintf("native: %s (%d) with each field wrong", s.name, s.op),
			attack: func(a *attempt) { a.wrongFrames(s) }, want: want{logKiB: 1024}})
	}
	return rows
}

// cases returns tuples of fields in which one field, or their number, is wrong.
func cases(s shape, sd side, victim wire.PID) (l [][]any) {
	var right []any
	for _, k := range s.kinds {
		right = append(right, values(sd, victim, k))
	}
	for i := range right {
		for _, w := range wrongs(victim) {
			c := slices.Clone(right)
			c[i] = w
			l = append(l, c)
		}
	}
	l = append(l, right[:len(right)-1], append(slices.Clone(right), 1), nil, right)
	return l
}

func (a *attempt) wrongControls(s shape) {
	victim := a.spawnEcho(1)[0]
	for _, linked := range []bool{false, true} {
		var e *raw.Erlang
		use := func(do func(e *raw.Erlang)) {
			if e == nil {
				e = a.erlang()
				e.Patience = 5 * time.Second
				if linked {
					require.NoError(a, e.Control(wire.Tuple{1, e.PID(1), victim}))
					require.NoError(a, e.Control(wire.Tuple{19, e.PID(1), victim, e.Ref(7, 8, 9)}))
				}
			}
			do(e)
			if _, err := e.Call("counter", wire.Atom("get")); err != nil {
				require.False(a, errors.Is(err, os.ErrDeadlineExceeded), "neither closed nor answered")
				_ = e.Close()
				e = nil
			}
		}
		args := []any{wire.Atom("message")}
		if s.op == 29 || s.op == 30 {
			args[0] = wire.List{wire.Atom("normal")}
		}
		if !s.payload {
			args = nil
		}
		for _, c := range cases(s, raw.NewErlang(nil, a.self()), victim) {
			use(func(e *raw.Erlang) { _ = e.Control(append(wire.Tuple{s.op}, own(e, c)...), args...) })
		}
		right := cases(s, raw.NewErlang(nil, a.self()), victim)
		fields := right[len(right)-1]
		for _, op := range []any{-1, 0, 5, 38, 1 << 40, wire.Atom("op"), 1.0, nil, s.op} {
			use(func(e *raw.Erlang) { _ = e.Control(append(wire.Tuple{op}, own(e, fields)...), args...) })
		}
		use(func(e *raw.Erlang) { _ = e.Control(append(wire.Tuple{s.op}, own(e, fields)...)) })
		use(func(e *raw.Erlang) {
			_ = e.Control(append(wire.Tuple{s.op}, own(e, fields)...), wire.Atom("one"), wire.Atom("two"))
		})
		use(func(e *raw.Erlang) { _ = e.Control(wire.List{s.op}) })
		whole := raw.NewErlang(nil, a.self()).ControlFrame(append(wire.Tuple{s.op}, fields...), args...)
		for i := 1; i < len(whole); i += max(1, len(whole)/9) {
			use(func(e *raw.Erlang) { _ = e.SendFrame(whole[:i]) })
			use(func(e *raw.Erlang) {
				b := bytes.Clone(whole)
				b[i] ^= 0xff
				_ = e.SendFrame(b)
			})
		}
		if e != nil {
			_ = e.Close()
		}
	}
}

// own replaces processes and references of the sender with those of the connection at hand.
func own(s side, fields []any) []any {
	l := slices.Clone(fields)
	for i, f := range l {
		switch f := f.(type) {
		case wire.PID:
			if strings.HasPrefix(string(f.Node()), "x") {
				l[i] = s.PID(f.Number())
			}
		case wire.Ref:
			if strings.HasPrefix(string(f.Node()), "x") {
				l[i] = s.Ref(7, 8, 9)
			}
		}
	}
	return l
}

func (a *attempt) wrongFrames(s shape) {
	victim := a.spawnEcho(1)[0]
	for _, linked := range []bool{false, true} {
		var n *raw.Native
		use := func(do func(n *raw.Native)) {
			if n == nil {
				n = a.native()
				n.Patience = 5 * time.Second
				if linked {
					require.NoError(a, n.Signal(byte(dist.OpLink), n.PID(1), victim))
					require.NoError(a, n.Signal(byte(dist.OpMonitor), n.PID(1), victim, n.Ref(7, 8, 9)))
				}
			}
			do(n)
			if _, err := n.Call("counter", wire.Atom("get")); err != nil {
				require.False(a, errors.Is(err, os.ErrDeadlineExceeded), "neither closed nor answered")
				_ = n.Close()
				n = nil
			}
		}
		var payload []any
		if s.payload {
			payload = []any{wire.Atom("message")}
		}
		if s.op == int(dist.OpSpawn) {
			payload[0] = wire.Tuple{wire.Atom("demo"), wire.Atom("exit"), wire.List{wire.Atom("normal")}, nil, 0,
				wire.Atom(""), wire.List{}}
		}
		stranger := raw.NewNative(nil, a.self(), "")
		l := cases(s, stranger, victim)
		for _, c := range l {
			use(func(n *raw.Native) { _ = n.Signal(byte(s.op), append(own(n, c), payload...)...) })
		}
		right := l[len(l)-1]
		for i := range right { // bytes that are not a term
			for _, b := range []string{"\xc1", "\xc7", "\xd4", "\xc9\xff\xff\xff\xff\x04", "\xdd\xff\xff\xff\xff",
				"\xdf\x80\x00\x00\x00", "\xc6\xff\xff\xff\xff",
				"\xd5\x02\x07\xff", "\xc7\x00\x04", "\xc7\x01\x63x", "\x7f", "\xe0", "\xd6\xff\x00\x00\x00\x00"} {
				c := own(stranger, right)
				c[i] = raw.Bytes(b)
				use(func(n *raw.Native) { _ = n.Signal(byte(s.op), append(c, payload...)...) })
			}
		}
		for _, bits := range []byte{0x10, 0x20, 0x30, 0x40, 0x50, 0x60, 0x70, 0x80, 0xf0} {
			use(func(n *raw.Native) { _ = n.Signal(byte(s.op)|bits, append(own(n, right), payload...)...) })
		}
		use(func(n *raw.Native) { _ = n.Signal(byte(s.op), own(n, right)...) })
		use(func(n *raw.Native) {
			_ = n.Signal(byte(s.op), append(append(own(n, right), payload...), wire.Atom("more"))...)
		})
		whole := raw.SignalFrame(byte(s.op), append(slices.Clone(right), payload...)...)
		for i := 1; i < len(whole); i += max(1, len(whole)/9) {
			use(func(n *raw.Native) { _ = n.SendFrame(whole[:i]) })
			use(func(n *raw.Native) {
				b := bytes.Clone(whole)
				b[i] ^= 0xff
				_ = n.SendFrame(b)
			})
		}
		if n != nil {
			_ = n.Close()
		}
	}
}

// spawnEcho starts servers on the node and returns their processes.
func (a *attempt) spawnEcho(n int) (pids []wire.PID) {
	e := a.erlang()
	defer func() { _ = e.Close() }()
	return a.spawnEchoBy(e, n)
}

// spawnEchoBy does what spawnEcho does, over a given connection.
func (a *attempt) spawnEchoBy(e *raw.Erlang, n int) (pids []wire.PID) {
	for i := range n {
		require.NoError(a, e.Control(spawnRequest(e, i, "echo", 0), wire.List{}))
	}
	for len(pids) < n {
		control, _, err := e.Signal()
		require.NoError(a, err)
		if len(control) == 5 && control[0] == 31 {
			pid, ok := control[4].(wire.PID)
			require.True(a, ok, "%v", control)
			pids = append(pids, pid)
		}
	}
	return pids
}

func spawnRequest(e *raw.Erlang, i int, function wire.Atom, arity int) wire.Tuple {
	return wire.Tuple{29, e.Ref(uint32(i), 1, 1), e.PID(1), e.PID(1), wire.Tuple{wire.Atom("demo"), function, arity},
		wire.List{}}
}

var _ = etf.Append
