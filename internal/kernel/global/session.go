package global

import (
	"fmt"
	"slices"

	"github.com/actornode/actornode/internal/kernel/tables"
	"github.com/actornode/actornode/wire"
)

// session is the state of a handshake with a node.
type session struct {
	mine    int // the tag of this side, or 0
	his     any // that of the other side, or nil
	version int // that both support
	early   *early
	locked  bool      // both partitions are locked
	list    wire.List // his names, if they came before that; otherwise nil
	ops     *[]any    // operations for his names
	result  *result   // his result, if that came first
	lockID  any       // the lock of both partitions
}

// early is an init_connect that was received before the connection was known here.
type early struct{ version, init any }

// result is the result of the other side's comparison: operations on our names, the nodes it knows, names of C nodes.
type result struct{ ops, known, external any }

func (s *session) hasTag(tag any) bool {
	n, ok := wire.AsInt(tag)
	return ok && s.mine != 0 && n == int64(s.mine)
}

// session returns the session with a node, a new one if there is none.
func (m *Machine) session(node wire.Atom) *session {
	s := m.sessions[node]
	if s == nil {
		s = new(session)
		m.sessions[node] = s
	}
	return s
}

// tagOf returns the tag of the handshake with a node, or 0 if there is none.
func (m *Machine) tagOf(node wire.Atom) int {
	if s := m.sessions[node]; s != nil {
		return s.mine
	}
	return 0
}

// greet starts a handshake with a connected node.
func (m *Machine) greet(node wire.Atom) {
	if _, ok := m.known[node]; ok || m.resolvers[node] != nil {
		return
	}
	s := m.session(node)
	if e := s.early; e != nil {
		s.early = nil
		m.later(func() { m.initConnect(node, e.version, e.init) })
	}
	m.tag++
	s.mine = m.tag
	known := wire.MakeMap(len(m.known))
	for n, v := range m.known {
		known.Put(n, v)
	}
	locker := wire.Tuple{wire.Atom("locker"), wire.Atom("no_longer_a_pid"), known, m.cfg.Locker}
	m.cast(node, wire.Tuple{wire.Atom("init_connect"), wire.Tuple{Version, s.mine}, m.cfg.Self, locker})
	m.resolvers[node] = &resolver{tag: s.mine}
}

// initConnect handles a handshake that another node starts.
func (m *Machine) initConnect(node wire.Atom, version, init any) {
	v, _ := version.(wire.Tuple)
	l, _ := init.(wire.Tuple)
	if len(v) < 2 || len(l) != 4 || l[0] != any(wire.Atom("locker")) {
		m.inform(node, "a handshake of global that this node does not understand was ignored")
		return
	}
	n, ok := wire.AsInt(v[0])
	hisLocker, ok2 := l[3].(wire.PID)
	if !ok || !ok2 || hisLocker.Node() != node || n < oldestVersion {
		m.inform(node, fmt.Sprintf("a handshake of global was ignored: version %v, want %d or more", v[0], oldestVersion))
		return
	}
	if !m.connected[node] {
		return // of a connection that has ended
	}
	his := int(min(n, 1<<16))
	tag := v[1]
	if _, ok := m.pending[node]; ok {
		if his < verified {
			m.do(Action{Kind: Disconnect, Node: node})
			m.warn(node, "a node with an old version of global began a second handshake: disconnecting from it")
			return
		}
		m.sendCancel(node, tag)
		m.restart(node, m.tagOf(node))
	}
	s := m.session(node)
	s.version, s.his = min(his, Version), tag
	r := m.resolvers[node]
	if r == nil {
		s.early = &early{version, init}
		return
	}
	m.tellLocker(him{node: node, locker: hisLocker, version: s.version, mine: s.mine, his: tag})
	if his >= verified {
		m.do(Action{Kind: Send, Node: node, Msg: wire.Tuple{wire.Atom("init_connect_ack"), m.cfg.Self, tag, s.mine}})
	}
	m.pending[node] = his
}

