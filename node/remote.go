package node

import (
	"context"
	"fmt"

	"github.com/actornode/actornode/internal/cause"
	"github.com/actornode/actornode/wire"
)

// NodeDown tells a process that called MonitorNode that the connection to a node has been lost: Erlang's {nodedown,
// Node}, with the cause.
type NodeDown struct {
	Node   Atom
	Reason string // for people
}

// term is {nodedown, Node}.
func (d NodeDown) term() any { return wire.Tuple{wire.Atom("nodedown"), d.Node} }

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

// Nodes returns the names of the visible nodes that are connected, in alphabetical order.
func (n *Node) Nodes() []Atom { return n.connectedNodes(false) }

// AllNodes is Nodes with the hidden nodes.
func (n *Node) AllNodes() []Atom { return n.connectedNodes(true) }

func (n *Node) connectedNodes(hidden bool) []Atom {
	if n.peers == nil {
		return []Atom{}
	}
	return n.peers.Names(hidden)
}

// Connect makes a connection to a node, if there is none, and waits for it.
func (n *Node) Connect(ctx context.Context, name Atom) error {
	if err := cause.Of(ctx); err != nil {
		return err
	}
	p := n.peers.Want(name, true)
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
