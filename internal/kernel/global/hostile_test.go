package global_test

import (
	"fmt"
	"math/big"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/internal/kernel/tables"
	"github.com/actornode/actornode/internal/testkit"
	"github.com/actornode/actornode/wire"
)

// The messages of one node are changed at random: parts are missing, are terms of another kind, or come from other
// messages. Nothing ends a name server. When that node has gone and the others have connected anew, all agree, no lock
// is left, and nobody waits.
func TestHostile(t *testing.T) {
	r := testkit.Rand(t)
	for total, number := 0, 1; total < steps(t); number++ {
		s := newSim(r, 3+r.IntN(3), nil)
		total += hostile(t, s, number)
	}
}

func hostile(t *testing.T, s *sim, number int) int {
	r := s.rand
	g := &garbler{rand: r, s: s}
	s.garble = func(from *simNode, msg any) any {
		if from.index == 0 {
			return g.garble(msg)
		}
		g.seen(msg)
		return msg
	}
	for i := 1; i < len(s.nodes); i++ {
		s.connect(s.nodes[i], s.nodes[r.IntN(i)])
	}
	waiting := 0
	for range 60 {
		for range r.IntN(40) {
			s.step()
		}
		n := s.nodes[r.IntN(len(s.nodes))]
		name := wire.Atom(fmt.Sprintf("name%d", r.IntN(6)))
		switch what := r.IntN(10); {
		case what < 4:
			pid := n.spawn()
			g.pids = append(g.pids, pid)
			if n.index != 0 {
				waiting++
			}
			n.m.Register(name, pid, tables.RandomExit, r.IntN(5) == 0, func(bool) {
				if n.index != 0 {
					waiting--
				}
			})
		case what < 5:
			n.m.Unregister(name, func() {})
		case what < 6 && len(g.pids) > 0:
			s.kill(g.pids[r.IntN(len(g.pids))])
		case what < 8: // the hostile node repeats what somebody has said
			to := s.nodes[1+r.IntN(len(s.nodes)-1)]
			by := s.nodes[0].spawn()
			g.pids = append(g.pids, by)
			if msg := g.another(); s.nodes[0].links[to.index] {
				to.later(0, func() { to.m.Info("n0@h", msg); to.m.Cast("n0@h", msg); to.m.Call(func(any) {}, by, msg) })
			}
		case what < 9:
			s.disconnect(0, 1+r.IntN(len(s.nodes)-1))
		default:
			s.connect(s.nodes[0], s.nodes[1+r.IntN(len(s.nodes)-1)])
		}
		n.act()
	}
	s.garble = nil
	for _, pid := range g.pids {
		if pid.Node() == s.nodes[0].name {
			s.kill(pid)
		}
	}
	s.crash(0, nil)
	tell := func() string {
		for _, n := range s.nodes {
			t.Log(n.m.Dump())
		}
		return fmt.Sprintf("sequence %d, %d nodes, after %d steps; log: %s", number, len(s.nodes), s.steps, strings.Join(s.logs, "\n"))
	}
	if !s.rest() {
		require.FailNow(t, "it does not come to rest", tell())
	}
	for i := range s.nodes {
		for j := range i {
			s.disconnect(i, j)
		}
	}
	if !s.heal() {
		require.FailNow(t, "no full mesh", tell())
	}
	if faults := s.faults(true); len(faults) > 0 {
		require.Empty(t, faults, tell())
	}
	if waiting > 0 {
		require.Zero(t, waiting, "requests have not been answered: %s", tell())
	}
	return s.steps
}

// garbler turns right messages into wrong ones.
type garbler struct {
	rand *rand.Rand
	s    *sim
	said []any // messages and parts of them
	pids []wire.PID
}

// seen keeps a message and its parts.
func (g *garbler) seen(msg any) {
	if len(g.said) < 300 {
		g.said = append(g.said, msg)
	} else {
		g.said[g.rand.IntN(len(g.said))] = msg
	}
	if t, ok := msg.(wire.Tuple); ok {
		for _, x := range t {
			g.seen(x)
		}
	}
}

// garble returns a message as it is, or changed.
func (g *garbler) garble(msg any) any {
	switch g.rand.IntN(6) {
	case 0:
		return g.change(msg)
	case 1:
		return g.another()
	}
	return msg
}

func (g *garbler) another() any {
	if len(g.said) == 0 || g.rand.IntN(8) == 0 {
		return g.term()
	}
	msg := g.said[g.rand.IntN(len(g.said))]
	if g.rand.IntN(2) == 0 {
		return g.change(msg)
	}
	return msg
}

// change changes one part of a term.
func (g *garbler) change(t any) any {
	r := g.rand
	var parts []any
	switch t := t.(type) {
	case wire.Tuple:
		parts = t
	case wire.List:
		parts = t
	}
	if len(parts) == 0 || r.IntN(5) == 0 {
		return g.term()
	}
	parts, i := slices.Clone(parts), r.IntN(len(parts))
	switch r.IntN(8) {
	case 0:
		parts = slices.Delete(parts, i, i+1)
	case 1:
		parts = slices.Insert(parts, i, g.term())
	default:
		parts[i] = g.change(parts[i])
	}
	if _, is := t.(wire.List); is {
		return wire.List(parts)
	}
	return wire.Tuple(parts)
}

func (g *garbler) pid() wire.PID {
	if len(g.pids) == 0 || g.rand.IntN(3) == 0 {
		return wire.NewOrigin(wire.NodeID{Name: "n0@h", Creation: 99}).PID(uint64(g.rand.IntN(4)))
	}
	return g.pids[g.rand.IntN(len(g.pids))]
}

// term returns a random term.
func (g *garbler) term() any {
	r := g.rand
	switch r.IntN(14) {
	case 0:
		return r.IntN(12) - 2
	case 1:
		return new(big.Int).Lsh(big.NewInt(1), 200)
	case 2:
		return wire.Atom(fmt.Sprintf("name%d", r.IntN(6)))
	case 3, 4:
		return wire.Atom(fmt.Sprintf("n%d@h", r.IntN(len(g.s.nodes)+1)))
	case 5:
		return g.pid()
	case 6:
		return wire.List{}
	case 7:
		return wire.List{g.term(), g.term()}
	case 8:
		return wire.Tuple{g.term(), g.term()}
	case 9:
		return wire.ImproperList{Head: []any{g.term()}, Tail: g.term()}
	case 10:
		return strings.Repeat("long ", 2000)
	case 11:
		return nil
	case 12:
		return tables.NotifyAll
	}
	return []wire.Atom{"global", "undefined", "true", "nodeup", "cancel", "$gen_cast", "lock_set", ""}[r.IntN(8)]
}
