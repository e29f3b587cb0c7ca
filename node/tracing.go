package node

import (
	"fmt"

	"github.com/actornode/actornode/internal/kernel/watch"
)

// findEnd finds a process for package trace, and returns what tells of its end.
func (n *Node) findEnd(pid PID) (watch.EndedFunc, error) {
	p := n.sys.Lookup(pid)
	if p == nil {
		return nil, fmt.Errorf("%w: %v", ErrNoProcess, pid)
	}
	return p.Ended, nil
}

// isOwn reports whether the node itself makes such a message, perhaps with locks held.
func isOwn(msg any) bool {
	switch msg.(type) {
	case Down, Exited, NodeUp, NodeDown, Started:
		return true
	}
	return false
}
