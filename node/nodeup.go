package node

import (
	"cmp"
	"maps"
	"slices"
	"sync"

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

func (p *proc) monitorNodes(on bool) {
	d := p.node.dist
	if d == nil {
		return
	}
	d.ups.mu.Lock()
	defer d.ups.mu.Unlock()
	if !on {
		delete(d.ups.m, p)
		return
	}
	if d.ups.m == nil {
		d.ups.m = make(map[*proc]struct{})
	}
	d.ups.sweepLocked()
	d.ups.m[p] = struct{}{}
}

// ups are the processes that asked to be told of every node that is connected. Those
// that have exited since are never more than others and leastSweep together.
type ups struct {
	mu    sync.Mutex
	m     map[*proc]struct{}
	sweep int // how many there are when those who have exited are next looked for
}

const leastSweep = 64

// sweepLocked forgets those who have exited, if there may be many.
func (u *ups) sweepLocked() {
	if len(u.m) < max(u.sweep, leastSweep) {
		return
	}
	for p := range u.m {
		if p.gone() {
			delete(u.m, p)
		}
	}
	u.sweep = 2 * len(u.m)
}

// tell tells them; those who have exited are forgotten then.
func (u *ups) tell(msg NodeUp) {
	u.mu.Lock()
	defer u.mu.Unlock()
	for _, p := range slices.SortedFunc(maps.Keys(u.m), func(p, q *proc) int { return cmp.Compare(p.id, q.id) }) {
		if p.gone() {
			delete(u.m, p)
			continue
		}
		p.signal(&p.node.acting, msg)
	}
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
