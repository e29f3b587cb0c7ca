package global_test

import (
	"container/heap"
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/actornode/actornode/internal/kernel/global"
	"github.com/actornode/actornode/internal/kernel/tables"
	"github.com/actornode/actornode/wire"
)

// sim is a cluster of machines without clock, socket or goroutine. Messages between machines arrive in order, some time
// later; connections break, are made, and are forbidden; processes and nodes die.
type sim struct {
	rand       *rand.Rand
	nodes      []*simNode
	cut        map[[2]int]bool // smaller number first: no connection can be made
	now        time.Duration
	alarms     alarms
	seq        int
	serial     uint64
	dead       map[wire.PID]bool
	watches    map[wire.PID]map[*simNode]bool
	steps      int
	killed     func(pid wire.PID) // called by the resolver of a clash
	overlapped bool               // partitions have overlapped at rest
	given      func(name any)     // the name goes to the other process of a clash: the node of the first could not be asked
	logs       []string
	sent       int // messages between nodes
	// garble changes what a node sends to others; nil: nothing changes it.
	garble func(from *simNode, msg any) any
}

// simNode is one life of a node, or what is left of it.
type simNode struct {
	s      *sim
	index  int
	name   wire.Atom
	life   uint32
	m      *global.Machine
	table  *tables.GlobalNames
	origin wire.Origin
	links  map[int]bool     // connected nodes
	in     map[int][]func() // what comes from each node, and from itself
	asks   map[int][]uint64 // questions that wait for a node
}

type alarm struct {
	at  time.Duration
	seq int
	f   func()
}

type alarms []alarm

func (a alarms) Len() int { return len(a) }
func (a alarms) Less(i, j int) bool {
	return a[i].at < a[j].at || a[i].at == a[j].at && a[i].seq < a[j].seq
}
func (a alarms) Swap(i, j int) { a[i], a[j] = a[j], a[i] }
func (a *alarms) Push(x any)   { *a = append(*a, x.(alarm)) }
func (a *alarms) Pop() any {
	old := *a
	x := old[len(old)-1]
	*a = old[:len(old)-1]
	return x
}

func newSim(r *rand.Rand, n int, change func(i int, c *global.Config)) *sim {
	s := &sim{rand: r, cut: map[[2]int]bool{}, dead: map[wire.PID]bool{}, watches: map[wire.PID]map[*simNode]bool{}}
	for i := range n {
		s.nodes = append(s.nodes, nil)
		s.start(i, change)
	}
	return s
}

// start begins another life of a node.
func (s *sim) start(i int, change func(i int, c *global.Config)) {
	s.serial++
	n := &simNode{s: s, index: i, name: wire.Atom(fmt.Sprintf("n%d@h", i)), life: uint32(s.serial), links: map[int]bool{},
		in: map[int][]func(){}, asks: map[int][]uint64{}, table: new(tables.GlobalNames)}
	n.table.Alive = func(pid wire.PID) bool { return pid.Node() != n.name || !s.dead[pid] }
	n.origin = wire.NewOrigin(wire.NodeID{Name: n.name, Creation: n.life})
	cfg := global.Config{Self: n.name, Creation: n.life, Locker: n.origin.PID(1), Registrar: n.origin.PID(2), Names: n.table,
		Rand: s.rand.IntN}
	if change != nil {
		change(i, &cfg)
	}
	n.m = global.New(cfg)
	s.nodes[i] = n
}

func (s *sim) named(name wire.Atom) *simNode {
	for _, n := range s.nodes {
		if n.name == name {
			return n
		}
	}
	return nil
}

func key(i, j int) [2]int { return [2]int{min(i, j), max(i, j)} }

// spawn makes a process.
func (n *simNode) spawn() wire.PID {
	n.s.serial++
	return n.origin.PID(n.s.serial + 10)
}

// says returns what n sends in place of a message.
func (n *simNode) says(msg any) any {
	if n.s.garble == nil {
		return msg
	}
	return n.s.garble(n, msg)
}

