package global

import (
	"fmt"
	"slices"

	"github.com/actornode/actornode/internal/kernel/tables"
	"github.com/actornode/actornode/wire"
)

// Call handles a gen_server call by a process. Its answer is a Reply to from.
func (m *Machine) Call(from any, by wire.PID, body any) {
	m.call(by, body, func(v any) { m.do(Action{Kind: Reply, From: from, Msg: v}) })
	m.run()
}

// call handles a call to the name server, of this node or of another.
func (m *Machine) call(by wire.PID, body any, reply func(v any)) {
	if a, ok := body.(wire.Atom); ok {
		m.ask(a, reply)
		return
	}
	t, _ := body.(wire.Tuple)
	if len(t) == 0 {
		m.unexpected("call", body)
		return
	}
	name, _ := t[0].(wire.Atom)
	switch {
	case name == "set_lock" && len(t) == 2:
		if resource, requester, ok := readID(t[1]); ok {
			reply(m.setLock(resource, requester, by))
			return
		}
	case name == "del_lock" && len(t) == 2:
		if resource, requester, ok := readID(t[1]); ok {
			m.delLock(resource, requester, by, false)
			reply(true)
			return
		}
	case name == "register" && len(t) == 4, name == "register_ext" && len(t) == 5:
		if pid, ok := t[2].(wire.PID); ok {
			m.insert(t[1], tables.GlobalEntry{PID: pid, Method: shared(t[3])}, func() bool { return m.heldBy(by) })
			if e, ok := m.cfg.Names.Get(t[1]); ok && e.PID == pid && len(t) == 5 {
				m.external.names.Put(t[1], wire.Tuple{pid, t[4]})
			}
			reply(wire.Atom("yes"))
			return
		}
	case name == "unregister" && len(t) == 2:
		m.remove(t[1])
		reply(wire.Atom("ok"))
		return
	case name == "sync" && len(t) == 2:
		if nodes, ok := atoms(t[1]); ok {
			m.sync(nodes, func() { reply(wire.Atom("ok")) })
			return
		}
	}
	m.unexpected("call", body) // without an answer, like OTP
}

// ask handles a call that is an atom.
func (m *Machine) ask(what wire.Atom, reply func(v any)) {
	switch what {
	case "get_known":
		reply(atomList(m.Known()))
	case "get_synced":
		reply(atomList(m.synced))
	case "get_protocol_version":
		reply(Version)
	case "get_names_ext":
		reply(m.external.list())
	case "disconnect":
		reply(atomList(m.disconnect()))
	default:
		m.unexpected("call", what)
	}
}

// disconnect ends all connections that count, without reporting them as lost.
func (m *Machine) disconnect() (all []wire.Atom) {
	for n := range m.connected {
		all = append(all, n)
	}
	slices.Sort(all)
	for _, n := range all {
		m.do(Action{Kind: Disconnect, Node: n})
		m.forget(n, isIgnored)
		delete(m.connected, n)
	}
	return all
}

// shared returns one shared value for the method that nearly all names have.
func shared(method any) any {
	if wire.Equal(method, tables.RandomExit) {
		return tables.RandomExit
	}
	return method
}

// unexpected logs a message that is in no version of the protocol, or is malformed.
func (m *Machine) unexpected(kind string, body any) {
	m.warn("", fmt.Sprintf("global_name_server received an unexpected %s: %s", kind, brief(body)))
}

// brief returns the beginning of a term.
func brief(term any) string {
	const most = 200
	text := head(term)
	if t, ok := term.(wire.Tuple); ok && len(t) > 0 {
		text = fmt.Sprintf("a tuple of %d elements that begins with %s", len(t), head(t[0]))
	}
	if len(text) > most {
		text = text[:most]
	}
	return text
}

func head(t any) string {
	if a, ok := t.(wire.Atom); ok {
		return string(a)
	}
	return fmt.Sprintf("a %T", t)
}

// atoms parses a list of atoms.
func atoms(t any) (all []wire.Atom, ok bool) {
	list, ok := wire.AsList(t)
	for _, e := range list {
		a, is := e.(wire.Atom)
		if !is {
			return nil, false
		}
		all = append(all, a)
	}
	return all, ok
}

func atomList(all []wire.Atom) wire.List {
	list := wire.List{}
	for _, a := range all {
		list = append(list, a)
	}
	return list
}

// Cast handles a gen_server cast. via is the node from which it was received, or "" for this one. A cast that names another
// node as its sender is not accepted.
func (m *Machine) Cast(via wire.Atom, body any) {
	m.castFrom(via, body)
	m.run()
}

