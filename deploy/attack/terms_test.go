package attack

import (
	"bytes"
	"compress/zlib"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/klauspost/compress/zstd"
	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/deploy/attack/internal/raw"
	"github.com/actornode/actornode/internal/wire/etfcodec"
	"github.com/actornode/actornode/internal/wire/pack"
	"github.com/actornode/actornode/wire"
	"github.com/actornode/actornode/wire/dist"
	"github.com/actornode/actornode/wire/etf"
)

// payload sends bytes as a message to counter, and returns whether the connection survives. It does not hang.
func (a *attempt) payload(e *raw.Erlang, b []byte) bool {
	head := must(etf.Append([]byte{112}, wire.Tuple{6, e.PID(1), wire.Atom(""), wire.Atom("counter")}))
	_ = e.SendFrame(head, b)
	return a.goesOn(e)
}

// goesOn reports whether counter still answers a connection, and closes it otherwise.
func (a *attempt) goesOn(e *raw.Erlang) bool {
	var err error
	if e.Flags == raw.PlainFlags {
		_, err = e.Call("counter", wire.Atom("get"))
	} else {
		me := e.PID(1)
		if err = e.SendReg(me, "counter", wire.Tuple{wire.Atom("$gen_call"), wire.Tuple{me, e.Ref(1)},
			wire.Atom("get")}); err == nil {
			_, err = e.Frame()
		}
	}
	require.False(a, errors.Is(err, os.ErrDeadlineExceeded), "neither closed nor answered")
	if err != nil {
		_ = e.Close()
	}
	return err == nil
}

func (a *attempt) nativeGoesOn(n *raw.Native) bool {
	_, err := n.Call("counter", wire.Atom("get"))
	require.False(a, errors.Is(err, os.ErrDeadlineExceeded), "neither closed nor answered")
	if err != nil {
		_ = n.Close()
	}
	return err == nil
}

// each sends all payloads, each over an intact connection.
func (a *attempt) each(payloads [][]byte) {
	var e *raw.Erlang
	for _, p := range payloads {
		if e == nil {
			e = a.erlang()
		}
		if !a.payload(e, p) {
			e = nil
		}
	}
}

// eachFrame does the same for frames of the native protocol.
func (a *attempt) eachFrame(frames [][]byte) {
	var n *raw.Native
	for _, f := range frames {
		if n == nil {
			n = a.native()
		}
		_ = n.SendFrame(f)
		if !a.nativeGoesOn(n) {
			n = nil
		}
	}
}

// compressed returns a compressed term that claims the given size.
func compressed(size int, term []byte) []byte {
	var z bytes.Buffer
	z.Write(binary.BigEndian.AppendUint32([]byte{131, 80}, uint32(size)))
	w := must(zlib.NewWriterLevel(&z, zlib.BestSpeed))
	_, _ = w.Write(term)
	_ = w.Close()
	return z.Bytes()
}

func big32(tag byte, n uint32) []byte { return binary.BigEndian.AppendUint32([]byte{tag}, n) }

// toCounter returns a frame of the native protocol with a message to counter, given as bytes.
func toCounter(bits byte, payload []byte) []byte {
	return raw.SignalFrame(byte(dist.OpSend)|bits, nil, wire.Atom("counter"), raw.Bytes(payload))
}

func zstdOf(b []byte) []byte {
	w := must(zstd.NewWriter(nil))
	return w.EncodeAll(b, nil)
}

