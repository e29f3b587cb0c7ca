package port

import (
	"encoding/hex"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/internal/wire/pack"
	"github.com/actornode/actornode/node"
	"github.com/actornode/actornode/wire"
	"github.com/actornode/actornode/wire/etf"
)

var (
	here = wire.NewOrigin(wire.NodeID{Name: "go@host", Creation: 7})
	pid  = here.PID(3)
	ref  = here.RefOf(5)
	at   = node.At{Name: "n", Node: "go@host"}
)

// written are frames from a program, as terms, and what they mean.
var written = []struct {
	term wire.Tuple
	want any
}{
	{wire.Tuple{wire.Atom("ready")}, opReady{}},
	{wire.Tuple{wire.Atom("reply"), 1, wire.Tuple{1}}, opReply{1, wire.Tuple{1}}},
	{wire.Tuple{wire.Atom("error"), 1, wire.Atom("x")}, opError{1, wire.Atom("x")}},
	{wire.Tuple{wire.Atom("send"), pid, 1}, opSend{dest{pid: pid}, 1}},
	{wire.Tuple{wire.Atom("send"), ref, 1}, opSend{dest{alias: ref}, 1}},
	{wire.Tuple{wire.Atom("send"), wire.Atom("n"), 1}, opSend{dest{at: node.At{Name: "n"}}, 1}},
	{wire.Tuple{wire.Atom("send"), []byte("n"), 1}, opSend{dest{at: node.At{Name: "n"}}, 1}},
	{wire.Tuple{wire.Atom("send"), wire.Tuple{wire.Atom("n"), wire.Atom("go@host")}, 1}, opSend{dest{at: at}, 1}},
	{wire.Tuple{wire.Atom("send"), wire.List{[]byte("n"), []byte("go@host")}, 1}, opSend{dest{at: at}, 1}},
	{wire.Tuple{wire.Atom("cast"), pid, 1}, opSend{dest{pid: pid}, node.Cast[any]{Body: 1}}},
	{wire.Tuple{wire.Atom("call"), 2, pid, 1}, opCall{2, dest{pid: pid}, 1, 5 * time.Second}},
	{wire.Tuple{wire.Atom("call"), -2, pid, 1, 30}, opCall{-2, dest{pid: pid}, 1, 30 * time.Millisecond}},
	{wire.Tuple{wire.Atom("call"), 2, pid, 1, 0}, opCall{2, dest{pid: pid}, 1, 1}},
	{wire.Tuple{wire.Atom("call"), 2, pid, 1, wire.AtomUndefined}, opCall{2, dest{pid: pid}, 1, 0}},
	{wire.Tuple{wire.Atom("call"), 2, pid, 1, wire.Atom("infinity")}, opCall{2, dest{pid: pid}, 1, 0}},
	{wire.Tuple{wire.Atom("link"), pid}, opLink{pid}},
	{wire.Tuple{wire.Atom("unlink"), pid}, opUnlink{pid}},
	{wire.Tuple{wire.Atom("monitor"), 3, pid}, opMonitor{3, dest{pid: pid}}},
	{wire.Tuple{wire.Atom("demonitor"), 3}, opDemonitor{3}},
	{wire.Tuple{wire.Atom("trap"), wire.AtomTrue}, opTrap{true}},
	{wire.Tuple{wire.Atom("signal"), pid, wire.Atom("kill")}, opSignal{pid, wire.Atom("kill")}},
	{wire.Tuple{wire.Atom("exit"), wire.Atom("x")}, opExit{wire.Atom("x")}},
	{wire.Tuple{wire.Atom("trace"), []byte(traceparent)}, opTrace{[]byte(traceparent)}},
	{wire.Tuple{wire.Atom("trace"), wire.AtomUndefined}, opTrace{}},
}

const traceparent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"

// bytesOf returns the bytes of a program's frame.
func bytesOf(t testing.TB, kind Codec, term wire.Tuple) []byte {
	var b []byte
	var err error
	switch kind {
	case ETF:
		b, err = etf.Append(nil, term)
	case Plain:
		b, err = appendPlain(nil, wire.List(term))
	default:
		b, err = (&pack.Encoder{Erlang: true}).Append(nil, append(wire.List{string(term[0].(wire.Atom))}, term[1:]...))
	}
	require.NoError(t, err)
	return b
}

func TestDecode(t *testing.T) {
	for _, kind := range []Codec{MsgPack, ETF} {
		c := newCodec(kind, 1<<20)
		for _, w := range written {
			op, err := c.decode(bytesOf(t, kind, w.term))
			require.NoError(t, err, "%v: %v", kind, w.term)
			require.Equal(t, w.want, op, "%v: %v", kind, w.term)
		}
	}
}

