package node

import (
	"context"
	"fmt"

	"github.com/actornode/actornode/internal/cause"
	"github.com/actornode/actornode/internal/kernel/calls"
	"github.com/actornode/actornode/internal/kernel/process"
	"github.com/actornode/actornode/node/deadletter"
	"github.com/actornode/actornode/wire"
	"github.com/actornode/actornode/wire/dist"
)

// NodeDown says that the connection to a node has been lost, to a process that
// has asked for it by MonitorNode: Erlang's {nodedown, Node}, with the cause.
type NodeDown struct {
	Node   Atom
	Reason string // for people
}

// term is {nodedown, Node}.
func (d NodeDown) term() any { return wire.Tuple{wire.Atom("nodedown"), d.Node} }

// peer returns the node with the given name, as connected or being connected;
// nil if it cannot be: this node is not distributed, or is that node.
func (n *Node) peer(name Atom) *peer {
	if n.dist == nil || name == n.cfg.Name || name == "" {
		return nil
	}
	return n.dist.want(name, false)
}

// want is peer for a caller that waits for the node: it does not queue behind those
// that are wanted by messages alone.
func (n *Node) want(name Atom) *peer {
	if n.dist == nil || name == n.cfg.Name || name == "" {
		return nil
	}
	return n.dist.want(name, true)
}

// reach is peer for the node of a PID.
func (n *Node) reach(pid PID) *peer {
	if n.dist == nil || n.sys.Origin.Minted(pid) {
		return nil
	}
	origin := pid.Origin()
	if p := n.dist.recent.Get(origin); p != nil && p.Box.Direct() { // so it is connected
		return p
	}
	p := n.peer(pid.Node())
	if p != nil && p.Box.Direct() {
		if n.dist.recent.Put(origin, p); p.IsOver() { // Over has perhaps not seen it
			n.dist.recent.Forget(p)
		}
	}
	return p
}

// connected is reach without a wish to connect.
func (n *Node) connected(pid PID) *peer {
	if n.dist == nil || n.sys.Origin.Minted(pid) {
		return nil
	}
	return n.dist.get(pid.Node())
}

// sendFar sends a message to a PID that no process here has. One that no other node has either is a dead letter.
func (n *Node) sendFar(a *process.Acting, to PID, msg, token any) error {
	if p := n.reach(to); p != nil {
		if token == nil {
			return p.message(a, to, msg)
		}
		return p.send(a, dist.Frame{Op: dist.OpSend, From: a.Sender(), To: to, Payload: msg, Token: token})
	}
	return n.sys.Undeliverable(to, msg)
}

// sendAt is for a message to a name.
func (n *Node) sendAt(a *process.Acting, at At, msg any) error {
	if a.Gone() {
		return ErrExited
	}
	if p := n.peer(at.Node); p != nil {
		return p.send(a, dist.Frame{Op: dist.OpSend, From: a.Sender(), Name: at.Name, Payload: msg, Token: a.Process.Token()})
	}
	n.sys.DeadLetter(deadletter.Letter{Cause: deadletter.NotConnected, Name: at.Name, Node: at.Node, Message: msg})
	return fmt.Errorf("%w: %v", ErrNotHere, at)
}

// unreachable is the error of a call to a node that this node cannot connect to.
func (n *Node) unreachable(name Atom) *ExitError {
	e := &ExitError{Reason: NoConnection, Node: name}
	switch {
	case n.dist == nil:
		e.Cause = ErrNotHere
	case n.sys.Stopped.Load():
		e.Cause = ErrNodeStopped
	}
	return e
}

// self is the process that stands for a plain goroutine towards other nodes.
func (n *Node) self() PID {
	if n.dist == nil {
		return PID{}
	}
	if pid := n.dist.kernel.Load(); pid != nil {
		return *pid
	}
	return PID{}
}

// callFar sends a request to another node. False: the destination is not on one
// that can be reached.
func (n *Node) callFar(a *process.Acting, async bool, t process.Ticket, to PID, at At, req any) bool {
	p := n.reach(to)
	if at.Node != "" {
		p = n.want(at.Node)
	}
	if p == nil {
		return false
	}
	label, body := calls.Call, req
	if l, ok := req.(calls.Labelled); ok {
		label, body = l.Label()
	}
	if tr := n.sys.Traces(); tr != nil {
		tr.Away(a.PID(), to, at.Name, p.Name, n.types.maker(body).request(body, From{t: t}))
	}
	if !async && p.DeferForRequest() {
		defer p.Box.EndDefer()
	}
	p.call(a, t, to, at.Name, label, body)
	if async {
		p.PaceAfter(a, req)
	}
	return true
}

// Nodes returns the names of the nodes that are connected, in alphabetical order;
// with hidden, of those too that are not to be seen.
func (n *Node) Nodes(hidden bool) []Atom {
	if n.dist == nil {
		return []Atom{}
	}
	return n.dist.Names(hidden)
}

// Connect makes a connection to a node, if there is none, and waits for it.
func (n *Node) Connect(ctx context.Context, name Atom) error {
	if err := cause.Of(ctx); err != nil {
		return err
	}
	p := n.want(name)
	if p == nil {
		if name == n.cfg.Name {
			return nil
		}
		return fmt.Errorf("%w: %s", ErrNotHere, name)
	}
	return p.Await(ctx)
}

// Disconnect ends the connection to a node. It reports whether there was one.
func (n *Node) Disconnect(name Atom) bool {
	return n.dist != nil && n.dist.Disconnect(name)
}

// Ping reports whether a node is there and connected, as net_adm:ping does; if
// not, the error says why.
func (n *Node) Ping(ctx context.Context, name Atom) error {
	if err := n.Connect(ctx, name); err != nil {
		return err
	}
	if name == n.cfg.Name {
		return nil
	}
	_, err := Call[any](ctx, n, At{Name: "net_kernel", Node: name}, any(wire.Tuple{wire.Atom("is_auth"), n.cfg.Name}))
	return err
}

// asRemote is p, nil where it is nil.
func asRemote(p *peer) process.Remote {
	if p == nil {
		return nil
	}
	return &p.RemotePeer
}

// bytesAway sends a copy of b to a process of another node, and holds who up while too
// much waits for that; false: it has done nothing.
func (n *Node) bytesAway(a *process.Acting, to PID, b []byte) bool {
	p := n.reach(to)
	if p == nil || n.sys.Traces() != nil {
		return false
	}
	full, taken := p.Box.Bytes(a.OutboxTurn(), a.Sender(), to, b)
	if full {
		p.PaceAfter(a, b)
	}
	return taken
}
