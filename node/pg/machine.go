package pg

import (
	"github.com/actornode/actornode/internal/kernel/process"
	"github.com/actornode/actornode/node"
	"github.com/actornode/actornode/wire"
)

// machine is a scope process without the process: pg.erl's state and what changes
// it. What it needs from outside it requests through processOps, so tests walk it, many at a
// time, without a node.
//
// Invariants:
//
//  1. A local process is in local as long as it is in a group, and monitored as
//     long as it is in local; its groups have it as often as it has joined.
//  2. The lists in local and in peers make up, group by group, the views of table.
//  3. A peer is sent joins and leaves once it has been sent a sync, and only for
//     what it knows by then: a leave from a group that it has none of ours in
//     crashes the pg of OTP 25.
//  4. What other nodes have here is counted in holders, and within limits: see held.go.
//  5. No list in a message or in peers is empty: to pg of OTP an empty group is
//     one that is there.
type machine struct {
	ops   processOps // of the message that is being handled
	self  node.PID
	name  node.Atom
	table *table

	local    map[node.PID]*joiner
	peers    map[node.PID]*peer
	watchers map[node.Ref]watcher
	all      map[node.Ref]node.PID // of the watchers, those of the scope
	seeks    map[node.Atom]*seek

	limits  *limits
	log     func(node.Atom, quotaKind) // says that a node is refused something; nil: not
	holders map[node.Atom]*holder
	here    holder // what has been joined here
}

// processOps are the operations that a machine performs. None of them makes connections: a late message must not undo a
// disconnect.
type processOps interface {
	Monitor(to node.Dest) node.Ref
	DemonitorFlush(ref node.Ref) bool
	Send(to node.Dest, msg any) error
}

// contextOps performs these operations for a process.
type contextOps struct{ *node.Context }

// Monitor is part of processOps.
func (n contextOps) Monitor(to node.Dest) node.Ref {
	return n.Context.Inside(process.Key{}).MonitorConnected(to)
}

// Send is part of processOps. A process here that does not read what it has subscribed to
// must not hold up the scope.
func (n contextOps) Send(to node.Dest, msg any) error {
	if pid, ok := to.(node.PID); ok && pid.Origin() == n.Self().Origin() {
		return n.Context.SendOpt(node.SendOptions{NoWait: true}, to, msg)
	}
	return n.Context.SendOpt(node.SendOptions{NoConnect: true}, to, msg)
}

// joiner is a local process that is in groups.
type joiner struct {
	ref    node.Ref
	groups bag[*group]
}

// peer is the scope process of another node.
type peer struct {
	of         *holder
	ref        node.Ref
	groups     map[*group]*bag[node.PID]
	synced     bool // has been sent a sync
	seekPassed bool // for the time of one seek
}

// watcher is a process that monitors joins and leaves.
type watcher struct {
	pid  node.PID
	of   *group  // nil: all
	held *holder // of a process of another node
}

// seek is the search for the scope process of a node that is connected.
type seek struct {
	ref   node.Ref // of the monitor of the name
	asked bool     // the process that has the name has been sent a discover
}

func newMachine(self node.PID, name node.Atom, l *limits) *machine {
	return &machine{
		self: self, name: name, table: new(table), limits: l, holders: make(map[node.Atom]*holder), here: holder{at: self.Node()},
		local: make(map[node.PID]*joiner), peers: make(map[node.PID]*peer),
		watchers: make(map[node.Ref]watcher), all: make(map[node.Ref]node.PID), seeks: make(map[node.Atom]*seek),
	}
}

// join adds local processes to a group.
func (m *machine) join(term any, pids []node.PID) {
	if len(pids) == 0 {
		return
	}
	g := m.table.need(term)
	for _, p := range pids {
		k := m.local[p]
		if k == nil {
			k = &joiner{ref: m.ops.Monitor(p)}
			m.local[p] = k
		}
		k.groups.add(g)
	}
	m.enter(g, pids, true)
	m.broadcast(wire.Tuple{join, m.self, g.term, pidsTerm(pids)})
}

// leave takes local processes out of a group. It reports whether any was in it.
func (m *machine) leave(term any, pids []node.PID) bool {
	g := m.table.find(term)
	if g == nil {
		return false
	}
	var gone []node.PID
	for _, p := range pids {
		k := m.local[p]
		if k == nil || !k.groups.remove(g) {
			continue
		}
		gone = append(gone, p)
		if k.groups.len() == 0 {
			m.ops.DemonitorFlush(k.ref)
			delete(m.local, p)
		}
	}
	if len(gone) == 0 {
		return false
	}
	m.exit(g, gone, true)
	m.broadcast(wire.Tuple{leave, m.self, pidsTerm(gone), wire.List{g.term}})
	return true
}

