package node

// Drain makes the node take on nothing new for others: from now on it refuses with system_limit whatever other nodes
// want to start or call here by name, by spawn, rpc or erpc. What runs goes on, including links, monitors, messages and
// calls to processes, and so do spawns from here. Drain cannot be undone. [Node.Stats] say that the node is draining.
// Use Stop to end the node then.
func (n *Node) Drain() { n.draining.Store(true) }

// takesNothing reports whether the node refuses what another wants to start here.
func (n *Node) takesNothing() bool {
	return n.shed.Refuses() || n.draining.Load()
}