func TestDecodeRefused(t *testing.T) {
	for term, want := range map[string]string{
		"[]":                             "want an array or a tuple that begins with a word",
		"reply":                          "want an array",
		"{7}":                            "want an array",
		"{bye}":                          `unknown kind of frame: "bye"`,
		"{ready,1}":                      "ready with 1 fields; want none",
		"{reply,1}":                      "reply with 1 fields; want id, value",
		"{reply,a,1}":                    "reply: field 1 is a; want an integer of 64 bits",
		"{reply,18446744073709551616,1}": "want an integer of 64 bits",
		"{link,self}":                    "link: field 1 is self; want a pid",
		"{trap,1}":                       "trap: field 1 is 1; want true or false",
		"{send,7,x}":                     "send: field 1 is 7; want a pid, a reference, a name, or a name and a node",
		"{send,{a,b,c},x}":               "send: field 1 is {a,b,c}; want",
		"{send,{a,7},x}":                 "send: field 1 is {a,7}; want",
		"{send,'',x}":                    "send: field 1 is ''; want",
		"{call,1,a,x,-1}":                "call: field 4 is -1; want milliseconds, or nil for no timeout",
		"{call,1,a,x,1.5}":               "call: field 4 is 1.5",
		"{call,1,a,x,1,1}":               "call with 5 fields; want id, to, body, and perhaps a timeout",
	} {
		v, err := wire.Parse(term)
		require.NoError(t, err)
		_, err = parse(v)
		require.ErrorContains(t, err, want, term)
	}
	for _, kind := range []Codec{MsgPack, ETF} {
		c := newCodec(kind, 1<<20)
		_, err := c.decode(append(bytesOf(t, kind, written[0].term), 0))
		require.ErrorContains(t, err, "1 bytes follow the term")
	}
}

// The frames that a program gets, byte for byte.
func TestAppend(t *testing.T) {
	for _, c := range []struct {
		kind   Codec
		word   string
		fields []any
		hex    string
	}{
		{MsgPack, wordCall, []any{1, wire.Tuple{wire.Atom("add"), 5}, wire.AtomUndefined}, "94a463616c6c01" + "93c0c7030161646405" + "c0"},
		{Plain, wordCall, []any{1, wire.Tuple{wire.Atom("add"), 5}, wire.AtomUndefined}, "94a463616c6c01" + "92a361646405" + "c0"},
		{ETF, wordCall, []any{1, wire.Tuple{wire.Atom("add"), 5}, wire.AtomUndefined},
			"836804" + "770463616c6c" + "6101" + "68027703616464" + "6105" + "7709756e646566696e6564"},
		{MsgPack, wordInfo, []any{struct{ N int }{3}}, "92a4696e666f81d4016e03"},
	} {
		b, err := newCodec(c.kind, 1<<20).append([]byte("x"), c.word, c.fields...)
		require.NoError(t, err)
		require.Equal(t, c.hex, hex.EncodeToString(b[1:]), "%v", c.kind)
	}
	for _, kind := range []Codec{MsgPack, Plain, ETF} {
		b, err := newCodec(kind, 1<<20).append([]byte("x"), wordInfo, 1, make(chan int))
		require.Error(t, err)
		require.Equal(t, "x", string(b))
	}
}

// A frame cut at any byte is an error; one with a flipped bit is an error, or means something else.
func TestDecodeCutAndFlipped(t *testing.T) {
	for _, kind := range []Codec{MsgPack, Plain, ETF} {
		c := newCodec(kind, 1<<20)
		for _, w := range written {
			b := bytesOf(t, kind, w.term)
			for i := range b {
				_, err := c.decode(b[:i])
				require.Error(t, err)
				for bit := range 8 {
					f := append([]byte{}, b...)
					f[i] ^= 1 << bit
					if op, err := c.decode(f); err == nil {
						require.NotNil(t, op)
					}
				}
			}
		}
	}
}

func FuzzDecode(f *testing.F) {
	all := []Codec{MsgPack, Plain, ETF}
	for i, kind := range all {
		for _, w := range written {
			if kind != Plain {
				f.Add(uint8(i), bytesOf(f, kind, w.term))
			}
		}
	}
	f.Add(uint8(0), []byte{0xdd, 0xff, 0xff, 0xff, 0xff})
	f.Add(uint8(1), []byte{0x92, 0xa5, 'r', 'e', 'a', 'd', 'y', 0xc6, 0xff, 0xff, 0xff, 0xff})
	f.Fuzz(func(t *testing.T, kind uint8, b []byte) {
		op, err := newCodec(all[kind%3], 1<<16).decode(b)
		require.Equal(t, err == nil, op != nil)
	})
}

func BenchmarkAppendCall(b *testing.B) {
	c := newCodec(MsgPack, 1<<20)
	body := wire.Tuple{wire.Atom("add"), 5}
	var dst []byte
	b.ReportAllocs()
	for b.Loop() {
		dst, _ = c.append(dst[:0], wordCall, int64(1000), body, pid)
	}
}

func BenchmarkDecodeReply(b *testing.B) {
	c := newCodec(MsgPack, 1<<20)
	frame := bytesOf(b, MsgPack, wire.Tuple{wire.Atom("reply"), 1000, wire.Tuple{wire.Atom("ok"), 5}})
	b.ReportAllocs()
	for b.Loop() {
		if _, err := c.decode(frame); err != nil {
			b.Fatal(err)
		}
	}
}
