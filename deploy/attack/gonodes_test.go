package attack

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"strings"

	"github.com/klauspost/compress/zstd"
	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/deploy/attack/internal/raw"
	"github.com/actornode/actornode/internal/testkit"
	"github.com/actornode/actornode/internal/wire/erlflags"
	"github.com/actornode/actornode/internal/wire/pack"
	"github.com/actornode/actornode/wire"
	"github.com/actornode/actornode/wire/dist"
)

// erlangGo is a connection by the Erlang protocol of a peer that claims to be a Go node.
func (a *attempt) erlangGo() *raw.Erlang {
	e := a.openErlang()
	e.Flags |= erlflags.GoValues
	require.NoError(a, e.Handshake(a.Cookie))
	e.Patience = testkit.Limit
	return e
}

// gonodes are attacks, with the cookie, with what nodes of this project send each other in addition to terms: Go
// values, addresses for replies, futures, requests in one frame.
var gonodes = []row{
	{name: "native: requests and replies in one frame, with each field wrong", attack: func(a *attempt) {
		victim := a.spawnEcho(1)[0]
		third := wire.NewOrigin(raw.Self("third@127.0.0.1", 1))
		body := wire.Tuple{wire.Atom("add"), 1}
		var l []goFrame
		for bits := range 64 {
			for _, ref := range []func(n *raw.Native) any{
				func(n *raw.Native) any { return n.Ref(1, 2, 3) }, func(n *raw.Native) any { return n.PID(1) },
				func(n *raw.Native) any { return n.Ref() }, func(*raw.Native) any { return third.Ref(1, 2, 3) },
				func(*raw.Native) any { return nil }, func(*raw.Native) any { return 5 }, func(*raw.Native) any { return raw.Bytes{0xc7} },
			} {
				for _, from := range []any{own1, nil, third.PID(1), victim, wire.Atom("x")} {
					for _, to := range []any{wire.Atom("counter"), victim, third.Ref(1, 2, 3), wire.Atom("nobody"),
						wire.Atom("net_kernel"), 3.0} {
						l = append(l, func(n *raw.Native) []byte {
							from := from
							if t, ok := from.(wire.Tuple); ok && len(t) == 0 {
								from = n.PID(1)
							}
							return raw.SignalFrame(byte(dist.OpSend)|raw.Extras, from, to, bits, ref(n), body)
						})
					}
				}
			}
		}
		for op := range byte(16) {
			l = append(l, func(n *raw.Native) []byte {
				return raw.SignalFrame(op|raw.Extras, n.PID(1), victim, 8, n.Ref(1), body)
			}, func(n *raw.Native) []byte { return raw.SignalFrame(op|raw.Extras, n.PID(1), victim, 16, body) })
		}
		a.rand.Shuffle(len(l), func(i, j int) { l[i], l[j] = l[j], l[i] })
		a.eachGo(l[:a.many(len(l)/8, len(l))])
	}, want: want{logKiB: 4096}},
	{name: "native: requests in one frame, answers not read", attack: func(a *attempt) {
		n := a.slowGo()
		a.floodNative(n, 200_000, func(i int) []byte { return inOne(n, "counter", n.Ref(uint32(i), 1), wire.Atom("get")) })
		a.holdNative(n)
	}, want: want{peak: 512}},
	{name: "native: 100,000 requests in one frame, none of which is answered", attack: func(a *attempt) {
		victim := a.spawnEcho(1)[0]
		n := a.goNode()
		require.NoError(a, n.Signal(byte(dist.OpSend), n.PID(1), victim, wire.Tuple{wire.Atom("system"), wire.Tuple{n.PID(1),
			n.Ref(1)}, wire.Atom("suspend")}))
		n.Patience = testkit.Limit
		for i := range 100_000 {
			require.NoError(a, n.Signal(byte(dist.OpSend)|raw.Extras, n.PID(1), victim, 8, n.Ref(uint32(i), 1), i))
		}
		require.True(a, a.nativeGoesOn(n))
		require.NoError(a, n.Signal(byte(dist.OpSignal), n.PID(1), victim, wire.Atom("kill")))
	}, want: want{peak: 512}},
	{name: "both: what a former version told of its types", attack: func(a *attempt) {
		a.eachGo([]goFrame{whatever([]byte("\x0e\xff\xd4\x01a\xa3int")), whatever([]byte("\x0e\xff\xc0"))})
		e := a.erlangGo()
		require.NoError(a, e.SendFrame([]byte("\x24\xd4\x01a\xa3int")))
		a.closes(e.Conn, testkit.Limit)
	}},
	{name: "native: few bytes that ask for much memory: empty structs, arrays", attack: func(a *attempt) {
		const n = 16 << 20
		array := func(n int, each string) []byte {
			return append(binary.BigEndian.AppendUint32([]byte{0xdd}, uint32(n)), bytes.Repeat([]byte(each), n)...)
		}
		down := must(pack.Append(nil, wire.Atom("[]$down")))
		arrays := must(pack.Append(nil, wire.Atom("*[8000]uint64")))
		for _, payload := range [][]byte{
			bytes.Join([][]byte{[]byte("\x93\xd4\x09\x06"), down, array(n-1, "\x80")}, nil),
			array(n/32, "\x93\xd4\x09\x06"+string(arrays)+"\x90"),
			array(n-1, "\x90"),
		} {
			c := a.goNode()
			c.Patience = testkit.Limit
			a.inPackedParts(c, payload)
			require.True(a, a.nativeGoesOn(c))
			_ = c.Close()
		}
	}, want: want{peak: 1024, unready: true, refuses: true}},
	{name: "native: references within a message, which a former version had", attack: func(a *attempt) {
		a.eachGo([]goFrame{whatever(toCounter(0, formerReference)), toEcho(formerReference), toEcho([]byte("\xd4\x0a\x00"))})
	}},
	{name: "native: type expressions that are wrong, and 3,000 that are not", attack: func(a *attempt) {
		typed := func(expr, value string) []byte {
			return bytes.Join([][]byte{[]byte("\x93\xd4\x09\x06"), must(pack.Append(nil, wire.Atom(expr))), []byte(value)}, nil)
		}
		var l []goFrame
		for _, expr := range []string{"", "[", "[]", "[]]", "[x]int", "[-1]int", "[1]int", "[65537]uint8", "[65536]uint8",
			"[99999999999999999999]int",
			"[8][8][8][8][8][8][8][8]int", "map[", "map[]int", "map[[]int]int", "map[any]int", "map[error]int", "map[*int]int",
			"map[map]int",
			"map[[65536]uint8]int", "*", "**********int", "[]nothing", "$down", "*$down", "[]$error", "$type", "$error", "int]", "\x1b[2J",
			strings.Repeat("[]", 120) + "int", strings.Repeat("*", 250) + "int", "map[fun]int", "map[bigint]int", "map[float64]any",
			"[]From", "from"} {
			for _, value := range []string{"\xc0", "\x90", "\x80", "\x91\x80",
				"\x81\xcb\x7f\xf8\x00\x00\x00\x00\x00\x01\x01", "\x93\xc0\xc0\xc0"} {
				l = append(l, whatever(toCounter(0, typed(expr, value))))
			}
		}
		a.eachGo(l)
		n := a.goNode()
		n.Patience = testkit.Limit
		for i := range 3000 {
			require.NoError(a, n.SendFrame(toCounter(0, typed(fmt.Sprintf("[%d]map[int8][]uint16", i), "\x90"))))
		}
		require.True(a, a.nativeGoesOn(n))
	}, want: want{logKiB: 4096}},
	{name: "both: froms, futures, errors and types that are forged", attack: func(a *attempt) {
		l := forged(a)
		var frames []goFrame
		for _, one := range l {
			b := must(pack.Append(nil, one))
			frames = append(frames, whatever(toCounter(0, b)), toEcho(b))
		}
		for _, kind := range []string{"from", "future", "$x", ""} {
			for _, one := range l {
				b := bytes.Join([][]byte{[]byte("\x93\xd4\x09\x07"), must(pack.Append(nil, wire.Atom(kind))),
					must(pack.Append(nil, one))}, nil)
				frames = append(frames, whatever(toCounter(0, b)), toEcho(b))
			}
		}
		a.eachGo(frames)
		e := a.erlang()
		for _, one := range l {
			require.NoError(a, e.SendReg(e.PID(1), "counter", one))
			require.NoError(a, e.SendReg(e.PID(1), "echo", call(e.PID(1), e.Ref(1, 2, 3), one)))
			require.NoError(a, e.Control(wire.Tuple{26, e.PID(1), wire.NewOrigin(raw.Self(string(a.Daemon.Name), 1)).PID(1)}, one))
		}
		require.True(a, a.goesOn(e))
	}, want: want{logKiB: 4096}},
	{name: "both: futures that there are not, asked for without end, answers not read", attack: func(a *attempt) {
		n := a.slowGo()
		a.floodNative(n, 100_000, func(i int) []byte {
			return inOne(n, "net_kernel", n.Ref(uint32(i), 1), wire.Tuple{wire.Atom("$future"), n.Ref(uint32(i), 2)})
		})
		a.holdNative(n)
		e := a.slowErlang()
		a.floodErlang(e, 100_000, func(i int) []byte {
			return e.ControlFrame(wire.Tuple{6, e.PID(1), wire.Atom(""), wire.Atom("net_kernel")}, call(e.PID(1), e.Ref(uint32(i), 1),
				wire.Tuple{wire.Atom("$future"), e.Ref(uint32(i), 2)}))
		})
		a.holdErlang(e)
	}, want: want{peak: 512}},
	{name: "erlang: Go values, wrong, in binaries", attack: func(a *attempt) {
		payloads := [][]byte{nil, {0xc1}, {0xc0, 0xc0}, formerReference,
			[]byte("\xdd\xff\xff\xff\xff"), bytes.Repeat([]byte{0x91}, 1_000_000), a.noise(1000)}
		for _, one := range forged(a) {
			payloads = append(payloads, must(pack.Append(nil, one)))
		}
		for _, flags := range []func(*raw.Erlang){func(*raw.Erlang) {}, func(e *raw.Erlang) { e.Flags |= erlflags.GoValues }} {
			for _, b := range payloads {
				e := a.openErlang()
				flags(e)
				require.NoError(a, e.Handshake(a.Cookie))
				e.Patience = testkit.Limit
				_ = e.SendReg(e.PID(1), "counter", wire.Tuple{wire.Atom("$go"), b})
				a.goesOn(e)
				_ = e.Close()
			}
		}
	}, want: want{peak: 640, logKiB: 1024}},
	{name: "both: 50,000 messages that cannot be read", attack: func(a *attempt) {
		n, e := a.goNode(), a.erlang()
		noFrom := []byte("\x93\xd4\x09\x07\xc7\x04\x01from\x07") // a number is not a node.From
		n.Patience = testkit.Limit
		for range 50_000 {
			require.NoError(a, n.SendFrame(toCounter(0, noFrom)))
		}
		require.True(a, a.nativeGoesOn(n))
		lies := append(e.ControlFrame(wire.Tuple{6, e.PID(1), wire.Atom(""), wire.Atom("counter")}),
			131, 80, 255, 255, 255, 255, 0x78, 0x9c, 1)
		a.allErlang(e, 50_000, "counter", wire.Atom("get"), func(int) []byte { return lies })
	}, want: want{log: "unreadable"}},
}