var terms = []row{
	{name: "erlang: terms of 1,000,000 levels", attack: func(a *attempt) {
		const n = 1_000_000
		a.each([][]byte{
			append([]byte{131}, bytes.Repeat([]byte{108, 0, 0, 0, 1}, n)...),
			append([]byte{131}, bytes.Repeat([]byte{104, 1}, n)...),
			append(append([]byte{131}, bytes.Repeat([]byte{104, 1}, n)...), 106),
			append([]byte{131}, bytes.Repeat([]byte{116, 0, 0, 0, 1}, n)...),
			append([]byte{131}, bytes.Repeat([]byte{113}, n)...),
			compressed(2*n+1, append(bytes.Repeat([]byte{104, 1}, n), 106)),
		})
	}},
	{name: "erlang: counts and sizes of 2^31 and 2^32", attack: func(a *attempt) {
		var l [][]byte
		for _, n := range []uint32{1 << 31, 1<<31 - 1, 1<<32 - 1, 1 << 24, 100_000_000} {
			for _, tag := range []byte{105, 108, 109, 111, 116, 77, 112, 80, 98} {
				l = append(l, append([]byte{131}, big32(tag, n)...), append(append([]byte{131}, big32(tag, n)...),
					make([]byte, 100)...))
			}
		}
		a.each(l)
	}},
	{name: "erlang: frames that are said to be long and do not come", attack: func(a *attempt) {
		for _, n := range []uint32{256 << 20, 256<<20 + 1, 1 << 31, 1<<32 - 1} {
			for range 5 {
				e := a.erlang()
				_ = e.Send(binary.BigEndian.AppendUint32(nil, n), []byte{112, 131, 104})
			}
		}
		a.someWait()
	}, want: want{leaves: true}},
	{name: "erlang: a compressed binary of 60 MiB to counter", attack: func(a *attempt) {
		e := a.erlang()
		const n = 60 << 20
		e.Patience = 60 * time.Second
		a.payload(e, compressed(5+n, append(big32(109, n), make([]byte, n)...)))
		a.until(20*time.Second, func() bool { return true }, "")
	}, want: want{peak: 512, logKiB: 32, served: 10 * time.Second}},
	{name: "erlang: a compressed list of 16,000,000 elements", attack: func(a *attempt) {
		e := a.erlang()
		const n = 16_000_000
		e.Patience = 60 * time.Second
		a.payload(e, compressed(5+2*n+1, append(append(big32(108, n), bytes.Repeat([]byte{97, 7}, n)...), 106)))
	}, want: want{peak: 1024, logKiB: 32, served: 10 * time.Second}, slow: true},
	{name: "erlang: compressed terms that lie, are cut, or hold another", attack: func(a *attempt) {
		inner := compressed(5+1000, append(big32(109, 1000), make([]byte, 1000)...))
		a.each([][]byte{
			compressed(10, append(big32(109, 1<<20), make([]byte, 1<<20)...)),
			compressed(1<<32-1, append(big32(109, 1000), make([]byte, 1000)...)),
			compressed(100<<20, append(big32(109, 100<<20), make([]byte, 100<<20)...)),
			inner[:len(inner)-3], append(inner, 1, 2, 3), {131, 80, 0, 0, 0, 1}, {131, 80, 0, 0, 0, 1, 0x78, 0x9c},
			compressed(len(inner)-1, inner[1:]), append([]byte{131, 80, 0, 0, 4, 0}, a.noise(500)...), compressed(0, nil),
		})
	}},
	{name: "erlang: 100,000 atoms of 255 characters", attack: func(a *attempt) {
		e := a.erlang()
		for i := range 100 {
			l := make(wire.List, 1000)
			for j := range l {
				l[j] = wire.Atom(fmt.Sprintf("%06d", i*1000+j) + strings.Repeat("a", 249))
			}
			require.NoError(a, e.SendReg(e.PID(1), "nobody", l))
		}
		require.True(a, a.goesOn(e))
	}},
	{name: "erlang: every tag, with and without what belongs to it", attack: func(a *attempt) {
		var l [][]byte
		for tag := range 256 {
			l = append(l, []byte{131, byte(tag)}, append([]byte{131, byte(tag)}, bytes.Repeat([]byte{255}, 20)...),
				append([]byte{131, byte(tag)}, make([]byte, 40)...))
		}
		a.each(l)
	}, want: want{logKiB: 1024}},
	{name: "erlang: atoms, floats, bitstrings, maps, pids that are not allowed", attack: func(a *attempt) {
		l := [][]byte{
			{131, 119, 2, 0xff, 0xfe}, append([]byte{131, 118, 1, 0}, bytes.Repeat([]byte("a"), 256)...), {131, 119, 3, 0xed,
				0xa0, 0x80},
			{131, 70, 0x7f, 0xf0, 0, 0, 0, 0, 0, 0}, {131, 70, 0x7f, 0xf8, 0, 0, 0, 0, 0, 1}, append([]byte{131, 99},
				make([]byte, 31)...),
			{131, 77, 0, 0, 0, 1, 0, 1}, {131, 77, 0, 0, 0, 1, 9, 1}, {131, 77, 0, 0, 0, 0, 8},
			{131, 116, 0, 0, 0, 2, 97, 1, 97, 1, 97, 1, 97, 2}, {131, 88, 97, 1, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1},
			append([]byte{131}, bytes.Repeat([]byte{111, 255, 255, 255, 255, 0}, 3)...), {131, 90, 0, 6, 119, 1, 'a', 0, 0, 0,
				1},
			{131, 112, 0, 0, 0, 4, 0}, {130, 97, 1}, {131}, {}, {131, 97, 1, 97, 1}, {131, 82, 0}, {131, 121, 1, 2, 3, 4, 97,
				1},
		}
		a.each(l)
	}},
	{name: "erlang: keys of maps that are large, and nested in each other", attack: func(a *attempt) {
		m := []byte{97, 1}
		for range 200 {
			m = append(append([]byte{116, 0, 0, 0, 1}, m...), 97, 1)
		}
		wide := big32(116, 200_000)
		for i := range 200_000 {
			wide = append(big32b(wide, uint32(i)), 97, 1)
		}
		a.each([][]byte{append([]byte{131}, m...), append([]byte{131}, wide...)})
	}},
	{name: "erlang: 80 messages in fragments without end", attack: func(a *attempt) {
		once := func() {
			e := a.headed()
			head := fragmentHead(e)
			for i := range 80 {
				if e.SendFrame(raw.Fragment(true, uint64(i), 1000, append(bytes.Clone(head), make([]byte, 1<<10)...))) != nil {
					break
				}
			}
			a.closes(e.Conn, 10*time.Second)
		}
		// The log leaves out lines in a second that has many of them.
		a.until(10*time.Second, func() bool { once(); return strings.Contains(a.log(), "fragment") }, "the log says why")
	}, want: want{log: "fragment"}},
	{name: "erlang: fragments of 8 MiB without end", attack: func(a *attempt) {
		e := a.headed()
		head := fragmentHead(e)
		block := make([]byte, 1<<20)
		for i := range 60 {
			if e.SendFrame(raw.Fragment(true, uint64(i), 1000, append(bytes.Clone(head), block...))) != nil {
				return
			}
			for j := range 8 {
				if e.SendFrame(raw.Fragment(false, uint64(i), uint64(999-j), block)) != nil {
					return
				}
			}
		}
		_ = a.goesOn(e)
	}, want: want{peak: 900}, slow: true},
	{name: "erlang: fragments out of order, twice, of nothing, of 2^64", attack: func(a *attempt) {
		type f struct {
			first     bool
			seq, left uint64
		}
		for _, fs := range [][]f{
			{{true, 1, 3}, {false, 1, 1}}, {{true, 1, 3}, {false, 1, 3}}, {{true, 1, 3}, {true, 1, 3}}, {{false, 1, 2}},
			{{false, 1, 1}},
			{{true, 1, 0}}, {{true, 1, 1}}, {{true, 1, 1<<64 - 1}, {false, 1, 1<<64 - 2}}, {{true, 1<<64 - 1, 2}, {false,
				1<<64 - 1, 1}},
			{{true, 1, 2}, {false, 2, 1}}, {{true, 1, 2}, {true, 2, 2}, {false, 1, 1}, {false, 1, 1}}, {{true, 1, 2}, {false,
				1, 0}},
		} {
			e := a.headed()
			head := fragmentHead(e)
			for _, x := range fs {
				data := []byte{97, 1}
				if x.first {
					data = append(bytes.Clone(head), 104, 2)
				}
				_ = e.SendFrame(raw.Fragment(x.first, x.seq, x.left, data))
			}
			a.goesOn(e)
			_ = e.Close()
		}
	}},
	{name: "erlang: atoms of the cache that were never told, and headers cut", attack: func(a *attempt) {
		for _, h := range [][]byte{
			{131, 68, 1, 0x00, 0}, {131, 68, 255}, {131, 68, 1, 0x08, 0, 255}, {131, 68, 2, 0x18, 0, 0, 0, 0}, {131, 68, 1,
				0x18, 0, 255, 255},
			{131, 68, 0, 82, 0}, {131, 68, 0, 82, 255}, {131, 68}, {131}, {131, 67}, {131, 69, 0}, {131, 70, 0, 0}, {112},
			{112, 131}, {0}, {131, 68, 0},
			{131, 68, 1, 0x08, 0, 2, 0xff, 0xfe, 104, 1, 82, 0},
		} {
			e := a.headed()
			_ = e.SendFrame(h)
			a.goesOn(e)
			_ = e.Close()
		}
	}},
	{name: "erlang: every atom of the cache told anew, 200 times", attack: func(a *attempt) {
		e := a.headed()
		control := must(new(etfcodec.Encoder).AppendBare(nil, wire.Tuple{2, wire.Atom(""), e.PID(1)}))
		for i := range 200 {
			b := []byte{131, 68, 255}
			for range 128 {
				b = append(b, byte(0x88|i%8|i%8<<4))
			}
			b[len(b)-1] |= 0x10 * 0
			for j := range 255 {
				text := fmt.Sprintf("%d-%d-%s", i, j, strings.Repeat("z", 200))
				b = append(append(b, byte(j), byte(len(text))), text...)
			}
			if e.SendFrame(append(append(b, control...), 97, 1)) != nil {
				break
			}
		}
		a.goesOn(e)
	}},
	{name: "erlang: 2,000 signals with a byte or more changed", attack: func(a *attempt) {
		var e *raw.Erlang
		victim := a.spawnEcho(1)[0]
		for i := range 2000 {
			if e == nil {
				e = a.erlang()
			}
			s := controlShapes[a.rand.IntN(len(controlShapes))]
			l := cases(s, e, victim)
			b := e.ControlFrame(append(wire.Tuple{s.op}, l[len(l)-1]...), wire.Tuple{wire.Atom("x"), i})
			for range 1 + a.rand.IntN(3) {
				b[a.rand.IntN(len(b))] = byte(a.rand.Uint32())
			}
			_ = e.SendFrame(b)
			if i%4 == 0 && !a.goesOn(e) {
				e = nil
			}
		}
	}, want: want{logKiB: 1024}},

	{name: "native: terms of 1,000,000 levels", attack: func(a *attempt) {
		n := a.native() // in parts, for a frame holds 64 KiB
		for _, level := range [][]byte{{0x91}, {0x92, 0xc0}, {0x81}, {0xdc, 0, 1}, {0xc7, 3, 4}} {
			if n == nil {
				n = a.native()
			}
			a.inParts(n, bytes.Repeat(level, 1_000_000))
			if !a.nativeGoesOn(n) {
				n = nil
			}
		}
	}},
	{name: "native: counts and sizes of 2^31 and 2^32, in one frame and in parts", attack: func(a *attempt) {
		for _, parts := range []bool{false, true} {
			var n *raw.Native
			for _, tag := range []byte{0xdd, 0xdf, 0xdb, 0xc6, 0xc9} {
				for _, size := range []uint32{1 << 31, 1<<32 - 1, 1 << 24, 100_000_000} {
					if n == nil {
						n = a.native()
					}
					b := append(big32(tag, size), make([]byte, 100)...)
					if parts {
						a.inParts(n, b)
					} else {
						_ = n.SendFrame(toCounter(0, b))
					}
					if !a.nativeGoesOn(n) {
						n = nil
					}
				}
			}
		}
	}},
	{name: "native: frames of zstd that hold too much, lie, or are none", attack: func(a *attempt) {
		good := zstdOf(must(pack.Append(nil, wire.Atom("message"))))
		bomb := zstdOf(make([]byte, 512<<20))
		require.Less(a, len(bomb), 60_000)
		window := []byte{0x28, 0xb5, 0x2f, 0xfd, 0x00, 0xf8, 0x01, 0, 0}
		l := [][]byte{toCounter(raw.Packed, bomb), toCounter(raw.Packed, zstdOf(make([]byte, 65_536))), toCounter(raw.Packed,
			window),
			toCounter(raw.Packed, good[:len(good)-1]), toCounter(raw.Packed, append(bytes.Clone(good), 1)),
			toCounter(raw.Packed, bytes.Repeat(good, 100)),
			toCounter(raw.Packed, nil), toCounter(raw.Packed, a.noise(1000)), toCounter(raw.Packed, []byte{0x28, 0xb5, 0x2f,
				0xfd, 0xff, 0xff, 0xff}),
			toCounter(raw.Packed|raw.Parts, bomb), toCounter(raw.Packed, good), toCounter(raw.Packed, []byte{0x50, 0x2a, 0x4d,
				0x18, 255, 255, 255, 255})}
		for i := range good {
			b := bytes.Clone(good)
			b[i] ^= 0xff
			l = append(l, toCounter(raw.Packed, b))
		}
		a.eachFrame(l)
	}},
	{name: "native: parts of zstd that hold 512 MiB", attack: func(a *attempt) {
		n := a.native()
		bomb := zstdOf(make([]byte, 512<<20))
		_ = n.SendFrame(toCounter(raw.Parts, append([]byte{1}, pack.AppendUint(nil, 200<<20)...)))
		_ = n.SendFrame([]byte{raw.OpPart | raw.Packed, 1}, bomb)
		a.nativeGoesOn(n)
	}},
	{name: "native: messages in parts without end", attack: func(a *attempt) {
		n := a.native()
		for i := range 80 {
			if n.SendFrame(toCounter(raw.Parts, append([]byte{byte(i)}, pack.AppendUint(nil, 200<<20)...))) != nil {
				break
			}
		}
		a.closes(n.Conn, 10*time.Second)
	}},
	{name: "native: parts of nothing, too many, too long, of 2^63", attack: func(a *attempt) {
		announce := func(stream byte, size uint64) []byte {
			return toCounter(raw.Parts, append([]byte{stream}, pack.AppendUint(nil, size)...))
		}
		part := func(stream byte, b []byte) []byte { return append([]byte{raw.OpPart, stream}, b...) }
		for _, l := range [][][]byte{
			{part(1, []byte("x"))}, {announce(1, 10), part(1, make([]byte, 11))}, {announce(1, 10), part(2, make([]byte, 10))},
			{announce(1, 0)}, {announce(1, 1<<63)}, {announce(1, 1<<64-1)}, {announce(1, 10), announce(1, 10)}, {announce(200,
				10)},
			{announce(1, 2), part(1, []byte{0xc0, 0xc0})}, {announce(1, 1), part(1, []byte{0xc1})}, {announce(1,
				256<<20+70_000)},
			{announce(1, 1), part(1, []byte{0xc0}), part(1, []byte{0xc0})}, {announce(1, 1<<20), part(1, nil), part(1, nil)},
			{{raw.OpPart}},
		} {
			n := a.native()
			for _, f := range l {
				_ = n.SendFrame(f)
			}
			a.nativeGoesOn(n)
			_ = n.Close()
		}
	}},
	{name: "native: every first byte of a frame", attack: func(a *attempt) {
		var l [][]byte
		for i := range 256 {
			l = append(l, []byte{byte(i)}, append([]byte{byte(i)}, bytes.Repeat([]byte{0xff}, 30)...), append([]byte{byte(i)},
				make([]byte, 30)...))
		}
		a.eachFrame(l)
	}, want: want{logKiB: 1024}},
	{name: "native: every tag of MessagePack, with and without what belongs to it", attack: func(a *attempt) {
		var l [][]byte
		for i := range 256 {
			l = append(l, toCounter(0, []byte{byte(i)}), toCounter(0, append([]byte{byte(i)}, bytes.Repeat([]byte{0xff},
				40)...)),
				toCounter(0, append([]byte{byte(i)}, make([]byte, 300)...)))
		}
		a.eachFrame(l)
	}, want: want{logKiB: 1024}},
	{name: "native: extensions of every type and size", attack: func(a *attempt) {
		var l [][]byte
		for t := range 256 {
			for _, size := range []int{0, 1, 2, 5, 9, 30} {
				l = append(l, toCounter(0, append([]byte{0xc7, byte(size), byte(t)}, bytes.Repeat([]byte{byte(t) ^ 0xfe},
					size)...)))
			}
		}
		a.eachFrame(l)
	}, want: want{logKiB: 2048}},
	{name: "native: atoms and nodes of a cache that were never told, and all told anew", attack: func(a *attempt) {
		l := [][]byte{toCounter(0, []byte{0xd4, 3, 1}), toCounter(0, []byte{0xd5, 3, 7, 255}), toCounter(0, []byte{0xd5, 3, 8,
			0}),
			toCounter(0, []byte{0xd5, 4, 3, 1}), toCounter(0, []byte{0xc7, 3, 2, 255, 255, 'a'}), toCounter(0, []byte{0xc7, 2,
				2, 0, 0})}
		for i := range 2048 {
			text := strings.Repeat(string(rune('a'+i%26)), 250)
			l = append(l, toCounter(0, append([]byte{0xc8, 0, 252, 2, byte(i >> 8), byte(i)}, text...)))
		}
		n := a.native()
		for _, f := range l[6:] {
			require.NoError(a, n.SendFrame(f))
		}
		a.nativeGoesOn(n)
		a.eachFrame(l[:6])
	}, want: want{logKiB: 2048}},
	{name: "native: goodbyes, acks and ticks that nobody asked for", attack: func(a *attempt) {
		for _, f := range [][]byte{append([]byte{raw.OpBye, 1}, "\x1b[2J\x07\nlevel=ERROR forged"...),
			append([]byte{raw.OpBye, 255}, bytes.Repeat([]byte("x"), 60_000)...),
			{raw.OpBye}, {raw.OpAck}, append([]byte{raw.OpAck}, pack.AppendUint(nil, 1<<63)...), {raw.OpAck, 0xc0}} {
			n := a.native()
			_ = n.SendFrame(f)
			a.nativeGoesOn(n)
			_ = n.Close()
		}
		n := a.native()
		ticks := make([]byte, 2*50_000)
		for range 4 {
			require.NoError(a, n.Send(ticks))
		}
		require.True(a, a.nativeGoesOn(n))
	}, want: want{never: "\x1b|\x07|(?m)^level=ERROR forged"}},
	{name: "native: acks of what was never sent, in a session", setup: "grace", attack: func(a *attempt) {
		for _, ack := range []uint64{1, 1 << 20, 1 << 63, 1<<64 - 1} {
			n := a.openNative()
			n.Us.Flags |= raw.Session
			n.Us.Grace = 1000
			require.NoError(a, n.Handshake(a.Cookie))
			_ = n.SendFrame(append([]byte{raw.OpAck}, pack.AppendUint(nil, ack)...))
			a.nativeGoesOn(n)
			_ = n.Close()
		}
	}},
	{name: "native: 2,000 frames with a byte or more changed", attack: func(a *attempt) {
		var n *raw.Native
		victim := a.spawnEcho(1)[0]
		for i := range 2000 {
			if n == nil {
				n = a.native()
			}
			s := frameShapes[a.rand.IntN(len(frameShapes))]
			l := cases(s, n, victim)
			b := raw.SignalFrame(byte(s.op), append(l[len(l)-1], wire.Tuple{wire.Atom("x"), i})...)
			for range 1 + a.rand.IntN(3) {
				b[a.rand.IntN(len(b))] = byte(a.rand.Uint32())
			}
			_ = n.SendFrame(b)
			if i%4 == 0 && !a.nativeGoesOn(n) {
				n = nil
			}
		}
	}, want: want{logKiB: 1024}},
}

func big32b(b []byte, n uint32) []byte { return binary.BigEndian.AppendUint32(append(b, 98), n) }

// inParts sends a payload to counter in parts.
func (a *attempt) inParts(n *raw.Native, b []byte) {
	_ = n.SendFrame(toCounter(raw.Parts, append([]byte{1}, pack.AppendUint(nil, uint64(len(b)))...)))
	for len(b) > 0 {
		k := min(len(b), 63<<10)
		if n.SendFrame([]byte{raw.OpPart, 1}, b[:k]) != nil {
			return
		}
		b = b[k:]
	}
}

// headed returns a connection whose frames have a distribution header.
func (a *attempt) headed() *raw.Erlang {
	e := a.openErlang()
	e.Flags = raw.HeadedFlags
	require.NoError(a, e.Handshake(a.Cookie))
	return e
}

// fragmentHead returns the header without atoms and the control message of a message to counter.
func fragmentHead(e *raw.Erlang) []byte {
	return must(new(etfcodec.Encoder).AppendBare([]byte{0}, wire.Tuple{6, e.PID(1), wire.Atom(""), wire.Atom("counter")}))
}
