package node

import (
	"github.com/actornode/actornode/internal/kernel/calls"
	"github.com/actornode/actornode/internal/kernel/peers"
	"github.com/actornode/actornode/internal/kernel/process"
	"github.com/actornode/actornode/node/deadletter"
	"github.com/actornode/actornode/wire"
	"github.com/actornode/actornode/wire/dist"
)

// From is where a reply goes. It can be kept, sent to other processes and nodes, OTP's included, and
// used from anywhere, once.
type From struct {
	t      process.Ticket
	caller uint64 // number of the calling process, plus 1; 0: a plain goroutine
}

// Reply answers the caller. [ErrReplied] if somebody has done so, or if the
// caller has given up: such a reply is a dead letter, never a message. Where the caller is on another
// node, or the From has been to one, ErrReplied says only that this copy of the From has been used; of
// several answers the caller gets the first, and the others are dead letters on its node. A v that cannot be
// sent to that node is no error here: the call fails with the [*wire.EncodeError].
func (f From) Reply(v any) error {
	if f.t.Call == nil {
		return ErrReplied // there is no call
	}
	return f.answer(&f.t.Call.System.Plain, v, nil)
}

// Fail answers the caller with an error.
func (f From) Fail(err error) error {
	if f.t.Call == nil {
		return ErrReplied
	}
	return f.answer(&f.t.Call.System.Plain, nil, err)
}

func (f From) answer(a *process.Acting, v any, err error) error {
	return f.answerOrTell(a, v, err, nil)
}

// answerOrTell is answer, with tell called if nobody reads it: see [process.Ticket.SettleOrTell].
func (f From) answerOrTell(a *process.Acting, v any, err error, tell func()) error {
	if f.t.SettleOrTell(a, v, err, tell) {
		return nil
	}
	if f.t.Call != nil {
		f.t.Call.System.DeadLetter(deadletter.Letter{Cause: deadletter.LateReply, To: f.Caller(), Message: v})
	}
	return ErrReplied
}

// Pending reports whether the caller still waits, as far as this node knows: a caller of another node that gives up tells
// it, if it is on a Go node or called by OTP's gen_server. What begins long work asks before it.
func (f From) Pending() bool {
	return f.t.Pending() && (f.t.Call.Far == nil || farOf(f.t.Call).waits())
}

// readFrom reads the second element of a '$gen_call' or of a system message:
// {Pid, Tag}. The reply is the message {Tag, Reply}, to the alias if Tag is
// [alias|Ref] or [[alias|Ref]|_], else to Pid; see gen:reply in stdlib. via is the
// message of the peer that has sent the term, nil: the sender is unknown. A From is one already.
func (n *Node) readFrom(via *PeerMessage, term any) (From, bool) {
	if f, ok := term.(From); ok {
		return f, f.t.Call != nil
	}
	to, ok := calls.ReadFrom(term)
	if !ok {
		return From{}, false
	}
	x := &struct {
		process.Call
		farCaller
	}{farCaller: farCaller{from: to, via: via}}
	if via != nil && via.over != nil && to.ToAlias {
		x.monitor, _ = via.over.Watching(to.Alias).(*process.Monitor)
	}
	x.Call.System, x.Call.Far = &n.sys, &x.farCaller
	return From{t: x.NewTicket()}, true
}

// Caller returns the process that a reply goes to; the zero PID if that is a
// plain goroutine.
func (f From) Caller() PID {
	switch p := f.t.Call; {
	case p == nil:
		return PID{}
	case p.Far != nil:
		return farOf(p).from.PID
	case f.caller != 0:
		return p.System.Origin.PID(f.caller - 1)
	}
	return PID{}
}