func (m *Machine) castFrom(via wire.Atom, body any) {
	t, _ := body.(wire.Tuple)
	if len(t) < 2 {
		m.unexpected("cast", body)
		return
	}
	kind, _ := t[0].(wire.Atom)
	node, isNode := t[1].(wire.Atom)
	if kind == "init_connect" && len(t) == 4 {
		node, isNode = t[2].(wire.Atom)
	}
	sent := isNode && (via == "" || node == via)
	switch {
	case kind == "init_connect" && len(t) == 4 && sent:
		m.initConnect(node, t[1], t[3])
	case kind == "exchange" && len(t) == 5 && sent:
		if m.mine(node, t[4]) {
			m.exchange(node, t[2])
		}
	case kind == "resolved" && len(t) == 7 && sent:
		if m.mine(node, t[6]) {
			m.hisResult(node, result{ops: t[2], known: t[3], external: t[5]})
		}
	case kind == "new_nodes" && len(t) == 6 && sent:
		m.newNodes(node, t[2], t[3], t[4], t[5])
	case kind == "in_sync" && len(t) == 3 && sent:
		m.inSync(node)
	case kind == "lock_set":
		m.lockSet(via, t)
	case (kind == "async_del_name" || kind == "async_del_lock") && len(t) == 3:
	default:
		m.unexpected("cast", body)
	}
}

// lockSet forwards a message of another node's locker.
func (m *Machine) lockSet(via wire.Atom, t wire.Tuple) {
	pid, ok := t[1].(wire.PID)
	isSet := false
	if len(t) == 4 || len(t) == 5 {
		_, isSet = wire.AsBool(t[2])
	}
	if !ok || !isSet || via != "" && pid.Node() != via {
		m.unexpected("cast", t)
		return
	}
	if s := m.sessions[pid.Node()]; len(t) == 5 && (s == nil || !s.hasTag(t[4])) {
		return
	}
	m.tellLocker(t)
}

// Info handles a message that is neither a call nor a cast; via is as for Cast.
func (m *Machine) Info(via wire.Atom, msg any) {
	m.info(via, msg)
	m.run()
}

func (m *Machine) info(via wire.Atom, msg any) {
	t, _ := msg.(wire.Tuple)
	if len(t) < 2 {
		m.unexpected("message", msg)
		return
	}
	kind, _ := t[0].(wire.Atom)
	node, isNode := t[1].(wire.Atom)
	sent := isNode && (via == "" || node == via)
	switch {
	case kind == "lost_connection" && len(t) == 5 && isNode:
		m.lostConnection(t)
	case kind == "remove_connection" && len(t) == 2 && sent:
		m.removeConnection(node)
	case kind == "cancel_connect" && len(t) == 3 && sent:
		m.cancelConnect(node, t[2])
	case kind == "init_connect_ack" && len(t) == 4 && sent:
		m.acknowledged(node, t[2], t[3])
	case kind == "whereis" && len(t) == 3 && asks(via, t[2]):
		m.whereis(t[1], t[2])
	case kind == "prepare_shutdown" && len(t) == 3 && via == "":
		m.closing = true
	case kind == "lock_set" && via != "": // of a peer older than proxied, to the locker
		m.lockSet(via, t)
	default:
		m.unexpected("message", msg)
	}
}

// asks reports whether from is {Pid, Tag} with a process of the node from which a message was received.
func asks(via wire.Atom, from any) bool {
	f, _ := from.(wire.Tuple)
	if len(f) != 2 {
		return false
	}
	pid, ok := f[0].(wire.PID)
	return ok && (via == "" || pid.Node() == via)
}

// whereis answers {whereis, Name, From} once names do not change.
func (m *Machine) whereis(name, from any) {
	if m.isLocked(ofNames) {
		if len(m.timers) >= maxTimers { // a node that asks so often also holds up the lock
			m.unexpected("message", wire.Tuple{wire.Atom("whereis"), name, from})
			return
		}
		m.after(m.pause(5), func() { m.whereis(name, from) })
		return
	}
	var v any = wire.AtomUndefined
	if pid, ok := m.cfg.Names.Whois(name); ok {
		v = pid
	}
	f, _ := from.(wire.Tuple)
	if len(f) != 2 {
		return
	}
	if pid, ok := f[0].(wire.PID); ok {
		m.do(Action{Kind: SendTo, PID: pid, Msg: wire.Tuple{f[1], v}})
	}
}

// syncer waits until nodes are in sync.
type syncer struct {
	nodes []wire.Atom
	done  func()
}

// sync calls done once this node has the same names as nodes, except those that cannot be reached.
func (m *Machine) sync(nodes []wire.Atom, done func()) {
	s := &syncer{done: done}
	for _, n := range nodes {
		if n != m.cfg.Self && !slices.Contains(m.synced, n) && !slices.Contains(s.nodes, n) {
			s.nodes = append(s.nodes, n)
		}
	}
	if len(s.nodes) == 0 {
		done()
		return
	}
	m.syncers = append(m.syncers, s)
	for _, n := range slices.Clone(s.nodes) {
		if m.connected[n] {
			continue
		}
		m.connect(n, func(ok bool) {
			if !ok {
				m.settle(n)
			}
		})
	}
}

// settle ends the waits of syncers for a node: it is in sync, or cannot be reached.
func (m *Machine) settle(node wire.Atom) {
	rest := m.syncers[:0:0]
	for _, s := range m.syncers {
		if s.nodes = minus(s.nodes, []wire.Atom{node}); len(s.nodes) == 0 {
			m.later(s.done)
			continue
		}
		rest = append(rest, s)
	}
	m.syncers = rest
}
