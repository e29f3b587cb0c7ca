package storm

import (
	"fmt"
	"math/rand/v2"
	"slices"
)

// step is one event of a sequence.
type step struct {
	op          string // of a command, or cut, late, stall, mend, kill, start, rest, looks
	node, other int    // numbers of nodes
	id          int    // of a client; for looks, how many
	name        string // or the resource
	method      string // see methodOf
}

func (s step) String() string {
	switch s.op {
	case "register", "again", "unregister":
		return fmt.Sprintf("%s %s at n%d: client %d, %s", s.op, s.name, s.node, s.id, s.method)
	case "lock", "try":
		return fmt.Sprintf("%s %s at n%d: client %d", s.op, s.name, s.node, s.id)
	case "unlock", "end":
		return fmt.Sprintf("%s client %d at n%d", s.op, s.id, s.node)
	case "cut", "late", "stall", "mend", "disconnect":
		return fmt.Sprintf("%s n%d n%d", s.op, s.node, s.other)
	case "kill", "start":
		return fmt.Sprintf("%s n%d", s.op, s.node)
	case "looks":
		return fmt.Sprintf("%d looks", s.id)
	}
	return s.op
}

// plan is a sequence: the nodes in it, and the steps. It depends only on its seed.
type plan struct {
	seed    uint64
	nodes   []string // erl, go or child
	settled bool     // what breaks settles before the next step
	joined  [][2]int // which nodes connect at first
	steps   []step
}

func (p plan) String() string {
	text := "nodes:"
	for i, kind := range p.nodes {
		text += fmt.Sprintf(" n%d %s", i, kind)
	}
	text += fmt.Sprintf("; settled: %v; connected first: %v\n", p.settled, p.joined)
	for i, s := range p.steps {
		text += fmt.Sprintf("%4d  %v\n", i, s)
	}
	return text
}

// methodOf returns the method of a name: all registrations of one name have the same.
func methodOf(name int) string { return []string{"exit", "exit", "notify", "all"}[name%4] }

// planner makes a plan.
type planner struct {
	*rand.Rand
	plan
	up      []bool
	clients map[int]step // those whose node has not ended since
	stalled map[pairOfNodes]bool
}

type pairOfNodes [2]int

// newPlan makes the plan of a seed. ours of the nodes are ours; -1: one to three.
func newPlan(seed uint64, ours int) plan {
	r := rand.New(rand.NewPCG(seed, 1))
	p := &planner{Rand: r, plan: plan{seed: seed}, clients: map[int]step{}, stalled: map[pairOfNodes]bool{}}
	n := 3 + r.IntN(5)
	some := 1 + r.IntN(min(3, n-1)) // always drawn, so that the steps do not depend on the kinds of the nodes
	if ours < 0 {
		ours = some
	}
	for i := range n {
		kind := "erl"
		switch {
		case i == 0 && ours > 0:
			kind = "go"
		case i < ours:
			kind = "child"
		}
		p.nodes, p.up = append(p.nodes, kind), append(p.up, true)
	}
	r.Shuffle(n, func(i, j int) { p.nodes[i], p.nodes[j] = p.nodes[j], p.nodes[i] }) // OTP asks who has the greater name
	p.settled = r.IntN(2) == 0
	for i := 1; i < n; i++ {
		p.joined = append(p.joined, [2]int{i, r.IntN(i)})
	}
	if p.settled || r.IntN(3) > 0 {
		p.add(step{op: "whole"})
	}
	for range 15 + r.IntN(30) {
		p.next()
	}
	return p.plan
}

func (p *planner) add(s step) { p.steps = append(p.steps, s) }

// broken adds a step that breaks or mends something.
func (p *planner) broken(s step) {
	if p.settled {
		p.add(step{op: "rest"})
	}
	p.add(s)
	if p.settled {
		p.add(step{op: "rest"})
	}
}

// next adds a random step, or none if the drawn one is impossible.
func (p *planner) next() {
	node, other := p.IntN(len(p.nodes)), p.IntN(len(p.nodes))
	name := p.IntN(6)
	id := len(p.steps) + 1
	what, sub := p.IntN(24), p.IntN(3)
	someone, is := p.someone()
	between := pairOfNodes{min(node, other), max(node, other)}
	up := p.up[node]
	two := node != other && up && p.up[other]
	s := step{node: node, other: other, id: id, name: fmt.Sprintf("name%d", name), method: methodOf(name)}
	resource := fmt.Sprintf("resource%d", name%3)
	switch {
	case what < 7 && up:
		s.op = "register"
		p.start(s)
	case what < 8 && up:
		s.op = "again"
		p.start(s)
	case what < 9 && up:
		s.op = "unregister"
		p.start(s)
	case what < 11 && up:
		s.name, s.op = resource, []string{"lock", "lock", "try"}[sub]
		p.start(s)
	case what < 13 && is:
		p.add(step{op: "end", node: someone.node, id: someone.id})
		delete(p.clients, someone.id)
	case what < 14 && is && (someone.op == "lock" || someone.op == "try"):
		p.add(step{op: "unlock", node: someone.node, id: someone.id})
	case what < 17 && two:
		s.op = "cut"
		switch {
		case !p.settled && sub == 1:
			s.op = "late"
		case !p.settled && sub == 2:
			s.op = "stall"
			p.stalled[between] = true
		}
		if s.op != "stall" {
			delete(p.stalled, between)
		}
		p.broken(s)
	case what < 19 && two:
		s.op = "mend"
		delete(p.stalled, between)
		p.broken(s)
	case what < 20 && two:
		s.op = "disconnect"
		p.broken(s)
	case what < 22 && up && sub == 0:
		s.op = "kill"
		p.up[node] = false
		for id, c := range p.clients {
			if c.node == node {
				delete(p.clients, id)
			}
		}
		p.broken(s)
	case what < 22 && !up:
		s.op = "start"
		p.up[node] = true
		p.broken(s)
	case what < 23 && len(p.stalled) == 0:
		p.add(step{op: "rest"})
	default:
		p.add(step{op: "looks", id: 1 + p.IntN(40)})
	}
}

func (p *planner) start(s step) {
	p.clients[s.id] = s
	p.add(s)
}

// someone returns a client whose node runs.
func (p *planner) someone() (step, bool) {
	ids := make([]int, 0, len(p.clients))
	for id := range p.clients {
		ids = append(ids, id)
	}
	if len(ids) == 0 {
		return step{}, false
	}
	slices.Sort(ids)
	return p.clients[ids[p.IntN(len(ids))]], true
}
