package wire

import (
	"math"
	"math/big"
	"math/rand/v2"
	"testing"
	"unicode/utf8"

	"github.com/actornode/actornode/internal/testkit"
)

// gen makes random terms, biased towards the places where Erlang's rules
// change.
type gen struct {
	*rand.Rand
	literal bool // only terms that have a syntax
	foreign bool // foreign values too
	big     bool // maps beyond maxSorted too

	apart map[hashedRef]Ref // references so far, if only those that OTP 25 can hash apart are wanted; nil: any
}

// whole returns n as decoders do: as an int if it fits one here.
func whole(n int64) any { return IntegerOf(big.NewInt(n)) }

func newGen(t testing.TB) *gen { return &gen{Rand: testkit.Rand(t)} }

// plainly writes a term without guessing what is text.
func plainly(t any) string { return Formatter{Plain: true}.Format(t) }

func pick[T any](g *gen, of ...T) T { return of[g.IntN(len(of))] }

func (g *gen) term(depth int) any {
	n := 11
	if depth > 0 {
		n = 20
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
		return Charlist(g.text(g.IntN(6)))
	case k == 9:
		return g.leaf()
	case k == 10:
		return pick[any](g, List(nil), nil, Tuple{}, Charlist(""), Map{})
	case k < 14:
		return Tuple(g.terms(g.IntN(4), depth-1))
	case k < 16:
		return List(g.terms(g.IntN(4), depth-1))
	case k == 16:
		return ImproperList{g.terms(1+g.IntN(3), depth-1), g.term(depth - 1)}
	case k == 17 && !g.literal:
		return g.fun(depth - 1)
	default:
		return g.mapping(depth - 1)
	}
}

func (g *gen) terms(n, depth int) []any {
	l := make([]any, n)
	for i := range l {
		l[i] = g.term(depth)
	}
	return l
}

func (g *gen) integer() any {
	switch g.IntN(6) {
	case 0:
		return g.IntN(4)
	case 1:
		return g.IntN(300) - 20
	case 2: // around the powers of two where something changes
		x := new(big.Int).Lsh(big.NewInt(1), pick[uint](g, 8, 27, 31, 32, 53, 59, 60, 63, 64, 65, 100))
		x.Add(x, big.NewInt(int64(g.IntN(5)-2)))
		if g.IntN(2) == 0 {
			x.Neg(x)
		}
		return IntegerOf(x)
	case 3:
		return IntegerOf(new(big.Int).Lsh(big.NewInt(g.Int64()), uint(g.IntN(200))))
	case 4:
		return int(math.Trunc(g.NormFloat64() * math.Exp2(float64(g.IntN(62)))))
	}
	return int(g.Uint64())
}

func (g *gen) float() float64 {
	switch g.IntN(5) {
	case 0:
		return float64(g.IntN(5))
	case 1:
		return float64(g.IntN(2000)-1000) * math.Pow(10, float64(g.IntN(40)-20))
	case 2:
		f := math.Exp2(pick(g, 53.0, 59, 60, 63, 64, 65))
		return pick(g, 1.0, -1) * pick(g, f, math.Nextafter(f, 0), math.Nextafter(f, math.MaxFloat64))
	}
	for {
		f := math.Float64frombits(g.Uint64())
		if !math.IsNaN(f) && !math.IsInf(f, 0) && f != 0 {
			return f
		}
	}
}

func (g *gen) atom() any {
	switch g.IntN(4) {
	case 0:
		return Atom(g.text(g.IntN(8)))
	case 1:
		return pick[any](g, true, false)
	}
	return pick(g, AtomOK, AtomError, AtomUndefined, "a", "b", "aé", "ab@c_D1", "A", "_", "", "a b", "fun", "end", "ÿ", "÷", "'", "\\", "\u0080", "ж")
}

// text returns n characters that both sides can read back: no surrogates, and not the last two of each plane, which
// erl_scan refuses.
func (g *gen) text(n int) string {
	var s []rune
	for len(s) < n {
		r := pick(g, rune(' '+g.IntN(95)), rune(g.IntN(256)), rune(g.IntN(0x3000)), rune(g.IntN(utf8.MaxRune)), 'a', '\n', '"')
		if utf8.ValidRune(r) && r&0xfffe != 0xfffe {
			s = append(s, r)
		}
	}
	return string(s)
}

func (g *gen) binary() any {
	switch b := []byte(g.text(g.IntN(6))); g.IntN(4) {
	case 0:
		return string(b)
	case 1:
		for i := range b {
			b[i] = byte(g.Uint32())
		}
		return b
	case 2:
		return NewBitstring(b, g.IntN(8*len(b)+1))
	default:
		return b
	}
}

func (g *gen) origin() Origin {
	return NewOrigin(NodeID{pick[Atom](g, "a@h", "b@h", "go@host"), pick[uint32](g, 1, 2, math.MaxUint32)})
}

func (g *gen) pid() PID {
	return g.origin().PID(pick(g, uint64(g.IntN(4)), uint64(g.IntN(4))<<32|1, math.MaxUint64))
}

