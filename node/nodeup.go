package node

import (
	"fmt"
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

// Term is {nodeup, Node}.
func (u NodeUp) Term() any { return wire.Tuple{wire.Atom("nodeup"), u.Node} }

// MonitorNodes asks for a [NodeUp] for every node that is connected from now on,
// hidden or not, or no longer: the first half of net_kernel:monitor_nodes. For
// those that are connected already see [Node.Nodes], for the loss of one
// MonitorNode.
func (c *Context) MonitorNodes(on bool) { c.p.monitorNodes(on) }

// MonitorNodes asks for a [NodeUp] for every node that is connected from now on;
// see [Context.MonitorNodes].
func (s *Process) MonitorNodes(on bool) { s.p.monitorNodes(on) }

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
	for p := range u.m {
		if p.gone() {
			delete(u.m, p)
			continue
		}
		p.signal(nil, msg)
	}
}

// SendConnected is Send, or SendAt, that never makes a connection: erlang:send
// with noconnect. [ErrNotHere] if there is none to the node. A message that is lost
// with the connection is no dead letter: this is for those who monitor who is there,
// and begin anew when a node comes back. For the same reason nobody is held up by it:
// it is an answer, as [SendNow] says.
func SendConnected[T PID | At](c *Context, to T, msg any) error {
	f := wire.Frame{Op: wire.OpSend, From: c.p.pid(), Payload: msg, Lossy: true}
	var at Atom
	switch to := any(to).(type) {
	case PID:
		if c.node.dist == nil || c.node.origin.Minted(to) {
			return c.Send(to, msg)
		}
		at, f.To = to.Node(), to
	case At:
		if c.node.dist == nil || to.Node == c.node.cfg.Name {
			return c.SendAt(to, msg)
		}
		at, f.Name = to.Node, to.Name
	}
	p := c.node.dist.get(at)
	switch {
	case c.p.gone():
		return ErrExited
	case p == nil || !p.isUp():
		return fmt.Errorf("%w: %v", ErrNotHere, to)
	}
	p.sendAnswer(c.p, c, f)
	return nil
}

// MonitorConnected is Monitor, or MonitorAt, that never makes a connection: if
// there is none to the node, the [Down] comes at once, with noconnection.
func MonitorConnected[T PID | At](c *Context, to T) Ref {
	m := &monitor{watcher: c.p}
	var at Atom
	switch to := any(to).(type) {
	case PID:
		if c.node.dist == nil || c.node.origin.Minted(to) {
			return c.Monitor(to)
		}
		at, m.pid = to.Node(), to
	case At:
		if c.node.dist == nil || to.Node == c.node.cfg.Name {
			return c.MonitorAt(to)
		}
		at, m.name = to.Node, to.Name
	}
	m.ref = c.newRef()
	if m.far = c.node.dist.get(at); m.far != nil && m.far.isUp() && m.add(c) {
		return m.ref
	}
	d := Down{Ref: m.ref, PID: m.pid, Name: m.name, Reason: NoConnection}
	if m.name != "" {
		d.Node = at
	}
	c.p.signal(c, d)
	return m.ref
}
