package pack

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/internal/testkit"
	"github.com/actornode/actornode/wire"
)

// Line is a struct of six fields, as calls between nodes carry.
type Line struct {
	ID     int64
	SKU    string
	Name   string
	Price  float64
	Counts []int
	Paid   bool
}

var line = Line{1 << 40, "sku-1234", "a kettle", 12.5, []int{1, 2, 300}, true}

// samples are what the benchmarks send. The budgets are the allocations that
// encoding and decoding may make with caches that are full: none to encode plain
// terms; two for a tuple or a list (its header and its elements), one for what does
// not fit an interface.
func samples() []struct {
	name           string
	term           any
	encode, decode int
} {
	list := make(wire.List, 100)
	for i := range list {
		list[i] = i * 100
	}
	call := wire.Tuple{wire.Atom("$gen_call"),
		wire.Tuple{host.PID(70), wire.ImproperList{Head: []any{wire.Atom("alias")}, Tail: host.Ref(1, 2, 3)}},
		wire.Tuple{wire.Atom("add"), 7}}
	return []struct {
		name           string
		term           any
		encode, decode int
	}{
		{"Binary64", make([]byte, 64), 0, 2},
		{"Tuple", wire.Tuple{wire.AtomOK, 7, host.PID(70)}, 0, 3},
		{"GenCall", call, 0, 10},
		{"List100", list, 0, 99},
		{"Map3", wire.NewMap(wire.Atom("a"), 1, wire.Atom("b"), 2, wire.Atom("c"), 3), 1, 3},
		{"Struct", &Envelope{From: host.PID(1)}, 0, 2},
		{"Line", line, 0, 4}, // itself, two strings, the slice
		{"LinePointer", &line, 0, 4},
	}
}

func BenchmarkEncode(b *testing.B) {
	for _, s := range samples() {
		b.Run(s.name, func(b *testing.B) {
			e := Encoder{Dict: &EncodeDict{}, Types: types(b)}
			var dst []byte
			var err error
			b.ReportAllocs()
			for b.Loop() {
				if dst, err = e.Append(dst[:0], s.term); err != nil {
					b.Fatal(err)
				}
				e.Dict.Commit()
			}
		})
	}
	b.Run("PID", func(b *testing.B) {
		e := Encoder{Dict: &EncodeDict{}}
		var dst []byte
		b.ReportAllocs()
		for b.Loop() {
			dst, _ = e.AppendPID(dst[:0], host.PID(70))
		}
	})
}

func BenchmarkDecode(b *testing.B) {
	for _, s := range samples() {
		b.Run(s.name, func(b *testing.B) {
			in, d := warm(b, s.term)
			b.ReportAllocs()
			for b.Loop() {
				if _, _, err := d.Term(in); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
	b.Run("PID", func(b *testing.B) {
		in, d := warm(b, host.PID(70))
		b.ReportAllocs()
		for b.Loop() {
			if _, _, err := d.PID(in); err != nil {
				b.Fatal(err)
			}
		}
	})
}

// warm returns the bytes of term as they are once the caches know what is in it,
// and a Decoder that does.
func warm(t testing.TB, term any) ([]byte, *Decoder) {
	types := types(t)
	e, d := Encoder{Dict: &EncodeDict{}, Types: types}, &Decoder{Dict: &DecodeDict{}, Types: types}
	var b []byte
	for range 2 {
		var err error
		b, err = e.Append(nil, term)
		require.NoError(t, err)
		_, _, err = d.Term(b)
		require.NoError(t, err)
	}
	return b, d
}

func TestAllocations(t *testing.T) {
	for _, s := range samples() {
		t.Run(s.name, func(t *testing.T) {
			e := Encoder{Dict: &EncodeDict{}, Types: types(t)}
			dst := make([]byte, 0, 4096)
			encode := testing.AllocsPerRun(100, func() {
				if _, err := e.Append(dst, s.term); err != nil {
					t.Fatal(err)
				}
				e.Dict.Commit()
			})
			in, d := warm(t, s.term)
			decode := testing.AllocsPerRun(100, func() {
				if _, _, err := d.Term(in); err != nil {
					t.Fatal(err)
				}
			})
			if testkit.Race {
				return // it counts its own
			}
			require.LessOrEqual(t, int(encode), s.encode, "encode")
			require.LessOrEqual(t, int(decode), s.decode, "decode")
		})
	}
}
