package global

import (
	"slices"

	"github.com/actornode/actornode/wire"
)

// Limits of what others can make the machine hold.
const (
	MaxLocks     = 100_000   // locked resources
	MaxNames     = 4_000_000 // names
	maxNodes     = 10_000    // known nodes
	maxUnreached = 10_000    // nodes that could not be connected
	maxTimers    = 30_000    // above which no whereis waits; lost connections and unreached nodes have at most 20,000
)

// ofNames is the resource that is locked while names change: global.
const ofNames wire.Atom = "global"

// lock is a locked resource.
type lock struct {
	requester any
	holders   []wire.PID
}

// locks are the locked resources on this node.
type locks struct{ all wire.Map }

// held is what a watched process holds.
type held struct {
	name  any // the first of its names, if named
	named bool
	more  *heldMore
}

// heldMore is what few processes hold.
type heldMore struct{ names, resources []any }

// readID parses {Resource, Requester}.
func readID(t any) (resource, requester any, ok bool) {
	id, ok := t.(wire.Tuple)
	if !ok || len(id) != 2 {
		return nil, nil, false
	}
	return id[0], id[1], true
}

func makeID(resource, requester any) wire.Tuple { return wire.Tuple{resource, requester} }

// canLock reports whether a lock is available.
func (m *Machine) canLock(resource, requester any) bool {
	l, ok := m.locks.all.Get(resource)
	if !ok {
		return m.locks.all.Len() < MaxLocks
	}
	return wire.Equal(l.(*lock).requester, requester)
}

func (m *Machine) isLocked(resource any) bool {
	_, ok := m.locks.all.Get(resource)
	return ok
}

// setLock locks a resource for a process.
func (m *Machine) setLock(resource, requester any, by wire.PID) bool {
	if !m.canLock(resource, requester) {
		return false
	}
	var l *lock
	if v, ok := m.locks.all.Get(resource); ok {
		l = v.(*lock)
	} else {
		l = &lock{requester: requester}
		m.locks.all.Put(resource, l)
	}
	if !slices.Contains(l.holders, by) {
		l.holders = append(l.holders, by)
		m.hold(by, func(h *held) {
			if h.more == nil {
				h.more = new(heldMore)
			}
			h.more.resources = append(h.more.resources, resource)
		})
	}
	return true
}

// delLock releases a lock of a process; down reports that it has exited.
func (m *Machine) delLock(resource, requester any, by wire.PID, down bool) {
	v, ok := m.locks.all.Get(resource)
	if !ok || !wire.Equal(v.(*lock).requester, requester) {
		return
	}
	l := v.(*lock)
	i := slices.Index(l.holders, by)
	if i < 0 {
		return
	}
	l.holders = slices.Delete(l.holders, i, i+1)
	if len(l.holders) == 0 {
		m.locks.all.Delete(resource)
		if resource == any(ofNames) {
			m.lockDown = down
		}
	}
	if !down {
		m.unhold(by, func(h *held) { h.more.resources = without(h.more.resources, resource) })
	}
}

// without returns list without the first element that is equal to x.
func without(list []any, x any) []any {
	if i := slices.IndexFunc(list, func(e any) bool { return wire.Equal(e, x) }); i >= 0 {
		return slices.Delete(list, i, i+1)
	}
	return list
}

// hold changes what a process holds, and watches it from the first thing on.
func (m *Machine) hold(pid wire.PID, add func(*held)) {
	h, ok := m.watched[pid]
	if !ok {
		m.do(Action{Kind: Watch, PID: pid})
	}
	add(&h)
	m.watched[pid] = h
}

// unhold is the inverse of hold.
func (m *Machine) unhold(pid wire.PID, remove func(*held)) {
	h, ok := m.watched[pid]
	if !ok {
		return
	}
	remove(&h)
	if h.more != nil && len(h.more.names)+len(h.more.resources) == 0 {
		h.more = nil
	}
	if !h.named && h.more == nil {
		delete(m.watched, pid)
		m.do(Action{Kind: Unwatch, PID: pid})
		return
	}
	m.watched[pid] = h
}