// formerReference is a list of two elements, of which the second was a reference to the first.
var formerReference = []byte("\x93\xd4\x09\x08\xc4\x04\x00\x00\x00\x01\x92\xa3abc\xd4\x0a\x00")

// forged are terms that imitate what only a node makes.
func forged(a *attempt) (l []any) {
	third := wire.NewOrigin(raw.Self("third@127.0.0.1", 7))
	own := wire.NewOrigin(raw.Self(string(a.Daemon.Name), 1))
	var deepError, deepType any = []byte("text"), wire.Map{}
	for range 10 {
		deepError = wire.Tuple{wire.Atom("$error"), []byte("text"), wire.List{deepError, deepError}}
	}
	for range 200 {
		deepType = wire.NewMap(wire.Atom("$type"), wire.Atom("$down"), wire.Atom("Reason"), deepType)
	}
	wide := make(wire.List, 10_000)
	for i := range wide {
		wide[i] = wire.Atom(fmt.Sprint("part", i))
	}
	l = append(l, nil, deepError, deepType)
	for _, what := range []any{nil, 1, wire.Atom("int"), []byte("int"), "int", wire.Tuple{}, third.PID(1), own.PID(1),
		third.Ref(1, 2, 3), own.Ref(1, 2, 3), wide} {
		for _, tag := range []any{nil, third.Ref(1, 2, 3), own.Ref(1, 2, 3),
			wire.ImproperList{Head: []any{wire.Atom("alias")}, Tail: own.Ref(1, 2, 3)},
			wire.Atom("$go_call"), 1} {
			l = append(l, wire.Tuple{what, tag})
		}
		l = append(l, wire.Tuple{wire.Atom("$error"), what, wide}, wire.Tuple{wire.Atom("$error"), []byte("x"), what},
			wire.Tuple{wire.Tuple{wire.Atom("$panic"), []byte("string"), what}, wire.List{}},
			wire.Tuple{wire.Tuple{wire.Atom("$panic"), what, what}, what},
			wire.NewMap(wire.Atom("$type"), what), wire.NewMap(wire.Atom("$type"), wire.Atom("time"), wire.Atom("$time"), what),
			wire.NewMap(wire.Atom("$type"), wire.Atom("$down"), wire.Atom("PID"), what, wire.Atom("Ref"), what),
			wire.NewMap(wire.Atom("$type"), []byte("*$result"), wire.Atom("Err"), what),
			wire.Tuple{wire.Atom("$reference"), wire.Atom("from"), what}, wire.Tuple{wire.Atom("$reference"), wire.Atom("future"), what},
			wire.Tuple{wire.Atom("$go"), what})
	}
	return l
}

