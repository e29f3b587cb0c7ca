package node

import (
	"github.com/actornode/actornode/node/internal/process"
	"github.com/actornode/actornode/wire"
)

// NodeUp says that a node has been connected, to a process that has asked for it
// by MonitorNodes: Erlang's {nodeup, Node}. It comes before anything that the
// node sends.
type NodeUp struct {
	Node   Atom
	Hidden bool // it is not to be seen by nodes()
}

// term is {nodeup, Node}.
func (u NodeUp) term() any { return wire.Tuple{wire.Atom("nodeup"), u.Node} }

// monitorNodes is MonitorNodes of p.
func (n *Node) monitorNodes(p *process.Process, on bool) {
	switch d := n.dist; {
	case d == nil:
	case on:
		d.ups.Add((*watcher)(p))
	default:
		d.ups.Remove((*watcher)(p))
	}
}

// watcher is a process that wants to be told of every node that is connected: see table.Member.
type watcher process.Process

// Number is part of table.Member, and so is Gone.
func (w *watcher) Number() uint64 { return w.ID }

// Gone reports whether the process has exited.
func (w *watcher) Gone() bool { return (*process.Process)(w).Gone() }

// tellUp tells them.
func (d *distribution) tellUp(msg NodeUp) {
	d.ups.Each(func(w *watcher) { (*process.Process)(w).Signal(&w.System.Plain, msg) })
}

// monitorConnected is Monitor by p, without making a connection.
func (n *Node) monitorConnected(p *process.Process, a *process.Acting, to Dest) Ref {
	var pid PID
	var at At
	switch to := to.(type) {
	case PID:
		pid, at.Node = to, to.Node()
	case At:
		at = to
	}
	if n.dist == nil || at.Node == "" || at.Node == n.cfg.Name {
		return p.MonitorTo(a, to)
	}
	var far process.Remote
	if q := n.dist.get(at.Node); q != nil && q.IsUp() {
		far = q
	}
	return p.MonitorOn(a, far, pid, at)
}
