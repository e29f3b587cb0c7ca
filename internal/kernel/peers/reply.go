package peers

import (
	"cmp"
	"context"

	"github.com/actornode/actornode/internal/kernel/calls"
	"github.com/actornode/actornode/internal/kernel/limits"
	"github.com/actornode/actornode/internal/kernel/process"
	"github.com/actornode/actornode/internal/wire/links"
	"github.com/actornode/actornode/node/deadletter"
	"github.com/actornode/actornode/wire"
	"github.com/actornode/actornode/wire/dist"
)

// Calls of other nodes, and replies to them.
//
// A call between two nodes whose link is a [links.Requester] is one frame with the request and the monitor of the called
// process, and one frame back, which ends the monitor. If such a call is answered in another way, or given up by the caller,
// the caller's node sends an OpDemonitor, as for any call.

// FarCaller is the caller of a request that has come as a term: a process of another node, or of this one.
type FarCaller struct {
	From    calls.From       // where the reply goes
	Sender  *Sender          // the peer that has sent the request, or nil if unknown
	c       *Cluster         // nil if the node is not distributed
	watch   *process.Monitor // the caller's monitor that came with the request, or nil
	monitor *process.Monitor // the monitor that the caller created before the request and removes when it gives up, or nil
}

// FarCallerOf returns the caller of a call that came as a term, or nil.
func FarCallerOf(p *process.Call) *FarCaller {
	far, _ := p.Far.(*FarCaller)
	return far
}

// Waits reports whether the caller may still wait: it removes its monitor when it gives up. One without a monitor waits while
// its node is connected.
func (far *FarCaller) Waits() bool {
	if m := cmp.Or(far.watch, far.monitor); m != nil {
		return !m.IsOver()
	}
	return far.Sender == nil || far.Sender.over == nil || !far.Sender.over.IsOver()
}

// WhenGone calls f, on a goroutine of its own, once the caller no longer waits: it has removed its monitor, or can no longer
// be reached. stop prevents that. Of a caller without a monitor only the latter is known.
func (far *FarCaller) WhenGone(f func()) (stop func() bool) {
	if m := cmp.Or(far.watch, far.monitor); m != nil {
		return context.AfterFunc(m.Context(), f)
	}
	if far.Sender != nil && far.Sender.over != nil {
		return context.AfterFunc(far.Sender.over.Context(), f)
	}
	return func() bool { return true }
}

// ReadFrom makes the ticket of a request that came as a term and is to be answered to from. c is nil if the node is not
// distributed.
func (c *Cluster) ReadFrom(sys *process.System, by *Sender, from calls.From) process.Ticket {
	x := &struct {
		process.Call
		FarCaller
	}{FarCaller: FarCaller{From: from, Sender: by, c: c}}
	if ref, ok := from.Ref(); ok && by != nil && by.over != nil { // for OTP before 24 the tag is that of the monitor
		x.monitor, _ = by.over.MonitorBy(ref).(*process.Monitor)
	}
	x.Call.System, x.Call.Far = sys, &x.FarCaller
	return x.NewTicket()
}

// called returns the request of a call of q in one frame, as delivered to q, and adds the monitor.
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
	if r.Wait != 0 {
		x.SetWait(r.Wait)
	}
	p.attach(&x.Monitor, f.To, process.NoProc)
	return p.c.cfg.Node.Request(r.Body, x.NewTicket())
}

// Reply sends the result of p as a message, on behalf of a, after everything that a has sent before. It never blocks a,
// neither for a mailbox nor for a peer: the request determined where the reply goes, and a caller that does not read must not
// stall a server that also serves others.
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

// replyInOne is Reply in one frame. It returns false, and sends nothing, if the caller's node no longer waits for such a
// reply.
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

// Misdirected counts and logs an answer to a request of s that is not sent, because s addressed it to a destination that s
// may not send to itself.
func (s *Sender) Misdirected(sys *process.System, to calls.From, v any) {
	peer, addr := limits.Unknown, ""
	if s != nil {
		peer, addr = s.Peer, s.Addr
	}
	sys.Reports.Count(Refused, "send")
	of := to.PID.String()
	if to.ToAlias {
		of = to.Alias.String()
	}
	sys.Reports.NoRight(peer, addr, "send", of)
	sys.DeadLetter(deadletter.Letter{Cause: deadletter.NoProcess, To: to.PID, Alias: to.Alias, Message: v})
}

// Replied settles the call that msg answers, if msg is a reply that has not come over the connection by which the call was
// sent: to a call whose From was passed on. It reports whether there was such a call.
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

// RepliedWith is Replied with the decoded reply, v and err.
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
