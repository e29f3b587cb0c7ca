package node

// Drain makes the node take on nothing new for others: from now on whatever other
// nodes want to start or call here by name, by spawn, rpc or erpc, is refused with
// system_limit. What runs goes on, links, monitors, messages and calls to processes
// included, and so do spawns from here. It cannot be taken back. [Node.Stats]
// say that the node is draining. Stop is what ends the node then.
func (n *Node) Drain() { n.draining.Store(true) }

// takesNothing reports whether what another node wants to start here is refused.
func (n *Node) takesNothing() bool {
	return n.shed.Refuses() || n.draining.Load()
}