// Gone reports that a watched process has exited, or that its node is no longer connected.
func (m *Machine) Gone(pid wire.PID) {
	h, ok := m.watched[pid]
	if !ok {
		return
	}
	delete(m.watched, pid)
	if h.more != nil {
		for _, r := range h.more.resources {
			if v, ok := m.locks.all.Get(r); ok {
				m.delLock(r, v.(*lock).requester, pid, true)
			}
		}
	}
	for _, name := range h.names() {
		if e, ok := m.cfg.Names.Get(name); ok && e.PID == pid {
			m.cfg.Names.Remove(name)
			m.external.names.Delete(name)
		}
	}
	m.run()
}

// names returns all names.
func (h *held) names() (all []any) {
	if h.named {
		all = append(all, h.name)
	}
	if h.more != nil {
		all = append(all, h.more.names...)
	}
	return all
}

func (h *held) addName(name any) {
	if !h.named {
		h.name, h.named = name, true
		return
	}
	if h.more == nil {
		h.more = new(heldMore)
	}
	h.more.names = append(h.more.names, name)
}

func (h *held) removeName(name any) {
	switch {
	case h.named && wire.Equal(h.name, name):
		h.name, h.named = nil, false
		if h.more != nil && len(h.more.names) > 0 {
			h.name, h.named = h.more.names[0], true
			h.more.names = h.more.names[1:]
		}
	case h.more != nil:
		h.more.names = without(h.more.names, name)
	}
}

// setLocks locks a resource on nodes on behalf of the process by, and calls then with whether all of them have locked it. If
// some have not, the others are unlocked first.
func (m *Machine) setLocks(by wire.PID, resource, requester any, nodes []wire.Atom, then func(ok bool)) {
	if len(nodes) == 0 {
		then(true)
		return
	}
	if len(nodes) > 1 && slices.Contains(nodes, m.cfg.Self) && !m.canLock(resource, requester) {
		then(false)
		return
	}
	id := makeID(resource, requester)
	m.askAll(by, nodes, wire.Tuple{wire.Atom("set_lock"), id}, func(all []answer) {
		var set []wire.Atom
		refused := false
		for _, a := range all {
			if isTrue(a.v) {
				set = append(set, a.node)
			} else {
				refused = true
			}
		}
		switch {
		case !refused:
			then(true)
		default:
			m.delLocks(by, resource, requester, set, func() { then(false) })
		}
	})
}

// delLocks releases locks.
func (m *Machine) delLocks(by wire.PID, resource, requester any, nodes []wire.Atom, then func()) {
	m.askAll(by, nodes, wire.Tuple{wire.Atom("del_lock"), makeID(resource, requester)}, func([]answer) { then() })
}

// delAllLocks is delLocks for the lock on names. That of the boss is released last.
func (m *Machine) delAllLocks(by wire.PID, requester any, nodes []wire.Atom, then func()) {
	b := boss(nodes)
	m.delLocks(by, ofNames, requester, minus(nodes, []wire.Atom{b}), func() {
		m.delLocks(by, ofNames, requester, []wire.Atom{b}, then)
	})
}

// boss returns the node that is locked first: the holder of its lock usually gets the others.
func boss(nodes []wire.Atom) wire.Atom {
	return slices.MaxFunc(nodes, func(a, b wire.Atom) int { return wire.Compare(a, b) })
}

// minus returns nodes without those of others.
func minus(nodes, others []wire.Atom) (rest []wire.Atom) {
	for _, n := range nodes {
		if !slices.Contains(others, n) {
			rest = append(rest, n)
		}
	}
	return rest
}

func isTrue(v any) bool {
	b, ok := wire.AsBool(v)
	return ok && b
}
