package peers

import (
	"github.com/actornode/actornode/internal/kernel/calls"
	"github.com/actornode/actornode/internal/kernel/limits"
	"github.com/actornode/actornode/internal/kernel/process"
	"github.com/actornode/actornode/internal/wire/links"
	"github.com/actornode/actornode/node/deadletter"
	"github.com/actornode/actornode/wire"
	"github.com/actornode/actornode/wire/dist"
)

// Calls of other nodes, and their replies.
//
// A call between two nodes whose link is a [links.Requester] is one frame there, with the monitor
// of the process that is called, and one back, which ends the monitor. A call that is answered
// another way, or that the caller gives up, is as any: the caller's node sends an OpDemonitor.

// FarCaller is the caller of a request that has come as a term: a process of another node, or of this one.
type FarCaller struct {
	From    calls.From       // where the reply goes
	Sender  *Sender          // the peer that has sent the request; nil: not known
	c       *Cluster         // nil: the node is not distributed
	watch   *process.Monitor // that has come with the request, by the caller; nil: none
	monitor *process.Monitor // that the caller has made before the request, and that ends when it gives up; nil: none
}

// FarCallerOf returns the caller of a call that has come as a term, or nil.
func FarCallerOf(p *process.Call) *FarCaller {
	far, _ := p.Far.(*FarCaller)
	return far
}

// Waits reports whether nothing says that the caller has given up: it takes its monitor away then.
func (far *FarCaller) Waits() bool {
	return (far.watch == nil || !far.watch.IsOver()) && (far.monitor == nil || !far.monitor.IsOver())
}

// ReadFrom makes the ticket of a request that has come as a term and is to be answered as from says. A nil c is that of a
// node which is not distributed.
func (c *Cluster) ReadFrom(sys *process.System, by *Sender, from calls.From) process.Ticket {
	x := &struct {
		process.Call
		FarCaller
	}{FarCaller: FarCaller{From: from, Sender: by, c: c}}
	if by != nil && by.over != nil && from.ToAlias {
		x.monitor, _ = by.over.MonitorBy(from.Alias).(*process.Monitor)
	}
	x.Call.System, x.Call.Far = sys, &x.FarCaller
	return x.NewTicket()
}

// called makes the request of a call of q in one frame, as q gets it, and the monitor.
func (p *Peer) called(q *process.Process, f *dist.Frame, r *links.Request) any {
	x := &struct {
		process.Call
		FarCaller
		process.Monitor
	}{
		FarCaller: FarCaller{From: calls.FromAlias(f.From, r.Ref), Sender: p.sender, c: p.c},
		Monitor:   process.WatchedBy(p, f.From, r.Ref, q, f.Name),
	}
	x.Call.System, x.Call.Far, x.watch = p.System, &x.FarCaller, &x.Monitor
	p.attach(&x.Monitor, f.To, process.NoProc)
	return p.c.cfg.Node.Request(r.Body, x.NewTicket())
}

// Reply sends what p has been settled with as a message, on behalf of a: behind what a has sent
// before. Nothing holds a up, no mailbox and no peer: a message has said where the reply goes, and
// a caller that does not read must not stop a server of others.
func (far *FarCaller) Reply(a *process.Acting, p *process.Call) {
	v, err := p.Result()
	if e, ok := err.(calls.End); ok {
		if err = e.Tell(); err == nil {
			return
		}
	}
	if far.watch != nil && far.replyInOne(a, v, err) {
		return
	}
	to, sys := far.From, p.System
	if !far.Sender.Asker(sys).MayAnswer(to) {
		far.Sender.Misdirected(sys, to, v)
		return
	}
	t := sys.TargetOf(to.PID)
	if to.ToAlias {
		t = sys.TargetAliased(to.Alias)
	}
	if err != nil {
		v = sys.Values.Failed(err)
	}
	msg := to.Reply(v)
	if _, isCall := calls.ReplyRef(msg); err != nil && isCall {
		if t.Node != "" {
			msg = to.Reply(sys.Values.Reply(err))
		} else if to.ToAlias && far.c.RepliedWith(to.Alias, msg, nil, err) {
			return
		}
	}
	_ = far.c.Answer(a, t, dist.Frame{Payload: msg, Token: a.Process.Token(), Answer: true})
}

// replyInOne is Reply in one frame. It returns false, and sends nothing, if the caller's node waits for no such
// reply any more.
func (far *FarCaller) replyInOne(a *process.Acting, v any, err error) bool {
	m, sys, p := far.watch, a.System, far.Sender.over
	if err != nil {
		v = sys.Values.Reply(err)
	}
	f := dist.Frame{Op: dist.OpSend, From: a.Sender(), Ref: m.Ref(), Payload: &links.Reply{Value: v}, Token: a.Process.Token(),
		Answer: true}
	if t := sys.Traces(); t != nil {
		t.Away(a.PID(), f.To, f.Name, p.Name, calls.Message(&f))
	}
	p.mu.Lock()
	if !p.tables.HasMonitorBy(m) {
		p.mu.Unlock()
		return false
	}
	_, unfit := p.Box.Put(a.OutboxTurn(), f)
	if unfit == nil {
		p.tables.Down(m)
	}
	p.mu.Unlock()
	m.Forget()
	if unfit != nil {
		_ = p.unsent(f, unfit)
	}
	return true
}

// Misdirected counts an answer to what s has sent, and has it logged, that is not sent: s says that it is to go where it could
// not send it itself.
func (s *Sender) Misdirected(sys *process.System, to calls.From, v any) {
	peer, addr := limits.Unknown, ""
	if s != nil {
		peer, addr = s.Peer, s.Addr
	}
	sys.Reports.Count(Refused, "send")
	sys.Reports.NoRight(peer, addr, "send", func() string {
		if to.ToAlias {
			return to.Alias.String()
		}
		return to.PID.String()
	})
	sys.DeadLetter(deadletter.Letter{Cause: deadletter.NoProcess, To: to.PID, Alias: to.Alias, Message: v})
}

// Replied settles the call that msg answers, if it is a reply to one that has come another way than
// over the connection that the call went out by: one whose From has been handed on. It reports whether
// there was such a call.
func (c *Cluster) Replied(ref wire.Ref, msg any) bool {
	if c == nil {
		return false
	}
	if of, ok := calls.ReplyRef(msg); !ok || of != ref {
		return false
	}
	v, err := c.cfg.System.Values.Outcome(msg.(wire.Tuple)[1])
	return c.RepliedWith(ref, msg, v, err)
}

// RepliedWith is Replied with what the reply says.
func (c *Cluster) RepliedWith(ref wire.Ref, msg, v any, err error) bool {
	if c == nil {
		return false
	}
	sys := c.cfg.System
	if t, ok := sys.Lent.Take(ref); ok {
		if !t.Settle(&sys.Plain, v, err) {
			sys.DeadLetter(deadletter.Letter{Cause: deadletter.LateReply, Alias: ref, Message: msg})
		}
		return true
	}
	return c.answer(ref, v, err)
}