// acknowledged handles the tags that the other side has.
func (m *Machine) acknowledged(node wire.Atom, mine, his any) {
	s := m.sessions[node]
	if !m.connected[node] {
		return
	}
	if s != nil && s.hasTag(mine) && s.his != nil && wire.Equal(s.his, his) {
		return
	}
	m.sendCancel(node, his)
	m.restart(node, m.tagOf(node))
}

// cancelConnect handles the other side giving up a handshake.
func (m *Machine) cancelConnect(node wire.Atom, tag any) {
	s := m.sessions[node]
	if s == nil || !s.hasTag(tag) {
		return
	}
	m.restart(node, s.mine)
}

// atOnce is how often a handshake is restarted without a pause.
const atOnce = 2

// restart gives up a handshake and starts another. After atOnce times it waits for a random time: two nodes that each give up
// what the other has just started could otherwise continue so for ever.
func (m *Machine) restart(node wire.Atom, tag int) {
	m.cancel(node, tag, nil)
	m.reset(node)
	delete(m.pending, node)
	if tag == 0 {
		return
	}
	m.restarts[node]++
	if times := m.restarts[node]; times > atOnce {
		m.after(m.pause(times), func() {
			if m.connected[node] {
				m.greet(node)
			}
		})
		return
	}
	m.greet(node)
}

func (m *Machine) reset(node wire.Atom) { delete(m.sessions, node) }

// sendCancel tells another node that its handshake is given up.
func (m *Machine) sendCancel(node wire.Atom, tag any) {
	if tag == nil {
		tag = wire.AtomUndefined
	}
	m.do(Action{Kind: Send, Node: node, Msg: wire.Tuple{wire.Atom("cancel_connect"), m.cfg.Self, tag}})
}

// cancel ends the work of the locker and the resolver for a handshake. The locker calls before before it releases its locks.
func (m *Machine) cancel(node wire.Atom, tag int, before func()) {
	m.tellLocker(cancelled{node, tag, before})
	if v, ok := m.pending[node]; ok && v >= verified && m.tagOf(node) == tag {
		if s := m.sessions[node]; s != nil {
			m.sendCancel(node, s.his)
		}
	}
	if r := m.resolvers[node]; r != nil && r.tag == tag {
		r.over = true
		delete(m.resolvers, node)
	}
}

// mine reports whether a message belongs to the current handshake. If not, the locker is told.
func (m *Machine) mine(node wire.Atom, tag any) bool {
	if s := m.sessions[node]; s != nil && s.hasTag(tag) {
		return true
	}
	if n, ok := wire.AsInt(tag); ok {
		m.cancel(node, int(n), nil)
	}
	return false
}

// lockIsSet is called by the locker when both partitions are locked.
func (m *Machine) lockIsSet(node wire.Atom, tag int, id wire.Tuple) {
	s := m.sessions[node]
	if s == nil || s.mine != tag || m.resolvers[node] == nil {
		m.cancel(node, tag, nil)
		return
	}
	m.cast(node, wire.Tuple{wire.Atom("exchange"), m.cfg.Self, m.list(), wire.List{}, s.his})
	s.lockID, s.locked = id, true
	if s.list != nil {
		list := s.list
		s.list = nil
		m.resolve(node, list)
	}
}

// exchange handles the names of the other side.
func (m *Machine) exchange(node wire.Atom, list any) {
	s := m.sessions[node]
	names, ok := wire.AsList(list)
	if !ok {
		m.unexpected("list of names", list)
		return
	}
	if !s.locked {
		s.list = wire.List(names)
		return
	}
	m.resolve(node, wire.List(names))
}

// hisResult handles the result of the other side.
func (m *Machine) hisResult(node wire.Atom, r result) {
	s := m.sessions[node]
	if s.ops == nil {
		s.result = &r
		return
	}
	m.join(node, r)
}

// found is called by the resolver with the operations for the names here, and for those of the other side.
func (m *Machine) found(node wire.Atom, tag int, ops, his []any) {
	s := m.sessions[node]
	if s == nil || s.mine != tag {
		m.cancel(node, tag, nil)
		return
	}
	m.cast(node, wire.Tuple{wire.Atom("resolved"), m.cfg.Self, wire.List(his), m.knownFor(m.versionOf(node)), wire.Atom("unused"),
		m.external.list(), s.his})
	s.ops = &ops
	if r := s.result; r != nil {
		s.result = nil
		m.join(node, *r)
	}
}