// later queues f at n as something that comes from another node.
func (n *simNode) later(from int, f func()) { n.in[from] = append(n.in[from], f) }

// act carries out what the machine of n asks for.
func (n *simNode) act() {
	for _, a := range n.m.Take() {
		n.s.do(n, a)
	}
}

func (s *sim) do(n *simNode, a global.Action) {
	switch a.Kind {
	case global.Send:
		to := s.named(a.Node)
		if to == nil || !n.links[to.index] {
			return
		}
		s.sent++
		from := n.name
		if t := a.Msg.(wire.Tuple); t[0] == any(wire.Atom("$gen_cast")) && t[1].(wire.Tuple)[0] == any(wire.Atom("exchange")) {
			slices.SortFunc(t[1].(wire.Tuple)[2].(wire.List), wire.Compare) // so that a seed can be repeated
		}
		s.trace("%s -> %s SEND %v", n.name, a.Node, a.Msg)
		msg := n.says(a.Msg)
		to.later(n.index, func() {
			s.trace("%s <- %s GOT %v", to.name, from, msg)
			if t, ok := msg.(wire.Tuple); ok && len(t) == 2 && t[0] == any(wire.Atom("$gen_cast")) {
				to.m.Cast(from, t[1])
			} else {
				to.m.Info(from, msg)
			}
		})
	case global.SendTo:
		if to := s.named(a.PID.Node()); to != nil && to.life == a.PID.Creation() && n.links[to.index] && a.PID.Number() == 1 {
			msg := n.says(a.Msg)
			to.later(n.index, func() { to.m.Info(n.name, msg) })
		}
	case global.Reply:
		a.From.(func(v any))(a.Msg)
	case global.Ask, global.AskThere:
		s.ask(n, a)
	case global.Watch:
		s.watch(n, a.PID)
	case global.Unwatch:
		delete(s.watches[a.PID], n)
		if len(s.watches[a.PID]) == 0 {
			delete(s.watches, a.PID)
		}
	case global.Connect:
		to := s.named(a.Node)
		ok := to != nil && s.connect(n, to)
		n.later(n.index, func() { n.m.Connected(a.Node, ok) })
	case global.Disconnect:
		if to := s.named(a.Node); to != nil {
			s.disconnect(n.index, to.index)
		}
	case global.Resolve:
		c := a.Msg.(global.Clash)
		v := c.His
		if wire.Compare(c.Ours.Node(), c.His.Node()) < 0 {
			v = c.Ours
		}
		loser := c.His
		if v == c.His {
			loser = c.Ours
		}
		if s.rand.IntN(20) == 0 {
			if s.given != nil {
				s.given(c.Name)
			}
			n.later(n.index, func() { n.m.Answered(a.ID, nil, false) })
			return
		}
		s.kill(loser)
		n.later(n.index, func() { n.m.Answered(a.ID, v, true) })
	case global.After:
		s.after(a.Delay, func() {
			if s.nodes[n.index] == n {
				n.m.Timeout(a.ID)
				n.act()
			}
		})
	case global.Warn, global.Inform:
		s.logs = append(s.logs, fmt.Sprintf("%s: %v (%s)", n.name, a.Msg, a.Node))
	}
}

func (s *sim) after(d time.Duration, f func()) {
	s.seq++
	heap.Push(&s.alarms, alarm{s.now + d, s.seq, f})
}

func (s *sim) ask(n *simNode, a global.Action) {
	to := s.named(a.Node)
	if to == nil || a.Kind == global.AskThere && !n.links[to.index] || !s.connect(n, to) {
		n.later(n.index, func() { n.m.Answered(a.ID, nil, false) })
		return
	}
	s.sent++
	s.trace("%s -> %s ASK %v", n.name, a.Node, a.Msg)
	n.asks[to.index] = append(n.asks[to.index], a.ID)
	body := n.says(a.Msg)
	to.later(n.index, func() {
		to.m.Call(func(v any) {
			if !to.links[n.index] {
				return
			}
			s.sent++
			s.trace("%s answers %s %v: %v", to.name, n.name, a.Msg, v)
			n.later(to.index, func() {
				n.asks[to.index] = slices.DeleteFunc(n.asks[to.index], func(id uint64) bool { return id == a.ID })
				n.m.Answered(a.ID, to.says(v), true)
			})
		}, a.PID, body)
	})
}

