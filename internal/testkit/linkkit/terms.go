package linkkit

import (
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	"github.com/actornode/actornode/wire"
	"github.com/actornode/actornode/wire/dist"
)

// terms sends random terms in both directions.
func (k kit) terms(t *testing.T) {
	a, b := k.pair(t)
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	g := generator{rand.New(rand.NewPCG(seed, 1))}
	from, to := wire.NewOrigin(A).PID(1), wire.NewOrigin(B).PID(1)
	for range 40 {
		var there, back []dist.Frame
		for range 20 {
			there = append(there, dist.Frame{Op: dist.OpSend, From: from, To: to, Payload: g.term(4)})
			back = append(back, dist.Frame{Op: dist.OpExit, From: to, To: from, Payload: g.term(4)})
		}
		k.cross(t, a, b, there)
		k.cross(t, b, a, back)
	}
}

// generator makes random terms.
type generator struct{ *rand.Rand }

func (g generator) terms(depth int) []any {
	l := make([]any, g.IntN(6))
	for i := range l {
		l[i] = g.term(depth - 1)
	}
	return l
}

func (g generator) atom() wire.Atom {
	switch g.IntN(5) {
	case 0:
		return wire.Atom(fmt.Sprint("atom", g.IntN(5000)))
	case 1:
		return wire.Atom(make([]rune, g.IntN(wire.MaxAtomRunes)))
	case 2:
		return "ж"
	case 3:
		return ""
	}
	return wire.AtomTrue
}

func (g generator) term(depth int) any {
	if depth > 0 && g.IntN(3) > 0 {
		return g.compound(depth)
	}
	origin := wire.NewOrigin(wire.NodeID{Name: wire.Atom(fmt.Sprintf("n%d@host", g.IntN(30))), Creation: 1 + g.Uint32N(3)})
	switch g.IntN(12) {
	case 0:
		return g.IntN(512) - 256
	case 1:
		return int(g.Uint64())
	case 2:
		return new(big.Int).Lsh(big.NewInt(int64(g.Uint64())), uint(g.IntN(3000)))
	case 3:
		return math.Float64frombits(g.Uint64() &^ (1 << 62)) // finite
	case 4:
		b := make([]byte, g.IntN(300))
		for i := range b {
			b[i] = byte(g.Uint32())
		}
		return b
	case 5:
		return wire.NewBitstring([]byte{byte(g.Uint32()), 0xff}, g.IntN(17))
	case 6:
		return origin.PID(g.Uint64())
	case 7:
		return origin.Ref(g.Uint32(), g.Uint32(), g.Uint32())
	case 8:
		return origin.Port(g.Uint64())
	case 9:
		return wire.Export{Module: g.atom(), Function: g.atom(), Arity: g.IntN(256)}
	}
	return g.atom()
}

func (g generator) compound(depth int) any {
	switch g.IntN(5) {
	case 0:
		return wire.Tuple(g.terms(depth))
	case 1:
		return wire.List(g.terms(depth))
	case 2:
		return wire.ImproperList{Head: append(g.terms(depth), 1), Tail: g.atom()}
	case 3:
		return wire.Charlist("some text")
	}
	l := g.terms(depth)
	var m wire.Map
	for i := 1; i < len(l); i += 2 {
		m.Put(l[i-1], l[i])
	}
	return m
}