// toEcho is a call of echo in one frame, with the given bytes as the request.
func toEcho(payload []byte) goFrame {
	return func(n *raw.Native) []byte {
		return raw.SignalFrame(byte(dist.OpSend)|raw.Extras, n.PID(1), wire.Atom("echo"), 8, n.Ref(1, 2, 3), raw.Bytes(payload))
	}
}

// own1 stands for the process 1 of the node that sends a frame.
var own1 = wire.Tuple{}

// goFrame makes a frame from a node.
type goFrame func(n *raw.Native) []byte

// whatever is a goFrame that is the same from all nodes.
func whatever(frame []byte) goFrame { return func(*raw.Native) []byte { return frame } }

// inOne is a call of a server in one frame.
func inOne(n *raw.Native, to wire.Atom, ref wire.Ref, request any) []byte {
	return raw.SignalFrame(byte(dist.OpSend)|raw.Extras, n.PID(1), to, 8, ref, request)
}

// goNode connects as a node of this project does that knows no types.
func (a *attempt) goNode() *raw.Native { return a.asGo(a.openNative()) }

// slowGo is a goNode with small buffers for bytes that are not read.
func (a *attempt) slowGo() *raw.Native {
	n := a.openNative()
	require.NoError(a, n.SetReadBuffer(4096))
	return a.asGo(n)
}

func (a *attempt) asGo(n *raw.Native) *raw.Native {
	n.Us.Flags |= raw.GoTypes | raw.Requests
	require.NoError(a, n.Handshake(a.Cookie))
	return n
}

// eachGo does for goNodes what eachFrame does.
func (a *attempt) eachGo(frames []goFrame) {
	var n *raw.Native
	for _, f := range frames {
		if n == nil {
			n = a.goNode()
		}
		_ = n.SendFrame(f(n))
		if !a.nativeGoesOn(n) {
			n = nil
		}
	}
}

// inPackedParts sends a payload to counter in parts, compressed.
func (a *attempt) inPackedParts(n *raw.Native, b []byte) {
	w := must(zstd.NewWriter(nil))
	_ = n.SendFrame(toCounter(raw.Parts, append([]byte{1}, pack.AppendUint(nil, uint64(len(b)))...)))
	for len(b) > 0 {
		k := min(len(b), 63<<10)
		if n.SendFrame([]byte{raw.OpPart | raw.Packed, 1}, w.EncodeAll(b[:k], nil)) != nil {
			return
		}
		b = b[k:]
	}
}
