package pg

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/internal/testkit"
	"github.com/actornode/actornode/node"
	"github.com/actornode/actornode/wire"
)

// sim is a cluster without nodes: machines, and pg.erl's in Go, in a network that delivers, loses and connects at
// random. Signals between a pair of nodes keep their order, as in Erlang.
type sim struct {
	t     *testing.T
	rand  *rand.Rand
	nodes []*simNode
	links map[[2]int]*simLink // by indices, the smaller first
	log   []string
}

// simLink is a connection, with the signals that are on their way, by direction.
type simLink struct {
	way [2][]func()
	// unseen: the node at the end of that direction has not noticed yet that the connection is lost.
	lost   bool
	unseen [2]bool
}

type simNode struct {
	s       *sim
	index   int
	otp     bool // runs pg.erl, and is visible
	origin  wire.Origin
	life    uint32
	numbers uint64

	scope   node.PID // zero: the scope does not run
	m       *machine
	o       *otp
	mailbox []func()

	alive map[node.PID]bool
	in    map[node.Ref]simWatch // monitors of processes here
	out   map[node.Ref]simWatch // monitors of processes elsewhere

	seen map[string][]node.PID // what a watcher of the scope has been told
}

type simWatch struct {
	by, pid node.PID
	name    node.Atom // instead of pid
	to      int       // node of pid
}

const simScope node.Atom = "scope"

func (n *simNode) name() node.Atom { return node.Atom(fmt.Sprintf("n%d@h", n.index)) }

func (n *simNode) pid() node.PID { n.numbers++; return n.origin.PID(n.numbers) }

func (s *sim) note(format string, args ...any) { s.log = append(s.log, fmt.Sprintf(format, args...)) }

func (s *sim) at(name node.Atom) *simNode {
	for _, n := range s.nodes {
		if n.name() == name {
			return n
		}
	}
	return nil
}

// boot begins a new life of n.
func (n *simNode) boot() {
	n.life++
	n.origin = wire.NewOrigin(wire.NodeID{Name: n.name(), Creation: n.life})
	n.numbers, n.mailbox = 0, nil
	n.alive, n.in, n.out = map[node.PID]bool{}, map[node.Ref]simWatch{}, map[node.Ref]simWatch{}
	n.scope, n.m, n.o, n.seen = node.PID{}, nil, nil, nil
}

// link returns the link between two nodes, and n's direction.
func (n *simNode) link(to int) (*simLink, int) {
	a, b, way := n.index, to, 0
	if a > b {
		a, b, way = b, a, 1
	}
	l := n.s.links[[2]int{a, b}]
	if l == nil {
		l = &simLink{lost: true}
		n.s.links[[2]int{a, b}] = l
	}
	return l, way
}

// up reports whether n believes that the node to is connected.
func (n *simNode) up(to int) bool {
	l, way := n.link(to)
	return !l.lost || l.unseen[way]
}

// transmit puts a signal on its way; if the link is lost unseen, the signal is lost.
func (n *simNode) transmit(to int, f func()) {
	if l, way := n.link(to); !l.lost {
		l.way[way] = append(l.way[way], f)
	}
}

// mail sends a message to pid here.
func (n *simNode) mail(pid node.PID, f func()) {
	if pid == n.scope && !pid.IsZero() {
		n.mailbox = append(n.mailbox, f)
	}
}

// world, for machine and otp.

func (n *simNode) Send(dest node.Dest, msg any) error {
	to, ok := dest.(node.PID)
	if !ok {
		r := n.s.at(dest.(node.At).Node)
		if n.up(r.index) {
			n.transmit(r.index, func() { r.mail(r.scope, func() { r.receive(n, msg) }) })
		}
		return nil
	}
	if to.Node() == n.name() {
		if c, ok := msg.(Change); ok {
			n.watched(c)
		}
		return nil
	}
	r := n.s.at(to.Node())
	if !n.up(r.index) {
		return node.ErrNotHere
	}
	n.transmit(r.index, func() { r.mail(to, func() { r.receive(n, msg) }) })
	return nil
}

