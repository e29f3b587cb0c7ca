package node

import "github.com/actornode/actornode/wire"

// NodeUp says that a node has been connected, to a process that has asked for it
// by MonitorNodes: Erlang's {nodeup, Node}. It comes before anything that the
// node sends.
type NodeUp struct {
	Node   Atom
	Hidden bool // it is not to be seen by nodes()
}

// term is {nodeup, Node}.
func (u NodeUp) term() any { return wire.Tuple{wire.Atom("nodeup"), u.Node} }

func (p *proc) monitorNodes(on bool) {
	switch d := p.node.dist; {
	case d == nil:
	case on:
		d.ups.Add((*watcher)(p))
	default:
		d.ups.Remove((*watcher)(p))
	}
}

// watcher is a process that wants to be told of every node that is connected: see table.Member.
type watcher proc

// Number is part of table.Member, and so is Gone.
func (w *watcher) Number() uint64 { return w.id }

// Gone reports whether the process has exited.
func (w *watcher) Gone() bool { return (*proc)(w).gone() }

// tellUp tells them.
func (d *distribution) tellUp(msg NodeUp) {
	d.ups.Each(func(w *watcher) { (*proc)(w).signal(&w.node.acting, msg) })
}

// monitorConnected is monitorTo that makes no connection.
func (p *proc) monitorConnected(a *acting, to Dest) Ref {
	n := p.node
	m := &monitor{watcher: p}
	var at Atom
	switch to := to.(type) {
	case PID:
		at, m.pid = to.Node(), to
	case At:
		at, m.name = to.Node, to.Name
	}
	if n.dist == nil || at == "" || at == n.cfg.Name {
		return p.monitorTo(a, to)
	}
	m.ref = a.newRef()
	if q := n.dist.get(at); q != nil && q.IsUp() {
		if m.far = q; m.add(a) {
			return m.ref
		}
	}
	d := Down{Ref: m.ref, PID: m.pid, Name: m.name, Reason: NoConnection}
	if m.name != "" {
		d.Node = at
	}
	p.signal(a, d)
	return m.ref
}
