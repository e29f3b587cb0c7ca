// Package termtest makes random terms for the tests of codecs.
package termtest

import (
	"math"
	"math/big"
	"math/rand/v2"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/actornode/actornode/internal/testkit"
	"github.com/actornode/actornode/wire"
)

// Gen makes random terms, biased towards the boundaries of encodings.
type Gen struct {
	*rand.Rand
	Spell bool // in every accepted Go type, not only the decoded ones
	// OneZero excludes maps with -0.0 in a key: before OTP 27 that equals the key 0.0, so a map with both is invalid.
	OneZero bool

	inKey int
}

// New returns a Gen whose seed is logged if the test fails; -seed repeats it.
func New(t testing.TB) *Gen { return &Gen{Rand: testkit.Rand(t)} }

// Seeded returns the Gen for a seed.
func Seeded(seed uint64) *Gen { return &Gen{Rand: rand.New(rand.NewPCG(seed, 1))} }

func pick[T any](g *Gen, of ...T) T { return of[g.IntN(len(of))] }

// Term makes a term nested at most depth levels.
func (g *Gen) Term(depth int) any {
	n := 12
	if depth > 0 {
		n = 22
	}
	switch k := g.IntN(n); {
	case k < 3:
		return g.integer()
	case k == 3:
		return g.float()
	case k < 6:
		return g.atom()
	case k < 8:
		return g.binary()
	case k == 8:
		return g.text()
	case k < 11:
		return g.identifier()
	case k == 11:
		return pick[any](g, wire.List(nil), wire.Tuple{}, wire.Map{}, []byte{})
	case k < 15:
		return wire.Tuple(g.terms(g.arity(), depth-1))
	case k < 17:
		return wire.List(g.terms(1+g.arity(), depth-1))
	case k == 17:
		return g.improper(depth - 1)
	case k == 18:
		return g.fun(depth - 1)
	default:
		return g.mapping(depth - 1)
	}
}

func (g *Gen) arity() int {
	if g.IntN(200) == 0 {
		return pick(g, 254, 255, 256, 257)
	}
	return g.IntN(4)
}

func (g *Gen) terms(n, depth int) []any {
	l := make([]any, n)
	for i := range l {
		if n > 100 {
			l[i] = i
			continue
		}
		l[i] = g.Term(depth)
	}
	return l
}

func (g *Gen) improper(depth int) any {
	tail := g.Term(depth)
	if !g.Spell {
		switch tail.(type) {
		case wire.List, wire.ImproperList:
			tail = wire.AtomOK
		}
	}
	return wire.ImproperList{Head: g.terms(1+g.IntN(3), depth), Tail: tail}
}

func (g *Gen) integer() any {
	x := new(big.Int)
	switch g.IntN(5) {
	case 0:
		x.SetInt64(int64(g.IntN(300) - 20))
	case 1:
		x.Lsh(big.NewInt(1), pick[uint](g, 8, 16, 27, 31, 32, 53, 59, 60, 63, 64, 65, 100, 2039, 2040, 2048))
		x.Add(x, big.NewInt(int64(g.IntN(5)-2)))
	case 2:
		x.Lsh(big.NewInt(g.Int64()), uint(g.IntN(2200)))
	case 3:
		x.SetInt64(int64(math.Trunc(g.NormFloat64() * math.Exp2(float64(g.IntN(62))))))
	default:
		x.SetUint64(g.Uint64())
	}
	if g.IntN(2) == 0 {
		x.Neg(x)
	}
	if g.Spell && x.IsInt64() {
		switch n := x.Int64(); g.IntN(5) {
		case 0:
			return n
		case 1:
			return x
		case 2:
			return pick[any](g, int8(n), int16(n), int32(n), uint8(n), uint16(n), uint32(n), uint(n), uint64(n), uintptr(n))
		}
	}
	return wire.IntegerOf(x)
}