func (n *simNode) Monitor(to node.Dest) node.Ref {
	if at, ok := to.(node.At); ok {
		return n.monitor(simWatch{by: n.scope, name: at.Name, to: n.s.at(at.Node).index})
	}
	pid := to.(node.PID)
	return n.monitor(simWatch{by: n.scope, pid: pid, to: n.s.at(pid.Node()).index})
}

func (n *simNode) monitor(w simWatch) node.Ref {
	n.numbers++
	ref := n.origin.RefOf(n.numbers)
	r := n.s.nodes[w.to]
	if r == n {
		r.watch(ref, w)
		return ref
	}
	n.out[ref] = w
	if !n.up(w.to) {
		n.tell(ref, w)
		return ref
	}
	n.transmit(w.to, func() { r.watch(ref, w) })
	return ref
}

// watch starts a monitor of a process here.
func (n *simNode) watch(ref node.Ref, w simWatch) {
	if w.name != "" {
		w.pid = n.scope
	}
	n.in[ref] = w
	if !n.alive[w.pid] {
		n.fire(ref)
	}
}

// fire sends the Down of a monitor of a process here.
func (n *simNode) fire(ref node.Ref) {
	w := n.in[ref]
	delete(n.in, ref)
	r := n.s.at(w.by.Node())
	if r == n {
		n.mail(w.by, func() { n.down(node.Down{Ref: ref, PID: w.pid}) })
		return
	}
	n.transmit(r.index, func() {
		if w, ok := r.out[ref]; ok {
			r.tell(ref, w)
		}
	})
}

// tell delivers the Down of a monitor of a process elsewhere.
func (n *simNode) tell(ref node.Ref, w simWatch) {
	delete(n.out, ref)
	d := node.Down{Ref: ref, PID: w.pid}
	if w.name != "" {
		d = node.Down{Ref: ref, Name: w.name, Node: n.s.nodes[w.to].name()}
	}
	n.mail(w.by, func() { n.down(d) })
}

func (n *simNode) DemonitorFlush(ref node.Ref) bool {
	if _, ok := n.in[ref]; ok {
		delete(n.in, ref)
		return true
	}
	w, ok := n.out[ref]
	if ok {
		delete(n.out, ref)
		n.transmit(w.to, func() { delete(n.s.nodes[w.to].in, ref) })
	}
	return ok
}

// What a scope process does.

// guard runs f, which may crash pg.erl. What a machine does must not cause a crash.
func (n *simNode) guard(from *simNode, f func()) {
	defer func() {
		switch c := recover().(type) {
		case nil:
		case crash:
			if from == nil || !from.otp {
				n.s.fatal("n%d, pg.erl, crashes on what n%v sent: %s", n.index, from, c.why)
			}
			n.s.note("n%d crashes by itself: %s", n.index, c.why)
			n.kill(n.scope)
		default:
			panic(c)
		}
	}()
	f()
}

func (n *simNode) String() string { return fmt.Sprint(n.index) }

func (n *simNode) receive(from *simNode, msg any) {
	n.s.note("n%d gets %v", n.index, msg)
	if n.otp {
		n.guard(from, func() { n.o.handle(msg) })
		return
	}
	t := msg.(wire.Tuple)
	if t[0] == genCast {
		require.True(n.s.t, n.m.handleCast(t[1].(wire.Tuple)))
	} else {
		require.True(n.s.t, n.m.handle(t))
	}
}

func (n *simNode) down(d node.Down) {
	n.s.note("n%d sees the end of %v %v", n.index, d.PID, d.Node)
	if n.otp {
		n.guard(n, func() { n.o.down(d) })
	} else if n.m.down(d.Ref, d.PID, d.Node) {
		n.seek()
	}
}

func (n *simNode) seek() bool {
	var up []node.Atom
	for _, r := range n.s.nodes {
		if r != n && n.up(r.index) {
			up = append(up, r.name())
		}
	}
	return n.m.seek(up)
}