func (s *sim) watch(n *simNode, pid wire.PID) {
	if s.watches[pid] == nil {
		s.watches[pid] = map[*simNode]bool{}
	}
	s.watches[pid][n] = true
	at := s.named(pid.Node())
	from := n.index
	if at != nil && at != n && n.links[at.index] {
		from = at.index
	} else if at != n {
		s.gone(n, n.index, pid)
		return
	}
	if s.dead[pid] || at.life != pid.Creation() {
		s.gone(n, from, pid)
	}
}

// gone tells n that a process has gone, if n still watches it when that arrives.
func (s *sim) gone(n *simNode, from int, pid wire.PID) {
	n.later(from, func() {
		if s.watches[pid][n] {
			delete(s.watches[pid], n)
			s.trace("%s GONE %v", n.name, pid)
			n.m.Gone(pid)
		}
	})
}

// kill ends a process.
func (s *sim) kill(pid wire.PID) {
	if s.dead[pid] {
		return
	}
	s.dead[pid] = true
	if s.killed != nil {
		s.killed(pid)
	}
	for _, n := range s.nodes {
		if !s.watches[pid][n] {
			continue
		}
		at := s.named(pid.Node())
		if at.life == pid.Creation() && (at == n || n.links[at.index]) {
			s.gone(n, at.index, pid)
		}
	}
}

// connect makes a connection, if that is allowed.
func (s *sim) connect(a, b *simNode) bool {
	if a == b || a.links[b.index] {
		return true
	}
	if s.cut[key(a.index, b.index)] {
		return false
	}
	a.links[b.index], b.links[a.index] = true, true
	a.later(b.index, func() { s.trace("%s NODEUP %s", a.name, b.name); a.m.NodeUp(b.name) })
	b.later(a.index, func() { s.trace("%s NODEUP %s", b.name, a.name); b.m.NodeUp(a.name) })
	return true
}

// disconnect ends a connection; everything in transit is lost.
func (s *sim) disconnect(i, j int) {
	a, b := s.nodes[i], s.nodes[j]
	if i == j || !a.links[j] {
		return
	}
	delete(a.links, j)
	delete(b.links, i)
	s.lose(a, b)
	s.lose(b, a)
}

// lose ends a connection on the side of n. Messages that arrived before are handled, or some of them are lost.
func (s *sim) lose(n, from *simNode) {
	if q := n.in[from.index]; len(q) > 0 && s.rand.IntN(2) == 0 {
		keep := s.rand.IntN(len(q) + 1)
		if keep == 0 {
			keep = 1 // NodeUp is not lost
		}
		n.in[from.index] = q[:keep]
	}
	n.later(from.index, func() {
		asked := n.asks[from.index]
		delete(n.asks, from.index)
		var pids []wire.PID
		for pid, by := range s.watches {
			if by[n] && pid.Node() == from.name {
				pids = append(pids, pid)
			}
		}
		slices.SortFunc(pids, func(a, b wire.PID) int { return wire.Compare(a, b) })
		for _, pid := range pids {
			delete(s.watches[pid], n)
			s.trace("%s GONE %v", n.name, pid)
			n.m.Gone(pid)
		}
		for _, id := range asked {
			n.m.Answered(id, nil, false)
		}
		s.trace("%s NODEDOWN %v", n.name, from.name)
		n.m.NodeDown(from.name)
	})
}

