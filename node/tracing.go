package node

import (
	"fmt"

	"github.com/actornode/actornode/node/internal/trace"
)

// traces is who is traced; nil: nobody.
func (n *Node) traces() *trace.View { return n.tracing.View() }

// findEnd finds a process for package trace, by what says of its end.
func (n *Node) findEnd(pid PID) (trace.Ended, error) {
	p := n.lookup(pid)
	if p == nil {
		return nil, fmt.Errorf("%w: %v", ErrNoProcess, pid)
	}
	return p.ended, nil
}

// ended reports whether p has exited, and why.
func (p *proc) ended() (reason any, ended bool) {
	if !p.gone() {
		return nil, false
	}
	return p.reason(), true
}

// isOwn reports whether a message is one that a node makes, perhaps with locks held.
func isOwn(msg any) bool {
	switch msg.(type) {
	case Down, Exited, NodeUp, NodeDown, Started:
		return true
	}
	return false
}