// nodeUp: OTP sees visible nodes only, and a machine's are hidden.
func (n *simNode) nodeUp(r *simNode) {
	if n.scope.IsZero() || n.otp && !r.otp {
		return
	}
	n.mail(n.scope, func() {
		n.s.note("n%d sees n%d up", n.index, r.index)
		n.Send(node.At{Name: simScope, Node: r.name()}, wire.Tuple{discover, n.scope})
	})
}

// start starts the scope.
func (n *simNode) start() {
	n.scope = n.pid()
	n.alive[n.scope] = true
	n.s.note("n%d starts its scope", n.index)
	if n.otp {
		n.o = newOTP(n, n.scope)
	} else {
		n.m = newMachine(n.scope, simScope, limited(DefaultMembers, DefaultGroups))
		n.m.ops = n
		n.seen = map[string][]node.PID{}
		n.m.watch(n.pid(), nil) // dead already, but told until it knows
		n.watchers()
	}
	for _, r := range n.s.nodes {
		if r != n && n.up(r.index) && (!n.otp || r.otp) {
			n.Send(node.At{Name: simScope, Node: r.name()}, wire.Tuple{discover, n.scope})
		}
	}
}

// watchers keeps the watcher of the scope alive.
func (n *simNode) watchers() {
	for _, pid := range n.m.all {
		n.alive[pid] = true
	}
	n.mailbox = nil
}

// watched applies a change to what the watcher knows.
func (n *simNode) watched(c Change) {
	g := c.Group.(string)
	if c.Join {
		n.seen[g] = append(n.seen[g], c.PIDs...)
		return
	}
	rest, gone := subtract(n.seen[g], c.PIDs)
	require.Len(n.s.t, gone, len(c.PIDs), "n%d is told of the leave of who is not there", n.index)
	if n.seen[g] = rest; len(rest) == 0 {
		delete(n.seen, g)
	}
}

// kill ends a process.
func (n *simNode) kill(pid node.PID) {
	n.s.note("n%d: %v exits", n.index, pid)
	delete(n.alive, pid)
	if pid == n.scope {
		n.scope, n.m, n.o, n.mailbox, n.seen = node.PID{}, nil, nil, nil, nil
		for ref, w := range n.out {
			delete(n.out, ref)
			n.transmit(w.to, func() { delete(n.s.nodes[w.to].in, ref) })
		}
	}
	for _, ref := range n.refs() {
		w := n.in[ref]
		if w.by == pid {
			delete(n.in, ref)
		} else if w.pid == pid {
			n.fire(ref)
		}
	}
}

// refs returns the monitors of processes here, in a fixed order.
func (n *simNode) refs() []node.Ref {
	var all []node.Ref
	for ref := range n.in {
		all = append(all, ref)
	}
	slices.SortFunc(all, func(a, b node.Ref) int { return wire.Compare(a, b) })
	return all
}

// What happens to the network.

// cut loses the link; both sides notice it later, each in its own time.
func (s *sim) cut(a, b *simNode) {
	l, _ := a.link(b.index)
	if l.lost {
		return
	}
	s.note("n%d and n%d lose each other", a.index, b.index)
	*l = simLink{lost: true, unseen: [2]bool{true, true}}
}

// notice lets n notice that.
func (n *simNode) notice(r *simNode) {
	l, way := n.link(r.index)
	if !l.lost || !l.unseen[way] {
		return
	}
	l.unseen[way] = false
	n.s.note("n%d notices that n%d is gone", n.index, r.index)
	for ref, w := range n.out {
		if w.to == r.index {
			n.tell(ref, w)
		}
	}
	for ref, w := range n.in {
		if w.by.Node() == r.name() {
			delete(n.in, ref)
		}
	}
}

func (s *sim) connect(a, b *simNode) {
	l, _ := a.link(b.index)
	if !l.lost {
		return
	}
	a.notice(b)
	b.notice(a)
	*l = simLink{}
	s.note("n%d and n%d connect", a.index, b.index)
	a.nodeUp(b)
	b.nodeUp(a)
}