// down handles the end of a monitored process; at is the node of one that is monitored by its name. It reports whether
// a peer is lost.
func (m *machine) down(ref node.Ref, pid node.PID, at node.Atom) (lost bool) {
	if s := m.seeks[at]; s != nil && s.ref == ref {
		delete(m.seeks, at)
		return false
	}
	if k := m.local[pid]; k != nil && k.ref == ref {
		delete(m.local, pid)
		terms := make(wire.List, 0, k.groups.len())
		for g := range k.groups.all() {
			terms = append(terms, g.term)
			m.exit(g, []node.PID{pid}, true)
		}
		m.broadcast(wire.Tuple{leave, m.self, pid, terms})
		return false
	}
	if p := m.peers[pid]; p != nil && p.ref == ref {
		delete(m.peers, pid)
		for g, pids := range p.groups {
			m.drop(p.of, g, true, pids.len())
			m.exit(g, pids.list(), false)
		}
		p.of.scopes--
		m.tidyHolder(p.of)
		return true
	}
	m.forget(ref)
	return false
}

// enter and exit change a group and notify its watchers.
func (m *machine) enter(g *group, pids []node.PID, local bool) {
	if local {
		m.here.members += len(pids)
		if g.locals.Load() == 0 {
			m.here.groups += g.weigh()
		}
	}
	g.add(pids, local)
	m.notify(g, true, pids)
}

func (m *machine) exit(g *group, pids []node.PID, local bool) {
	g.remove(pids, local)
	if local {
		m.here.members -= len(pids)
		if g.locals.Load() == 0 {
			m.here.groups -= g.weigh()
		}
	}
	m.notify(g, false, pids)
	m.table.tidy(g)
}

func (m *machine) broadcast(msg wire.Tuple) {
	for pid, p := range m.peers {
		if p.synced {
			m.ops.Send(pid, msg) // if that is lost, so is the connection
		}
	}
}

// start asks the nodes that are connected for their members.
func (m *machine) start(nodes []node.Atom) {
	for _, n := range nodes {
		m.up(n)
	}
}

// up asks a node whether it has the scope.
func (m *machine) up(at node.Atom) {
	if at != m.self.Node() {
		m.ops.Send(node.At{Name: m.name, Node: at}, wire.Tuple{discover, m.self})
	}
}

// discovered: a peer asks for the members of this node.
func (m *machine) discovered(from node.PID) {
	p := m.peers[from]
	if p == nil && !m.mayAddPeer(m.holder(from.Node())) {
		return
	}
	if m.sync(from) != nil {
		return // the connection is lost; there will be another discover after it
	}
	if p == nil {
		p = m.addPeer(from)
		m.ops.Send(from, wire.Tuple{discover, m.self})
	}
	p.synced = true
}

func (m *machine) addPeer(pid node.PID) *peer {
	p := &peer{of: m.holder(pid.Node()), ref: m.ops.Monitor(pid), groups: make(map[*group]*bag[node.PID])}
	m.peers[pid] = p
	m.holders[p.of.at] = p.of
	p.of.scopes++
	return p
}

// sync sends all that are here.
func (m *machine) sync(to node.PID) error {
	here := wire.List{}
	for g := range m.table.groups() {
		if local := g.look().local; len(local) > 0 {
			here = append(here, wire.Tuple{g.term, pidList(local)})
		}
	}
	return m.ops.Send(to, wire.Tuple{genCast, wire.Tuple{sync_, m.self, here}})
}

// synced: a peer has sent its members.
func (m *machine) synced(from node.PID, entries []entry) {
	p := m.peers[from]
	if p == nil {
		if !m.mayAddPeer(m.holder(from.Node())) {
			return
		}
		p = m.addPeer(from)
	}
	before := p.groups
	for g, pids := range before {
		m.drop(p.of, g, true, pids.len())
	}
	now := make(map[*group]*bag[node.PID], min(len(entries), share(int(m.limits.groups.Load()))))
	for _, e := range entries {
		if len(e.pids) > 0 {
			m.hasThere(p, now, e.group, e.pids)
		}
	}
	p.groups = now
	for g, b := range now {
		var was []node.PID
		if before[g] != nil {
			was = before[g].list()
		}
		pids := b.list()
		gone, _ := subtract(was, pids)
		come, _ := subtract(pids, was)
		if len(come) > 0 { // first, so that the group stays
			m.enter(g, come, false)
		}
		if len(gone) > 0 {
			m.exit(g, gone, false)
		}
	}
	for g, pids := range before {
		if now[g] == nil {
			m.exit(g, pids.list(), false)
		}
	}
}

// joined: processes have joined at a peer. An unknown peer has been lost meanwhile, or has not been met.
func (m *machine) joined(from node.PID, term any, pids []node.PID) {
	p := m.peers[from]
	if p == nil || len(pids) == 0 {
		return
	}
	if g, pids := m.hasThere(p, p.groups, term, pids); g != nil {
		m.enter(g, pids, false)
	}
}