// join joins our partition and that of the other side.
func (m *Machine) join(node wire.Atom, r result) {
	s := m.sessions[node]
	theirOps, ok := wire.AsList(r.ops)
	hisKnown, ok2 := readNodes(r.known)
	external, ok3 := wire.AsList(r.external)
	if !ok || !ok2 || !ok3 {
		m.unexpected("result of a handshake", r.known)
		return
	}
	ops := slices.Concat(*s.ops, theirOps)
	before := m.sortedKnown()
	nodes := []versioned{{node, m.versionOf(node)}}
	for _, n := range hisKnown {
		if n.version == 0 {
			n.version = m.versionOf(n.node)
		}
		nodes = append(nodes, n)
		m.meet(n.node)
	}
	info := wire.List{wire.Tuple{wire.Atom("vsn"), s.version}, wire.Tuple{wire.Atom("lock"), s.lockID}}
	lockID := s.lockID
	m.apply(ops, external, func() bool { return m.heldFor(lockID) })
	m.settle(node)
	for _, n := range hisKnown {
		m.cancelResolved(n.node, nil)
	}
	m.cancelResolved(node, func() {
		for _, n := range before {
			list := wire.List{}
			for _, x := range nodes {
				list = append(list, x.term(n.version))
			}
			m.cast(n.node, wire.Tuple{wire.Atom("new_nodes"), m.cfg.Self, wire.List(ops), wire.List(external), list, info})
		}
	})
	m.tellLocker(added(m.add(nodes)))
	m.synced = append(minus(m.synced, []wire.Atom{node}), node)
}

// cancelResolved ends the handshake with a node that is known by now.
func (m *Machine) cancelResolved(node wire.Atom, before func()) {
	delete(m.pending, node)
	m.cancel(node, m.tagOf(node), before)
	m.reset(node)
}

// newNodes handles the nodes that a node of our partition has joined.
func (m *Machine) newNodes(by wire.Atom, ops, external, nodes, info any) {
	all, ok := wire.AsList(ops)
	names, ok2 := wire.AsList(external)
	list, ok3 := readNodes(nodes)
	if !ok || !ok2 || !ok3 {
		m.unexpected("new_nodes", nodes)
		return
	}
	added_ := m.add(list)
	for _, n := range added_ {
		m.meet(n)
	}
	lockID := find(info, "lock")
	m.apply(all, names, func() bool { return m.heldFor(lockID) })
	m.tellLocker(added(added_))
}

// find returns the value of a key in a list of pairs, or nil.
func find(list any, key wire.Atom) any {
	all, _ := wire.AsList(list)
	for _, e := range all {
		if p, ok := e.(wire.Tuple); ok && len(p) == 2 && p[0] == any(key) {
			return p[1]
		}
	}
	return nil
}

// inSync handles a node of the other partition that knows us.
func (m *Machine) inSync(node wire.Atom) {
	if !m.connected[node] {
		return
	}
	if m.removing[node] { // it did not know us when asked to disconnect, and ignored that
		m.askToDisconnect(node)
		return
	}
	m.settle(node)
	delete(m.restarts, node)
	if !slices.Contains(m.synced, node) {
		m.synced = append(m.synced, node)
	}
	delete(m.pending, node)
	m.cancel(node, m.tagOf(node), nil)
	m.reset(node)
}

// meet connects a node that is new to us, and tells it that we know it.
func (m *Machine) meet(node wire.Atom) {
	if node == m.cfg.Self {
		return
	}
	m.connect(node, func(ok bool) {
		if ok || m.connected[node] { // by another attempt than the failed one
			m.cast(node, wire.Tuple{wire.Atom("in_sync"), m.cfg.Self, true})
			return
		}
		m.warn(node, "global failed to connect to a node of the cluster")
		m.notReached(node)
		m.settle(node)
		m.forget(node, isLost)
		delete(m.connected, node)
	})
}

// versioned is a node and its version, or 0 if unknown.
type versioned struct {
	node    wire.Atom
	version int
}

