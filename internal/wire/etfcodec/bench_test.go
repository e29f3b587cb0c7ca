package etfcodec

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/wire"
)

// samples returns the terms that the benchmarks encode and decode. The budget is the number of allocations that a
// decoder with warm caches may make: one for a small map or a binary of at most 1,000 bytes, two for a tuple, a list or a
// longer binary, none for an integer up to 65,535, one for many others, one for anything else that does not fit an
// interface.
func samples() []sample {
	o := wire.NewOrigin(wire.NodeID{Name: "erl@host", Creation: 1700000000})
	pid, ref := o.PID(94), o.Ref(130511, 1804337153, 2590001361)
	list := make(wire.List, 100)
	for i := range list {
		list[i] = i * 100
	}
	long := make(wire.List, 10_000)
	for i := range long {
		long[i] = i + 1
	}
	var m wire.Map
	for i := range 20 {
		m.Put(wire.Atom(fmt.Sprintf("key_%02d", i)), i)
	}
	return []sample{
		{"Control", wire.Tuple{6, pid, wire.Atom(""), wire.Atom("rex")}, 3},
		{"Binary64", make([]byte, 64), 1},
		{"Message", wire.Tuple{wire.Atom("update"), wire.Atom("account"), 42, 1_000_000, make([]byte, 64)}, 3},
		{"GenCall", wire.Tuple{wire.Atom("$gen_call"), wire.Tuple{pid, wire.ImproperList{Head: []any{wire.Atom("alias")}, Tail: ref}},
			wire.Tuple{wire.Atom("is_auth"), wire.Atom("erl@host")}}, 10},
		{"List100", list, 2},
		{"List10000", long, 2},
		{"Map20", m, 1},
	}
}

type sample struct {
	name   string
	term   any
	budget int
}

func BenchmarkDecode(b *testing.B) {
	for _, s := range samples() {
		b.Run(s.name, func(b *testing.B) {
			var d Decoder
			bytes, err := Append(nil, s.term)
			require.NoError(b, err)
			b.SetBytes(int64(len(bytes)))
			b.ReportAllocs()
			for b.Loop() {
				if _, _, err := d.Decode(bytes); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkEncode(b *testing.B) {
	for _, s := range samples() {
		b.Run(s.name, func(b *testing.B) {
			var e Encoder
			bytes, err := Append(nil, s.term)
			require.NoError(b, err)
			b.SetBytes(int64(len(bytes)))
			b.ReportAllocs()
			for b.Loop() {
				if bytes, err = e.Append(bytes[:0], s.term); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkSkip(b *testing.B) {
	for _, s := range samples() {
		b.Run(s.name, func(b *testing.B) {
			bytes, err := AppendBare(nil, s.term)
			require.NoError(b, err)
			b.ReportAllocs()
			for b.Loop() {
				if _, err := Skip(bytes); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
