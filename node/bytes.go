package node

// bytesAway sends a copy of b to a process of another node, and holds who up while too
// much waits for that; false: it has done nothing.
func (n *Node) bytesAway(a *acting, to PID, b []byte) bool {
	p := n.reach(to)
	if p == nil || n.traces() != nil {
		return false
	}
	full, taken := p.Box.Bytes(a.turn(), a.sender(), to, b)
	if full {
		p.pace(a)
	}
	return taken
}