// step does one of the possible actions. It returns false if there is none.
func (s *sim) step() bool {
	var ready []func()
	for _, n := range s.nodes {
		if len(n.mailbox) > 0 {
			ready = append(ready, func() { f := n.mailbox[0]; n.mailbox = n.mailbox[1:]; f() })
		}
		for _, r := range s.nodes {
			if r == n {
				continue
			}
			l, way := n.link(r.index)
			if len(l.way[way]) > 0 {
				ready = append(ready, func() { f := l.way[way][0]; l.way[way] = l.way[way][1:]; f() })
			}
			if l.lost && l.unseen[way] {
				ready = append(ready, func() { n.notice(r) })
			}
		}
	}
	if len(ready) == 0 {
		return false
	}
	ready[s.rand.IntN(len(ready))]()
	return true
}

// act does what users, operators and bad luck do.
func (s *sim) act() {
	n := s.nodes[s.rand.IntN(len(s.nodes))]
	r := s.nodes[s.rand.IntN(len(s.nodes))]
	g := string(rune('a' + s.rand.IntN(4)))
	switch k := s.rand.IntN(100); {
	case k < 35:
		n.change(g, n.choose(), true)
	case k < 60:
		n.change(g, n.choose(), false)
	case k < 70:
		if pids := n.choose(); pids[0] != n.scope && n.alive[pids[0]] {
			n.kill(pids[0])
		}
	case k < 78 && n != r:
		s.cut(n, r)
	case k < 90 && n != r:
		s.connect(n, r)
	case k < 93:
		if n.scope.IsZero() {
			n.start()
		} else if k == 90 {
			n.kill(n.scope)
		}
	case k < 94: // killed, and back at once
		for _, r := range s.nodes {
			if r != n {
				s.cut(n, r)
				r.notice(n)
				n.notice(r)
			}
		}
		n.boot()
	case !n.otp && n.m != nil:
		n.mail(n.scope, func() { n.seek() })
	}
}

// choose returns some processes of n, perhaps one twice or a dead one.
func (n *simNode) choose() []node.PID {
	var pids []node.PID
	for range 1 + n.s.rand.IntN(3) {
		pid := n.origin.PID(uint64(1000 + n.s.rand.IntN(4)))
		if n.numbers < 2000 {
			n.numbers = 2000
			for i := range uint64(4) {
				n.alive[n.origin.PID(1000+i)] = true
			}
		}
		pids = append(pids, pid)
	}
	return pids
}

func (n *simNode) change(g string, pids []node.PID, in bool) {
	n.mail(n.scope, func() {
		n.s.note("n%d: %v in %s: %v", n.index, pids, g, in)
		switch {
		case n.otp && in:
			n.o.join(g, pids)
		case n.otp:
			n.o.leave(g, pids)
		case in:
			n.m.join(g, pids)
		default:
			n.m.leave(g, pids)
		}
	})
}

func (s *sim) fatal(format string, args ...any) {
	s.t.Fatalf("%s\n%s", fmt.Sprintf(format, args...), strings.Join(s.log, "\n"))
}

// here returns the processes of n that have joined, by group, in order.
func (n *simNode) here() map[string][]node.PID {
	all := map[string][]node.PID{}
	if n.otp {
		for g, row := range n.o.ets {
			if len(row[1]) > 0 {
				all[g] = sorted(row[1])
			}
		}
		return all
	}
	for g := range n.m.table.groups() {
		if v := g.look(); len(v.local) > 0 {
			all[g.term.(string)] = sorted(v.local)
		}
	}
	return all
}

// everybody returns the processes of wanted nodes that n believes have joined.
func (n *simNode) everybody(wanted func(*simNode) bool) map[string][]node.PID {
	all := map[string][]node.PID{}
	add := func(g string, pids []node.PID) {
		var some []node.PID
		for _, p := range pids {
			if wanted(n.s.at(p.Node())) {
				some = append(some, p)
			}
		}
		if len(some) > 0 {
			all[g] = sorted(some)
		}
	}
	if n.otp {
		for g, row := range n.o.ets {
			add(g, row[0])
		}
		return all
	}
	for g := range n.m.table.groups() {
		add(g.term.(string), g.look().all)
	}
	return all
}

