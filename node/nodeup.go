package node

import (
	"github.com/actornode/actornode/internal/kernel/process"
	"github.com/actornode/actornode/wire"
)

// NodeUp tells a process that called MonitorNodes that a node has been connected: Erlang's {nodeup, Node}. It comes
// before anything that the node sends.
type NodeUp struct {
	Node    Atom
	Hidden  bool // nodes() does not show it
	Foreign bool // it is a C or Java node: send nothing to it unasked, see [dist.Peer.Foreign]
}

// term is {nodeup, Node}.
func (u NodeUp) term() any { return wire.Tuple{wire.Atom("nodeup"), u.Node} }

// monitorConnected is Monitor by p, without making a connection.
func (n *Node) monitorConnected(p *process.Process, a *process.Acting, to Dest) Ref {
	t := n.sys.Target(to)
	if n.peers == nil || t.Node == "" {
		return p.Monitor(a, to)
	}
	var far process.Remote
	if q := n.peers.Get(t.Node); q != nil && q.IsUp() {
		far = q
	}
	return p.MonitorOn(a, far, to)
}
