package node

import "github.com/actornode/actornode/node/internal/process"

// bytesAway sends a copy of b to a process of another node, and holds who up while too
// much waits for that; false: it has done nothing.
func (n *Node) bytesAway(a *process.Acting, to PID, b []byte) bool {
	p := n.reach(to)
	if p == nil || n.sys.Traces() != nil {
		return false
	}
	full, taken := p.Box.Bytes(a.OutboxTurn(), a.Sender(), to, b)
	if full {
		p.Pace(a)
	}
	return taken
}