// hasThere notes in groups that processes of p are in a group: the first of them, as many
// as p may have. It returns these; nil: none.
func (m *machine) hasThere(p *peer, groups map[*group]*bag[node.PID], term any, pids []node.PID) (*group, []node.PID) {
	g := m.table.find(term)
	first := groups[g] == nil
	fits := m.mayHold(p.of, g, term, first, len(pids))
	if fits <= 0 {
		return nil, nil
	}
	pids = pids[:fits:fits]
	if g == nil {
		g = m.table.need(term)
	}
	m.hold(p.of, g, first, len(pids))
	if first {
		groups[g] = new(bag[node.PID])
	}
	for _, pid := range pids {
		groups[g].add(pid)
	}
	return g, pids
}

// left: processes have left groups at a peer.
func (m *machine) left(from node.PID, pids []node.PID, terms []any) {
	p := m.peers[from]
	if p == nil {
		return
	}
	for _, t := range terms {
		g := m.table.find(t)
		if g == nil {
			continue
		}
		there := p.groups[g]
		if there == nil {
			continue
		}
		var gone []node.PID
		for _, pid := range pids {
			if there.remove(pid) {
				gone = append(gone, pid)
			}
		}
		if len(gone) == 0 {
			continue
		}
		if there.len() == 0 {
			delete(p.groups, g)
		}
		m.drop(p.of, g, there.len() == 0, len(gone))
		m.exit(g, gone, false)
	}
}

// watch makes a process watch a group, or, with of nil, all of them.
func (m *machine) watch(pid node.PID, of *group) node.Ref {
	ref := m.ops.Monitor(pid)
	w := watcher{pid: pid, of: of}
	if pid.Origin() != m.self.Origin() {
		w.held = m.holder(pid.Node())
		m.hold(w.held, of, true, 1)
	}
	m.watchers[ref] = w
	if of == nil {
		m.all[ref] = pid
		return ref
	}
	if of.watchers == nil {
		of.watchers = make(map[node.Ref]node.PID)
	}
	of.watchers[ref] = pid
	return ref
}

// unwatch ends a watch. It reports whether there was one.
func (m *machine) unwatch(ref node.Ref) bool {
	if _, ok := m.watchers[ref]; !ok {
		return false
	}
	m.ops.DemonitorFlush(ref)
	m.forget(ref)
	return true
}

func (m *machine) forget(ref node.Ref) {
	w, ok := m.watchers[ref]
	if !ok {
		return
	}
	delete(m.watchers, ref)
	delete(m.all, ref)
	if w.held != nil {
		m.drop(w.held, w.of, true, 1)
	}
	if w.of != nil {
		delete(w.of.watchers, ref)
		m.table.tidy(w.of)
	}
}

// notify sends a change of g to all its watchers.
func (m *machine) notify(g *group, joined bool, pids []node.PID) {
	for ref, pid := range m.all {
		m.send(pid, Change{ref, joined, g.term, pids})
	}
	for ref, pid := range g.watchers {
		m.send(pid, Change{ref, joined, g.term, pids})
	}
}

func (m *machine) send(pid node.PID, c Change) {
	if pid.Origin() == m.self.Origin() {
		m.ops.Send(pid, c)
	} else {
		m.ops.Send(pid, c.term())
	}
}

// seek looks for scope processes that have not been met on the connected nodes, and must be called again after a while
// if it returns true. It is needed because OTP does not show hidden nodes to a pg that starts later than the
// connection: such a pg sends no discover to this node. A node whose scope does not run would make a dead letter of
// each discover. So seek sends one only when a monitor of the name has not fired since the last seek: then a process
// has the name.
func (m *machine) seek(nodes []node.Atom) (again bool) {
	unmet := make(map[node.Atom]bool, len(nodes))
	for _, n := range nodes {
		unmet[n] = n != m.self.Node()
	}
	for pid, p := range m.peers {
		unmet[pid.Node()] = false
		switch {
		case p.synced:
		case p.seekPassed: // its discover has not come: it knows us from before
			p.synced = m.sync(pid) == nil
		default:
			p.seekPassed, again = true, true
		}
	}
	for at, s := range m.seeks {
		if !unmet[at] {
			m.ops.DemonitorFlush(s.ref)
			delete(m.seeks, at)
		}
	}
	for at, not := range unmet {
		if !not {
			continue
		}
		again = true
		switch s := m.seeks[at]; {
		case s == nil:
			m.seeks[at] = &seek{ref: m.ops.Monitor(node.At{Name: m.name, Node: at})}
		case !s.asked:
			s.asked = true
			m.up(at)
		}
	}
	return again
}
