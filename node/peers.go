package node

import "github.com/actornode/actornode/node/observe"

// Peers describes the nodes that this one is connected to, or is connecting, in
// alphabetical order, hidden ones included.
func (n *Node) Peers() []observe.Peer {
	if n.dist == nil {
		return nil
	}
	return n.dist.Infos()
}
