package node

import (
	"github.com/actornode/actornode/node/deadletter"
	"github.com/actornode/actornode/node/internal/trace"
)

// DeadLetters opens a stream of the dead letters to come, which holds up to
// buffer of them (at least 1) for its reader; what does not fit is counted.
func (n *Node) DeadLetters(buffer int) *deadletter.Stream { return n.dead.Open(buffer) }

// deadLetter makes a dead letter of a message, without the token that it may have come with.
func (n *Node) deadLetter(l deadletter.Letter) {
	l.Message = trace.Bare(l.Message)
	n.dead.Add(l)
}

// undeliverable makes a dead letter of a message to a PID that nobody has here.
// The error is nil unless the node has been stopped or the PID is another
// node's: a message to the dead is lost without an error, as in Erlang.
func (n *Node) undeliverable(to PID, msg any) error {
	l := deadletter.Letter{Cause: deadletter.NoProcess, To: to, Message: msg}
	var err error
	switch id := to.Origin().NodeID(); {
	case n.stopped.Load():
		l.Cause, err = deadletter.NodeStopped, ErrNodeStopped
	case to.IsZero() || n.origin.Minted(to):
	case id.Name == n.cfg.Name:
		l.Cause = deadletter.OldIncarnation
	default:
		l.Cause, err = deadletter.NotConnected, ErrNotHere
	}
	n.deadLetter(l)
	return err
}