// term is what From looks like to other nodes, and to those who are shown a call: {Pid, Tag} as
// Erlang has it. The tag of a call within this node is [alias|Ref] from when it is first asked for;
// where there are no other nodes it is '$go_call', and Pid undefined for a plain goroutine.
func (f From) term() any {
	p := f.t.Call
	switch {
	case p == nil:
		return calls.GoFrom(PID{})
	case p.Far != nil:
		if !f.asker().MayAnswer(farOf(p).from) {
			return calls.GoFrom(PID{}) // nor may others answer it for us
		}
		return farOf(p).from.Term()
	}
	n, pid := nodeOf(p.System), f.Caller()
	if pid.IsZero() {
		pid = n.self()
	}
	if pid.IsZero() || n.dist == nil {
		return calls.GoFrom(f.Caller())
	}
	if !f.t.Pending() {
		return calls.MakeFrom(pid, n.lentRef()) // to which nobody answers
	}
	return calls.MakeFrom(pid, n.calls.Lend(f.t, n.lentRef, func(t process.Ticket) bool { return !t.Pending() }))
}

// lentRef makes a reference that nobody knows who has not been given it.
func (n *Node) lentRef() Ref {
	number := n.sys.NewNumber()
	r := n.sys.Env.Uint64()
	return n.sys.Origin.Ref(uint32(number)&0x3ffff, uint32(number>>18), uint32(number>>50), uint32(r), uint32(r>>32))
}

// answered settles the call that msg answers, if it is a reply to one that has come another way than
// over the connection that the call went out by: one whose From has been handed on. It reports whether
// there was such a call.
func (n *Node) answered(ref Ref, msg any) bool {
	if n.dist == nil {
		return false
	}
	if of, ok := calls.ReplyRef(msg); !ok || of != ref {
		return false
	}
	v, err := n.values.Outcome(msg.(wire.Tuple)[1])
	return n.answeredBy(ref, msg, v, err)
}

// answeredBy is answered with what the reply says.
func (n *Node) answeredBy(ref Ref, msg, v any, err error) bool {
	if t, ok := n.calls.Take(ref); ok {
		if !t.Settle(&n.sys.Plain, v, err) {
			n.sys.DeadLetter(deadletter.Letter{Cause: deadletter.LateReply, Alias: ref, Message: msg})
		}
		return true
	}
	return n.dist.Answer(ref, v, err)
}

// misdirected counts a reply, and has it logged, that is not sent: the request says that it is to go where its sender could not
// send it.
func (n *Node) misdirected(via *PeerMessage, to calls.From, v any) {
	peer, addr := unknown, ""
	if via != nil {
		peer, addr = via.Peer, via.Addr
	}
	n.counts.Add(peers.Refused, "send")
	n.reports.NoRight(peer, addr, "send", func() string {
		if to.ToAlias {
			return to.Alias.String()
		}
		return to.PID.String()
	})
	n.sys.DeadLetter(deadletter.Letter{Cause: deadletter.NoProcess, To: to.PID, Alias: to.Alias, Message: v})
}

// Reply sends what p has been settled with as a message, on behalf of a: behind what a has sent
// before. Nothing holds a up, no mailbox and no peer: a message has said where the reply goes, and
// a caller that does not read must not stop a server of others.
func (far *farCaller) Reply(a *process.Acting, p *process.Call) {
	v, err := p.Result()
	if e, ok := err.(calls.End); ok {
		if err = e.Tell(); err == nil {
			return
		}
	}
	if far.watch != nil && far.replyInOne(a, v, err) {
		return
	}
	to := far.from
	if n := nodeOf(p.System); !n.asker(far.via).MayAnswer(to) {
		n.misdirected(far.via, to, v)
		return
	}
	f, where := dist.Frame{Op: dist.OpSend, To: to.PID, Token: a.Process.Token(), Answer: true}, to.PID.Node()
	if to.ToAlias {
		f.To, f.Ref, where = PID{}, to.Alias, to.Alias.Node()
	}
	if err != nil {
		v = nodeOf(p.System).values.Failed(err)
	}
	f.Payload = to.Reply(v)
	if _, isCall := calls.ReplyRef(f.Payload); err != nil && isCall {
		if where != p.System.Name {
			f.Payload = to.Reply(nodeOf(p.System).values.Reply(err))
		} else if to.ToAlias && nodeOf(p.System).dist != nil && nodeOf(p.System).answeredBy(to.Alias, f.Payload, nil, err) {
			return
		}
	}
	nodeOf(p.System).sendNow(a, f, where)
}
