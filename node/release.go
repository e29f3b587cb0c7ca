package node

// releaseKnown reports whether release of a node needs no waiting.
func (n *Node) releaseKnown(name Atom) bool {
	return n.peers == nil || n.peers.IsReleaseKnown(name)
}

// release returns the OTP release of a node that is connected, such as 27; 0 if it has none, or does not say. Each node
// is asked when it connects; release waits for the answer, five seconds at most.
func (n *Node) release(name Atom) int {
	if n.dist == nil {
		return 0
	}
	return n.dist.Release(name)
}
