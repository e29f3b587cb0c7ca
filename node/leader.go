package node

import (
	"context"

	"github.com/actornode/actornode/internal/kernel/process"
	"github.com/actornode/actornode/internal/kernel/runner"
)

// Calling returns the process that ctx belongs to or derives from: in an exported function, the process that runs it.
func Calling(ctx context.Context) (n *Node, pid PID, ok bool) {
	p := process.ProcOf(ctx)
	if p == nil {
		return nil, PID{}, false
	}
	return nodeOf(p.System), p.PID(), true
}

// leaderOf returns the group leader of a process: the process that prints for it, by Erlang's I/O protocol. A process
// has the leader of the process that spawned it; one that another node has spawned has what that node says. Others have
// the process that is registered as user.
func (n *Node) leaderOf(pid PID) PID {
	if p := n.sys.Lookup(pid); p != nil {
		if l := p.OwnLeader(); !l.IsZero() {
			return l
		}
	}
	return n.sys.Leader()
}

// leaderFor is the group leader of who makes a call.
func (n *Node) leaderFor(a *process.Acting) PID {
	if a.Process != nil {
		if l := a.Process.OwnLeader(); !l.IsZero() {
			return l
		}
	}
	return n.sys.Leader()
}

// messages returns the oldest max messages that wait for a process: see runner.Messages.
func (n *Node) messages(pid PID, max int) []any {
	if p := n.sys.Lookup(pid); p != nil {
		return runner.Messages(p, max)
	}
	return nil
}

// traffic returns how many bytes have come and gone over the connections that this
// node has now.
func (n *Node) traffic() (in, out uint64) {
	if n.peers == nil {
		return 0, 0
	}
	return n.peers.Traffic()
}
