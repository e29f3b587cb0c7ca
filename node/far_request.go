package node

import (
	"github.com/actornode/actornode/internal/linkopt"
	"github.com/actornode/actornode/node/internal/gencall"
	"github.com/actornode/actornode/wire/dist"
)

// A call between two nodes whose link is a linkopt.Requester is one frame there, with the monitor
// of the process that is called, and one back, which ends the monitor. A call that is answered
// another way, or that the caller gives up, is as any: the caller's node sends an OpDemonitor.

// called makes the Request of a call of q in one frame, as q gets it, and the monitor.
func (p *peer) called(q *proc, f *dist.Frame, r *linkopt.Request) any {
	x := &struct {
		call
		requester
		monitor
	}{
		requester: requester{from: gencall.FromAlias(f.From, r.Ref)},
		monitor:   monitor{ref: r.Ref, far: p, by: f.From, target: q, name: f.Name},
	}
	x.call.node, x.call.far, x.requester.watch = p.n, &x.requester, &x.monitor
	p.watched(&x.monitor, f.To, NoProc)
	msg := p.n.types.maker(r.Body).request(r.Body, From{t: x.arm()})
	if !q.showsPeer {
		return msg
	}
	x.via = p.without()
	return PeerMessage{x.via.Peer, x.via.Addr, msg}
}

// replyInOne is reply in one frame. False: nothing is sent, for the caller's node waits for no such
// reply any more.
func (p *call) replyInOne(a *acting, v any, err error) bool {
	m := p.far.watch
	far, n := m.far.(*peer), p.node
	if err != nil {
		v = n.values.Reply(err)
	}
	f := dist.Frame{Op: dist.OpSend, From: a.sender(), Ref: m.ref, Payload: &linkopt.Reply{Value: v}, Token: a.p.token(),
		Answer: true}
	if t := n.traces(); t != nil {
		t.Away(a.pid(), f.To, f.Name, far.name, gencall.Message(&f))
	}
	sent, unfit := far.Reply(a.turn(), m, f)
	if !sent {
		return false
	}
	m.forget()
	if unfit != nil {
		_ = far.unsent(f, unfit)
	}
	return true
}