// leaf returns a term that has no syntax and is no compound, or an Export.
func (g *gen) leaf() any {
	n := 1
	if !g.literal {
		n = 4
	}
	if g.foreign {
		n = 5
	}
	switch g.IntN(n) {
	case 0:
		return Export{g.funName(), g.funName(), g.IntN(3)}
	case 1:
		return g.pid()
	case 2:
		words := make([]uint32, 2+g.IntN(MaxRefWords-1))
		for i := range words {
			words[i] = pick(g, 0, 1, g.Uint32N(1<<18), g.Uint32N(1<<18)<<14)
		}
		return g.ref(g.origin(), words)
	case 3:
		return g.origin().Port(pick(g, uint64(g.IntN(4)), math.MaxUint64))
	}
	return pick[any](g, point{1, g.IntN(2)}, color(g.IntN(3)), []any{1}, map[string]int{}, struct{}{}, (*big.Int)(nil), func() {}, math.NaN())
}

// ref returns a reference. With apart set, no other reference has the same first three words. Those are all that OTP 25
// hashes (for one word, it also hashes the memory behind it), and it crashes when it makes a large map with keys that
// it cannot hash apart.
func (g *gen) ref(o Origin, words []uint32) Ref {
	r := o.Ref(words...)
	if g.apart == nil {
		return r
	}
	h := hashedRef{node: o.NodeID()}
	copy(h.words[:], words)
	if was, ok := g.apart[h]; ok {
		return was
	}
	g.apart[h] = r
	return r
}

// hashedRef is the part of a reference that OTP 25 hashes.
type hashedRef struct {
	node  NodeID
	words [3]uint32
}

type (
	point struct{ X, Y int }
	color int
)

// funName returns an atom that Erlang prints the same alone and in a fun, where it leaves reserved words unquoted and
// prints UTF-8 as Latin-1 (OTP 25).
func (g *gen) funName() Atom { return pick[Atom](g, "a", "b_1", "Elixir.A", "a b", "") }

// fun always has the same creator: Erlang's == ignores it, but the hash of a key in a large map does not (OTP 25).
func (g *gen) fun(depth int) Fun {
	old := g.IntN(3) - 1
	return Fun{
		Arity: 1, Uniq: [16]byte{byte(old)}, Index: uint32(g.IntN(3)), Module: g.funName(),
		OldIndex: 1, OldUniq: old, PID: NewOrigin(NodeID{"a@h", 1}).PID(1), Free: g.terms(g.IntN(3), depth),
	}
}

func (g *gen) mapping(depth int) Map {
	n := g.IntN(5)
	if g.big && g.IntN(10) == 0 {
		n = 30 + g.IntN(10)
	}
	var m Map
	for range n {
		m.Put(g.term(depth), g.term(depth))
	}
	for i := 0; n > 10 && m.Len() < n; i++ { // two of these maps are often alike
		m.Put(i, g.IntN(2))
	}
	return m
}

// respell returns the same term in other Go types, and with other sharing.
func (g *gen) respell(t any) any {
	switch t := t.(type) {
	case Tuple:
		return Tuple(g.respellAll(t))
	case List:
		return g.respellList(g.respellAll(t), nil)
	case Charlist:
		return g.respellList(t.List(), nil)
	case nil:
		return g.respellList(nil, nil)
	case ImproperList:
		return g.respellList(g.respellAll(t.Head), g.respell(t.Tail))
	case Fun:
		t.Free = g.respellAll(t.Free)
		return t
	case Map:
		c := MakeMap(pick(g, 0, maxSorted+1))
		pairs := make([]pair, 0, t.Len())
		for k, v := range t.Unordered() {
			pairs = append(pairs, pair{g.respell(k), g.respell(v)})
		}
		g.Shuffle(len(pairs), func(i, j int) { pairs[i], pairs[j] = pairs[j], pairs[i] })
		for _, p := range pairs {
			c.Put(p.Key, p.Value)
		}
		return c
	case bool:
		return atomOf(t)
	case Atom:
		if v, ok := AsBool(t); ok {
			return v
		}
	}
	switch classOf(t) {
	case classNumber:
		return g.respellNumber(numOf(t))
	case classBits:
		s, n := bitsOf(t)
		if n%8 == 0 {
			return pick[any](g, s, []byte(s), NewBitstring([]byte(s), n))
		}
	}
	return t
}

func (g *gen) respellAll(terms []any) []any {
	c := make([]any, len(terms))
	for i := range terms {
		c[i] = g.respell(terms[i])
	}
	return c
}

func (g *gen) respellList(head []any, tail any) any {
	cut := g.IntN(len(head) + 1)
	switch l := cons(head[cut:], tail).(type) {
	case List:
		if s, ok := AsText(l); ok {
			tail = pick[any](g, l, Charlist(s))
		} else {
			tail = l
		}
	default:
		tail = l
	}
	return pick(g, any(ImproperList{head[:cut], tail}), cons(head[:cut], tail))
}

func (g *gen) respellNumber(x num) any {
	switch {
	case x.kind == numFloat && float64(float32(x.float)) == x.float:
		return float32(x.float)
	case x.kind == numFloat:
		return x.float
	case x.kind == numBig && x.big.IsUint64():
		return pick[any](g, x.big.Uint64(), x.big)
	case x.kind == numBig:
		return new(big.Int).Set(x.big)
	case int64(int8(x.small)) == x.small && g.IntN(2) == 0:
		return int8(x.small)
	case int64(uint16(x.small)) == x.small && g.IntN(2) == 0:
		return uint16(x.small)
	}
	return pick[any](g, x.small, whole(x.small), big.NewInt(x.small))
}
