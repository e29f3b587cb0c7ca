package node

import (
	"context"
	"slices"

	"github.com/actornode/actornode/node/internal/report"
	"github.com/actornode/actornode/node/internal/trace"
)

// user is the name of the process that prints what processes print that have no
// other group leader.
const user Atom = "user"

// procKey finds the process in its context.
type procKey struct{}

// Calling returns the process whose context ctx is, or comes from: in an exported
// function, the process that runs it.
func Calling(ctx context.Context) (n *Node, pid PID, ok bool) {
	p, ok := ctx.Value(procKey{}).(*proc)
	if !ok {
		return nil, PID{}, false
	}
	return p.node, p.pid(), true
}

// leaderOf returns the group leader of a process: the process that prints for it,
// by Erlang's I/O protocol. It is that of the process that spawned it; of one
// that another node has spawned, what that node says. Others have the process
// that is registered as user.
func (n *Node) leaderOf(pid PID) PID {
	if p := n.lookup(pid); p != nil {
		if l := p.ownLeader(); !l.IsZero() {
			return l
		}
	}
	return n.leader()
}

// leader is the group leader of processes that have no other.
func (n *Node) leader() PID {
	if pid, ok := n.Whereis(user); ok {
		return pid
	}
	return n.self()
}

// leader is the group leader of who makes a call.
func (a *acting) leader() PID {
	if a.p != nil {
		if l := a.p.ownLeader(); !l.IsZero() {
			return l
		}
	}
	return a.node.leader()
}

// ownLeader returns p's group leader; zero: the node's.
func (p *proc) ownLeader() PID {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.cold == nil {
		return PID{}
	}
	return p.cold.leader
}

// follow sets the group leader of p, which nobody knows yet.
func (p *proc) follow(leader PID) { p.coldPart().leader, p.led = leader, true }

// setLeader is the signal group_leader. A process that had none of its own does not
// hand the new one on to those it spawns.
func (n *Node) setLeader(pid, leader PID) {
	if p := n.lookup(pid); p != nil {
		p.mu.Lock()
		p.coldPart().leader = leader
		p.mu.Unlock()
	}
}

// codeOf says where the code of a behaviour is.
func codeOf(b Actor) string {
	if s, ok := b.(blocking); ok {
		return report.Code(s.fn)
	}
	return report.Code(b)
}

// messages returns the messages that wait for a process, the oldest max of them,
// as Info counts them. Unlike Info it takes the process's stage for a moment: a handler that
// runs meanwhile goes on without it. Those in a mailbox that is bounded or that a user has made
// are not shown.
func (n *Node) messages(pid PID, max int) []any {
	p := n.lookup(pid)
	if p == nil || p.boxed {
		return nil
	}
	var all []any
	look := func() {
		for m := range p.q.All() {
			if len(all) >= max {
				return
			}
			all = append(all, m)
		}
		all = append(all, p.in.Oldest(max-len(all))...)
	}
	p.runner().inspect(look)
	for i, m := range all {
		all[i] = trace.Bare(m)
	}
	return slices.DeleteFunc(all, func(m any) bool { return !ordinary(m) })
}

// traffic returns how many bytes have come and gone over the connections that this
// node has now.
func (n *Node) traffic() (in, out uint64) {
	if n.dist == nil {
		return 0, 0
	}
	return n.dist.Traffic()
}