func (g *Gen) float() any {
	for {
		f := pick(g, math.Float64frombits(g.Uint64()), float64(g.IntN(100)), math.Copysign(0, -1), 0.1, math.MaxFloat64,
			math.SmallestNonzeroFloat64)
		if g.Spell && g.IntN(3) == 0 {
			f32 := float32(f)
			if !math.IsInf(float64(f32), 0) && f == f && f32 != 0 { // no -0.0: as a key it is 0.0 before OTP 27
				return f32
			}
		}
		if f == 0 && g.OneZero && g.inKey > 0 {
			f = 0
		}
		if !math.IsNaN(f) && !math.IsInf(f, 0) {
			return f
		}
	}
}

func (g *Gen) atom() any {
	if g.Spell && g.IntN(5) == 0 {
		return g.IntN(2) == 0
	}
	switch g.IntN(8) {
	case 0:
		return wire.Atom(strings.Repeat(pick(g, "a", "ÿ", "ж", "\U0010ffff"), pick(g, 63, 64, 127, 128, 254, 255)))
	case 1, 2:
		return wire.Atom(g.runes(g.IntN(8)))
	}
	return pick(g, wire.AtomOK, wire.AtomError, wire.AtomUndefined, "", "aé", "a@h", "ж")
}

func (g *Gen) runes(n int) string {
	var s []rune
	for len(s) < n {
		r := pick(g, rune(' '+g.IntN(95)), rune(g.IntN(256)), rune(g.IntN(utf8.MaxRune)))
		if utf8.ValidRune(r) {
			s = append(s, r)
		}
	}
	return string(s)
}

func (g *Gen) text() any {
	s := wire.Charlist(g.runes(g.IntN(6)))
	if g.Spell {
		return s
	}
	if l := s.List(); len(l) > 0 {
		return l
	}
	return wire.List(nil)
}

func (g *Gen) binary() any {
	b := make([]byte, g.IntN(10))
	for i := range b {
		b[i] = byte(g.Uint32())
	}
	if g.IntN(3) == 0 && len(b) > 0 {
		if n := g.IntN(8*len(b) + 1); n%8 != 0 || g.Spell {
			return wire.NewBitstring(b, n)
		}
	}
	if g.Spell && g.IntN(2) == 0 {
		return string(b)
	}
	return b
}

func (g *Gen) origin() wire.Origin {
	return wire.NewOrigin(wire.NodeID{Name: pick[wire.Atom](g, "a@h", "b@h", "é@h", "ж@h"),
		Creation: pick[uint32](g, 1, 2, 3, 4, math.MaxUint32)})
}

func (g *Gen) pid() wire.PID {
	return g.origin().PID(pick(g, uint64(g.IntN(4)), uint64(g.IntN(4))<<32|1, math.MaxUint64))
}

func (g *Gen) identifier() any {
	switch g.IntN(5) {
	case 0:
		arity := g.IntN(256)
		return wire.Export{Module: g.name(), Function: g.name(), Arity: arity}
	case 1:
		words := make([]uint32, 1+g.IntN(wire.MaxRefWords))
		for i := range words {
			words[i] = g.Uint32()
		}
		words[0] &= 0x3ffff
		return g.origin().Ref(words...)
	case 2:
		return g.origin().Port(pick(g, uint64(g.IntN(4)), 1<<28-1, 1<<28, math.MaxUint32, math.MaxUint64))
	}
	return g.pid()
}

func (g *Gen) name() wire.Atom { return pick[wire.Atom](g, "a", "b_1", "é", "Ж", "Elixir.A", "") }

func (g *Gen) fun(depth int) any {
	f := wire.Fun{
		Arity: g.IntN(256), Index: g.Uint32N(1 << 31), Module: g.name(),
		OldIndex: g.IntN(1000), OldUniq: g.IntN(1 << 27), PID: g.pid(), Free: g.terms(g.IntN(3), depth),
	}
	for i := range f.Uniq {
		f.Uniq[i] = byte(g.Uint32())
	}
	return f
}

func (g *Gen) mapping(depth int) any {
	n := g.IntN(5)
	large := g.IntN(20) == 0
	if large {
		n = 30 + g.IntN(10)
	}
	var m wire.Map
	for i := range n {
		if large {
			m.Put(i, g.IntN(2))
			continue
		}
		g.inKey++
		k := g.Term(depth)
		g.inKey--
		m.Put(k, g.Term(depth))
	}
	return m
}