func sorted(pids []node.PID) []node.PID {
	return slices.SortedFunc(slices.Values(pids), func(a, b node.PID) int { return wire.Compare(a, b) })
}

// settle connects everybody, starts every scope and waits.
func (s *sim) settle() {
	for range 3 {
		for _, n := range s.nodes {
			if n.scope.IsZero() {
				n.start()
			}
			for _, r := range s.nodes[:n.index] {
				s.connect(n, r)
			}
		}
		for s.step() {
		}
	}
	for range 5 { // MonitorAt, discover, and what follows from it
		for _, n := range s.nodes {
			if n.scope.IsZero() { // pg.erl has crashed, and not because of us
				n.start()
			}
			if !n.otp {
				n.seek()
			}
		}
		for s.step() {
		}
	}
}

// Random operations run on clusters of machines and pg.erl: in the end all see the same, a watcher has been told of all
// changes, and pg.erl has not crashed.
func TestModel(t *testing.T) {
	for seed := range testkit.By(400, 3000, 100_000) {
		s := &sim{t: t, rand: rand.New(rand.NewPCG(uint64(seed), 1)), links: map[[2]int]*simLink{}}
		for i := range 2 + s.rand.IntN(3) {
			n := &simNode{s: s, index: i, otp: s.rand.IntN(2) == 0}
			n.boot()
			s.nodes = append(s.nodes, n)
		}
		s.nodes[0].otp = false
		s.note("seed %d, machines and pg.erl: %v", seed, s.nodes)
		for range s.rand.IntN(300) {
			if s.rand.IntN(3) == 0 {
				s.act()
			} else {
				s.step()
			}
		}
		s.settle()
		s.compare()
	}
}

func (s *sim) compare() {
	for _, n := range s.nodes {
		// What nodes of pg.erl know of each other is not our concern.
		wanted := func(r *simNode) bool { return !n.otp || !r.otp }
		want := map[string][]node.PID{}
		for _, r := range s.nodes {
			if wanted(r) {
				for g, pids := range r.here() {
					want[g] = sorted(append(want[g], pids...))
				}
			}
		}
		if got := n.everybody(wanted); fmt.Sprint(got) != fmt.Sprint(want) {
			s.fatal("n%d (pg.erl: %v) sees\n%v, not\n%v", n.index, n.otp, got, want)
		}
		if n.otp {
			continue
		}
		told := map[string][]node.PID{}
		for g, pids := range n.seen {
			told[g] = sorted(pids)
		}
		if fmt.Sprint(told) != fmt.Sprint(want) {
			s.fatal("the watcher of n%d knows\n%v, not\n%v", n.index, told, want)
		}
		require.NoError(s.t, n.m.check())
	}
}

// check finds violations of the invariants of machine and table.
func (m *machine) check() error {
	for pid, k := range m.local {
		if k.groups.len() == 0 {
			return fmt.Errorf("%v is in local, but in no group", pid)
		}
	}
	sum := map[*group][]node.PID{}
	for pid, k := range m.local {
		for g := range k.groups.all() {
			sum[g] = append(sum[g], pid)
		}
	}
	for _, p := range m.peers {
		for g, pids := range p.groups {
			if pids.len() == 0 {
				return fmt.Errorf("a peer has nobody in %v", g.term)
			}
			sum[g] = append(sum[g], pids.list()...)
		}
	}
	n := 0
	for g := range m.table.groups() {
		n++
		v := g.look()
		if !slices.Equal(sorted(sum[g]), sorted(v.all)) {
			return fmt.Errorf("%v: %v in the lists, %v in the table", g.term, sum[g], v.all)
		}
	}
	if n != len(sum) {
		return fmt.Errorf("%d groups in the lists, %d in the table", len(sum), n)
	}
	return nil
}
