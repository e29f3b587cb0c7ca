package node

import (
	"github.com/actornode/actornode/internal/kernel/calls"
	"github.com/actornode/actornode/internal/kernel/process"
	"github.com/actornode/actornode/internal/wire/links"
	"github.com/actornode/actornode/wire/dist"
)

// A call between two nodes whose link is a links.Requester is one frame there, with the monitor
// of the process that is called, and one back, which ends the monitor. A call that is answered
// another way, or that the caller gives up, is as any: the caller's node sends an OpDemonitor.

// called makes the Request of a call of q in one frame, as q gets it, and the monitor.
func (p *peer) called(q *process.Process, f *dist.Frame, r *links.Request) any {
	x := &struct {
		process.Call
		farCaller
		process.Monitor
	}{
		farCaller: farCaller{from: calls.FromAlias(f.From, r.Ref), peer: p, via: p.via},
		Monitor:   process.WatchedBy(&p.RemotePeer, f.From, r.Ref, q, f.Name),
	}
	x.Call.System, x.Call.Far, x.farCaller.watch = &p.n.sys, &x.farCaller, &x.Monitor
	p.Attach(&x.Monitor, f.To, NoProc)
	msg := p.n.types.maker(r.Body).request(r.Body, From{t: x.NewTicket()})
	if !q.ShowsPeer {
		return msg
	}
	return PeerMessage{x.via.Peer, x.via.Addr, msg, x.via.by, x.via.over}
}

// replyInOne is reply in one frame. False: nothing is sent, for the caller's node waits for no such
// reply any more.
func (c *farCaller) replyInOne(a *process.Acting, v any, err error) bool {
	m, far, n := c.watch, c.peer, nodeOf(a.System)
	if err != nil {
		v = n.values.Reply(err)
	}
	f := dist.Frame{Op: dist.OpSend, From: a.Sender(), Ref: m.Ref(), Payload: &links.Reply{Value: v}, Token: a.Process.Token(),
		Answer: true}
	if t := n.sys.Traces(); t != nil {
		t.Away(a.PID(), f.To, f.Name, far.Name, calls.Message(&f))
	}
	sent, unfit := far.Reply(a.OutboxTurn(), m, f)
	if !sent {
		return false
	}
	m.Forget()
	if unfit != nil {
		_ = far.unsent(f, unfit)
	}
	return true
}