// term returns what is sent to a peer of a version.
func (v versioned) term(to int) any {
	if to < withVersions {
		return v.node
	}
	return wire.Tuple{v.node, v.version}
}

// readNodes parses a list of nodes, some of them with versions.
func readNodes(t any) (all []versioned, ok bool) {
	list, ok := wire.AsList(t)
	if !ok {
		return nil, false
	}
	for _, e := range list {
		var v versioned
		if p, isPair := e.(wire.Tuple); isPair && len(p) == 2 {
			n, isInt := wire.AsInt(p[1])
			if !isInt || n < 0 {
				return nil, false
			}
			v.version, e = int(min(n, 1<<16)), p[0]
		}
		if v.node, ok = e.(wire.Atom); !ok || v.node == "" {
			return nil, false
		}
		all = append(all, v)
	}
	return all, true
}

// versionOf returns the version of a node, or 0 if unknown.
func (m *Machine) versionOf(node wire.Atom) int {
	if node == m.cfg.Self {
		return Version
	}
	if v, ok := m.known[node]; ok {
		return v
	}
	return m.pending[node]
}

// sortedKnown returns the known nodes, sorted.
func (m *Machine) sortedKnown() (all []versioned) {
	for _, n := range m.Known() {
		all = append(all, versioned{n, m.known[n]})
	}
	return all
}

// knownFor returns the known nodes, in the form for a peer of a version.
func (m *Machine) knownFor(version int) wire.List {
	all := wire.List{}
	for _, v := range m.sortedKnown() {
		all = append(all, v.term(version))
	}
	return all
}

// add makes nodes known, and returns those that were not.
func (m *Machine) add(nodes []versioned) (added []wire.Atom) {
	for _, v := range nodes {
		if _, ok := m.known[v.node]; ok || v.node == m.cfg.Self {
			continue
		}
		if len(m.known) >= maxNodes {
			m.warn(v.node, "global knows too many nodes: this one was left out")
			continue
		}
		m.known[v.node] = v.version
		delete(m.restarts, v.node)
		added = append(added, v.node)
	}
	return added
}

// apply carries out the results of a handshake.
func (m *Machine) apply(ops, external []any, still func() bool) {
	byName := wire.MakeMap(len(external))
	for _, e := range external {
		if t, ok := e.(wire.Tuple); ok && len(t) == 3 {
			byName.Put(t[0], t)
		}
	}
	var gone []any
	for _, op := range ops {
		t, _ := op.(wire.Tuple)
		switch {
		case len(t) == 2 && t[0] == any(wire.Atom("delete")):
			gone = append(gone, t[1])
		case len(t) == 2 && t[0] == any(wire.Atom("insert")):
			e, _ := t[1].(wire.Tuple)
			if len(e) != 3 {
				break
			}
			pid, ok := e[1].(wire.PID)
			if !ok {
				break
			}
			m.insert(e[0], tables.GlobalEntry{PID: pid, Method: shared(e[2])}, still)
			if x, ok := byName.Get(e[0]); ok && x.(wire.Tuple)[1] == any(pid) {
				if now, ok := m.cfg.Names.Get(e[0]); ok && now.PID == pid {
					m.external.names.Put(e[0], wire.Tuple{pid, x.(wire.Tuple)[2]})
				}
			}
		}
	}
	for _, name := range gone {
		m.remove(name)
	}
}

// Why a node is forgotten.
type forgetting uint8

const (
	isLost    forgetting = iota // its connection has ended
	isRemoved                   // its connection is being ended deliberately
	isIgnored                   // not reported
)

// forget ends everything in progress with a node, and removes it from our partition.
func (m *Machine) forget(node wire.Atom, why forgetting) {
	m.cancel(node, m.tagOf(node), nil)
	m.tellLocker(removed(node))
	m.settle(node)
	m.reset(node)
	switch {
	case why == isRemoved:
		m.removing[node] = true
	case why == isIgnored, m.removing[node]:
		delete(m.removing, node)
	default:
		m.tellLoss(node)
	}
	delete(m.pending, node)
	delete(m.known, node)
	delete(m.restarts, node)
	m.synced = minus(m.synced, []wire.Atom{node})
}
