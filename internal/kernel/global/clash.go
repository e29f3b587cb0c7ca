package global

import (
	"github.com/actornode/actornode/internal/kernel/tables"
	"github.com/actornode/actornode/wire"
)

// resolver compares the names of another node with ours, one by one.
type resolver struct {
	tag     int
	started bool
	over    bool // the handshake was given up
	names   []any
	ops     []any // operations on our names
	his     []any // operations for the other side
}

// resolve starts to compare the names that a node has sent.
func (m *Machine) resolve(node wire.Atom, names wire.List) {
	r := m.resolvers[node]
	if r == nil || r.started {
		return
	}
	r.started, r.names = true, names
	m.later(func() { m.compare(node, r) })
}

// compare continues until a clash must be resolved, or all names are compared.
func (m *Machine) compare(node wire.Atom, r *resolver) {
	for !r.over && len(r.names) > 0 {
		t, _ := r.names[0].(wire.Tuple)
		r.names = r.names[1:]
		if len(t) != 3 {
			continue
		}
		pid, ok := t[1].(wire.PID)
		if !ok {
			continue
		}
		ours, clash := m.cfg.Names.Get(t[0])
		switch {
		case !clash:
			r.ops = append(r.ops, insertion(t))
		case ours.PID == pid || wire.Compare(m.cfg.Self, node) >= 0: // the smaller node resolves clashes
		default:
			id := m.newID()
			m.asked[id] = func(v any, ok bool) { m.resolvedName(node, r, t, ours, v, ok) }
			m.do(Action{Kind: Resolve, Node: ours.PID.Node(), ID: id,
				Msg: Clash{By: node, Method: ours.Method, Name: t[0], His: pid, Ours: ours.PID}})
			return
		}
	}
	if !r.over {
		m.found(node, r.tag, r.ops, r.his)
	}
}

func insertion(t wire.Tuple) wire.Tuple { return wire.Tuple{wire.Atom("insert"), t} }

// resolvedName handles the result of a clash: the process that has the name from now on.
func (m *Machine) resolvedName(node wire.Atom, r *resolver, his wire.Tuple, ours tables.GlobalEntry, v any, ok bool) {
	if r.over {
		return
	}
	pid, isPID := v.(wire.PID)
	switch {
	case !ok: // the node of our process could not be reached
		m.inform(ours.PID.Node(), "a global name that two processes had was given to the other one: the node could not be asked")
		r.ops = append(r.ops, insertion(his))
	case isPID && pid == his[1].(wire.PID):
		r.ops = append(r.ops, insertion(his))
	case isPID && pid == ours.PID:
		r.his = append(r.his, insertion(wire.Tuple{his[0], ours.PID, ours.Method}))
	default:
		if v != any(wire.Atom("none")) {
			m.inform(ours.PID.Node(), "the method of a global name returned neither of the two processes: the name is gone")
		}
		op := wire.Tuple{wire.Atom("delete"), his[0]}
		r.ops, r.his = append(r.ops, op), append(r.his, op)
	}
	m.compare(node, r)
}
