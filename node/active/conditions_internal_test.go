package active

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/internal/testkit"
)

// op is one action of an activation of the model.
type op struct {
	what string // "add", "until", "yield"
	at   int    // index of the number
	n    int    // add: how much to add; until: how much there must be
}

// world is the state that the activations share, and the record of what has happened.
type world struct {
	numbers [3]int
	log     []string
}

func (w *world) note(id, at int) { w.log = append(w.log, fmt.Sprint(id, ".", at)) }

func (w *world) holds(o op) bool { return w.numbers[o.at] >= o.n }

// randomOps makes the actions of an activation. An activation that has waited takes what it has waited for.
func randomOps(r *rand.Rand) (ops []op) {
	for range 1 + r.IntN(4) {
		at := r.IntN(3)
		switch r.IntN(3) {
		case 0:
			ops = append(ops, op{"add", at, r.IntN(4)})
		case 1:
			n := 1 + r.IntN(4)
			ops = append(ops, op{"until", at, n}, op{"add", at, -n})
		case 2:
			ops = append(ops, op{what: "yield"})
		}
	}
	return ops
}

// simple runs activations by the invariants of the package, and evaluates all conditions after each step.
type simple struct {
	world
	ready, waiting []*simpleActivation
	wasReady       bool
}

type simpleActivation struct {
	id, at int
	ops    []op
}

// run runs everything that can run.
func (s *simple) run() {
	for {
		var a *simpleActivation
		if s.wasReady {
			a = s.pick()
		}
		s.wasReady = false
		if a == nil && len(s.ready) > 0 {
			a, s.wasReady = s.ready[0], true
			s.ready = s.ready[1:]
		}
		if a == nil {
			a = s.pick()
		}
		if a == nil {
			return
		}
		s.step(a)
	}
}

func (s *simple) pick() *simpleActivation {
	i := slices.IndexFunc(s.waiting, func(a *simpleActivation) bool { return s.holds(a.ops[a.at]) })
	if i < 0 {
		return nil
	}
	a := s.waiting[i]
	s.waiting = slices.Delete(s.waiting, i, i+1)
	a.at++
	return a
}

func (s *simple) step(a *simpleActivation) {
	for ; a.at < len(a.ops); a.at++ {
		s.note(a.id, a.at)
		switch o := a.ops[a.at]; o.what {
		case "add":
			s.numbers[o.at] += o.n
		case "until":
			if !s.holds(o) {
				s.waiting = append(s.waiting, a)
				return
			}
		case "yield":
			a.at++
			s.ready = append(s.ready, a)
			return
		}
	}
}

// real runs the same activations in a group.
type real struct {
	world
	*bench
	evaluated int
	waiting   map[int]op
}

// condition returns a function with code of its own for each number.
func (w *real) condition(o op) func() bool {
	switch o.at {
	case 0:
		return func() bool { w.evaluated++; return w.numbers[0] >= o.n }
	case 1:
		return func() bool { w.evaluated++; return w.numbers[1] >= o.n }
	}
	return func() bool { w.evaluated++; return w.numbers[2] >= o.n }
}

func (w *real) add(t *testing.T, id int, ops []op) {
	a := w.begin(func(*activation) {
		for i, o := range ops {
			w.note(id, i)
			switch o.what {
			case "add":
				w.numbers[o.at] += o.n
			case "until":
				if w.holds(o) {
					continue
				}
				w.waiting[id] = o
				w.Until(w.condition(o))
				require.True(t, w.holds(o), "it holds when the activation goes on")
				delete(w.waiting, id)
			case "yield":
				w.Yield()
			}
		}
	})
	a.Object = uint64(id % 2)
}

// settle gives w turns until nothing is left to do.
func (w *real) settle() {
	for w.turn(50) {
	}
}

// A few activations run in exactly the order that evaluating all conditions after each step gives. With many of them,
// conditions that hold are still found, and a step costs no more evaluations.
func TestConditionsModel(t *testing.T) {
	r := testkit.Rand(t)
	for most, rounds := range map[int]int{few: 50, 300: 2} {
		for range rounds {
			w := &real{bench: newBench(t), waiting: map[int]op{}}
			m := &simple{}
			for id := range 5 * most {
				if len(w.waiting) == most || len(m.waiting) == most {
					break
				}
				ops := randomOps(r)
				w.add(t, id, ops)
				w.settle()
				m.ready = append(m.ready, &simpleActivation{id: id, ops: ops})
				m.run()
				if most == few {
					require.Equal(t, m.log, w.log)
					require.Equal(t, m.numbers, w.numbers)
				}
				for id, o := range w.waiting {
					require.False(t, w.holds(o), "%d waits for %v, and there is %v", id, o, w.numbers)
				}
				require.Equal(t, w.Waiting(), len(w.waiting))
			}
			w.end()
		}
	}
}

// While steps go on without end, each condition that holds, and keeps holding, is served within the number of steps
// that it takes to evaluate all of them, eachStep at a time; and a step costs no more evaluations than eachStep, and
// those of the oldest of each kind.
func TestConditionsWhileBusy(t *testing.T) {
	b := newBench(t)
	const waiting = 1000
	open, evaluated, over := -1, 0, false
	var got []int
	for i := range waiting {
		b.begin(func(*activation) {
			b.Until(func() bool { evaluated++; return open == i })
			got = append(got, i)
		})
	}
	b.begin(func(*activation) {
		for !over {
			b.Yield()
		}
	})
	b.turn(2 * waiting)
	const sweep = 2 * (waiting/eachStep + 1)
	for i := range 20 {
		open = i * 50 % 997
		before, steps := evaluated, b.Steps()
		for range sweep {
			b.stepOnce()
		}
		require.Contains(t, got, open)
		require.LessOrEqual(t, uint64(evaluated-before), (b.Steps()-steps+1)*(eachStep+1))
	}
	over = true
}

// Activations with the same condition are served in the order of waiting, wherever the sweep stands.
func TestConditionsInOrder(t *testing.T) {
	b := newBench(t)
	r := rand.New(rand.NewPCG(1, 1))
	numbers := [2]int{}
	var got [2][]int
	begun := [2]int{}
	add := func(k int) {
		i := begun[k]
		begun[k]++
		b.begin(func(a *activation) {
			if k == 0 {
				b.Until(func() bool { return numbers[0] > 0 })
			} else {
				b.Until(func() bool { return numbers[1] > 0 })
			}
			numbers[k]--
			got[k] = append(got[k], i)
		}).Object = uint64(k)
	}
	for range 2000 {
		switch r.IntN(3) {
		case 0:
			add(r.IntN(2))
		case 1:
			b.begin(func(*activation) { numbers[r.IntN(2)]++ }).Object = uint64(r.IntN(3))
		}
		b.stepOnce()
	}
	for k := range got {
		require.NotEmpty(t, got[k])
		require.True(t, slices.IsSorted(got[k]))
	}
}

// stepOnce runs a turn of one step.
func (b *bench) stepOnce() { b.turnWith(1, 0) }