// crash ends a node and begins another life of it.
func (s *sim) crash(i int, change func(i int, c *global.Config)) {
	n := s.nodes[i]
	for j := range s.nodes {
		s.disconnect(i, j)
	}
	for _, by := range s.watches {
		delete(by, n)
	}
	s.start(i, change)
}

// deliver has one node handle one arrived message, chosen at random. It returns false if there is none.
func (s *sim) deliver() bool {
	type place struct {
		n    *simNode
		from int
	}
	var all []place
	for _, n := range s.nodes {
		for from := range s.nodes {
			if len(n.in[from]) > 0 {
				all = append(all, place{n, from})
			}
		}
	}
	if len(all) == 0 {
		return false
	}
	p := all[s.rand.IntN(len(all))]
	f := p.n.in[p.from][0]
	p.n.in[p.from] = p.n.in[p.from][1:]
	s.steps++
	f()
	p.n.act()
	return true
}

// tick fires the next timer. It returns false if there is none within d.
func (s *sim) tick(d time.Duration) bool {
	if len(s.alarms) == 0 || s.alarms[0].at > s.now+d {
		return false
	}
	a := heap.Pop(&s.alarms).(alarm)
	s.now = max(s.now, a.at)
	s.steps++
	a.f()
	return true
}

// step does one thing. It returns false if nothing is left to do except forgetting lost connections.
func (s *sim) step() bool {
	if s.rand.IntN(50) == 0 && s.tick(30*time.Second) {
		return true
	}
	return s.deliver() || s.tick(30*time.Minute)
}

// rest goes on until nothing is left to do. It returns false if that takes too long.
func (s *sim) rest() bool {
	for range 60_000 {
		if !s.step() {
			return true
		}
	}
	return false
}

// heal connects nodes until all are connected, or gives up.
func (s *sim) heal() bool {
	clear(s.cut)
	for range 50 {
		if !s.rest() {
			return false
		}
		full := true
		for i, a := range s.nodes {
			for _, b := range s.nodes[i+1:] {
				if !a.links[b.index] {
					full = false
					s.connect(a, b)
					if s.rand.IntN(3) == 0 {
						s.rest()
					}
				}
			}
		}
		if full {
			return true
		}
	}
	return false
}

// faults reports what is wrong at rest: in a full mesh all nodes must know each other and have the same names, with
// nothing under way.
func (s *sim) faults(names bool) (all []string) {
	wrong := func(format string, args ...any) { all = append(all, fmt.Sprintf(format, args...)) }
	var first map[any]wire.PID
	for _, n := range s.nodes {
		if got := len(n.m.Known()); got != len(s.nodes)-1 {
			wrong("%s knows %v", n.name, n.m.Known())
		}
		if got := len(n.m.Synced()); got != len(s.nodes)-1 {
			wrong("%s is in sync with %v", n.name, n.m.Synced())
		}
		if n.m.Locks() != 0 {
			wrong("%s has %d locks", n.name, n.m.Locks())
		}
		if !n.m.Quiet() {
			wrong("%s: something is under way", n.name)
		}
		if !names {
			continue
		}
		has := map[any]wire.PID{}
		for _, name := range n.table.Names() {
			has[name], _ = n.table.Whois(name)
			if pid := has[name]; s.dead[pid] || s.named(pid.Node()).life != pid.Creation() {
				wrong("%s: %v is %v, which is dead", n.name, name, pid)
			}
		}
		if first == nil {
			first = has
		} else if fmt.Sprint(has) != fmt.Sprint(first) {
			wrong("%s has the names %v, %s has %v", n.name, has, s.nodes[0].name, first)
		}
	}
	return all
}

// overlaps reports whether a node knows a second that knows a third which the first does not know.
func (s *sim) overlaps() bool {
	known := map[wire.Atom][]wire.Atom{}
	for _, n := range s.nodes {
		known[n.name] = n.m.Known()
	}
	for a, all := range known {
		for _, b := range all {
			for _, c := range known[b] {
				if c != a && !slices.Contains(all, c) {
					return true
				}
			}
		}
	}
	return false
}
