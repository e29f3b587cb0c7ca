package global

import (
	"slices"

	"github.com/actornode/actornode/internal/kernel/tables"
	"github.com/actornode/actornode/wire"
)

// external has the names that Erlang nodes have registered for processes of C nodes: {Pid, Node} by the name.
type external struct{ names wire.Map }

// list returns the names as [{Name, Pid, Node}].
func (x *external) list() wire.List {
	all := wire.List{}
	for name, v := range x.names.All() {
		by := v.(wire.Tuple)
		all = append(all, wire.Tuple{name, by[0], by[1]})
	}
	return all
}

// insert assigns a name to a process, if the lock on names still permits it, as reported by still.
func (m *Machine) insert(name any, e tables.GlobalEntry, still func() bool) {
	old, had := m.cfg.Names.Get(name)
	if !had && m.cfg.Names.Len() >= MaxNames {
		m.warn("", "a global name was refused: there are too many")
		return
	}
	m.external.names.Delete(name)
	if had && old.PID != e.PID {
		m.unhold(old.PID, func(h *held) { h.removeName(name) })
	}
	m.cfg.Names.Put(name, e)
	if !had || old.PID != e.PID {
		m.hold(e.PID, func(h *held) { h.addName(name) })
	}
	if !still() { // the holder of the lock has exited: its request came late
		m.remove(name)
	}
}

// remove removes a name.
func (m *Machine) remove(name any) {
	e, ok := m.cfg.Names.Get(name)
	if !ok {
		return
	}
	m.cfg.Names.Remove(name)
	m.external.names.Delete(name)
	m.unhold(e.PID, func(h *held) { h.removeName(name) })
}

// heldBy reports whether a process has the lock on names, as far as this node knows.
func (m *Machine) heldBy(pid wire.PID) bool {
	v, ok := m.locks.all.Get(ofNames)
	if !ok {
		return !m.lockDown
	}
	return slices.Contains(v.(*lock).holders, pid)
}

// heldFor reports whether the lock on names is that of a handshake, {global, Requester}.
func (m *Machine) heldFor(id any) bool {
	v, ok := m.locks.all.Get(ofNames)
	if !ok {
		return !m.lockDown
	}
	_, requester, ok := readID(id)
	return ok && wire.Equal(v.(*lock).requester, requester)
}

// list returns the names as [{Name, Pid, Method}].
func (m *Machine) list() wire.List {
	all := wire.List{}
	m.cfg.Names.Each(func(name any, e tables.GlobalEntry) { all = append(all, wire.Tuple{name, e.PID, e.Method}) })
	return all
}
