package node

import (
	"github.com/actornode/actornode/node/deadletter"
	"github.com/actornode/actornode/node/internal/gencall"
	"github.com/actornode/actornode/node/internal/promise"
	"github.com/actornode/actornode/node/internal/reason"
	"github.com/actornode/actornode/wire/dist"
)

// From is where a reply goes. It can be kept, sent and used from anywhere, once.
type From struct {
	t      ticket
	caller uint64 // number of the calling process, plus 1; 0: a plain goroutine
}

// Reply answers the caller. [ErrReplied] if somebody has done so, or if the
// caller has given up: such a reply is a dead letter, never a message.
func (f From) Reply(v any) error {
	if f.t.p == nil {
		return ErrReplied // there is no call
	}
	return f.answer(&f.t.p.node.acting, v, nil)
}

// Fail answers the caller with an error.
func (f From) Fail(err error) error {
	if f.t.p == nil {
		return ErrReplied
	}
	return f.answer(&f.t.p.node.acting, nil, err)
}

func (f From) answer(a *acting, v any, err error) error {
	if f.t.settle(a, v, err) {
		return nil
	}
	if f.t.p != nil {
		f.t.p.node.deadLetter(deadletter.Letter{Cause: deadletter.LateReply, To: f.Caller(), Message: v})
	}
	return ErrReplied
}

// Pending reports whether the caller still waits.
func (f From) Pending() bool { return f.t.pending() }

// readFrom reads the second element of a '$gen_call' or of a system message:
// {Pid, Tag}. The reply is the message {Tag, Reply}, to the alias if Tag is
// [alias|Ref] or [[alias|Ref]|_], else to Pid; see gen:reply in stdlib. via is the
// message of a peer that the term is in, nil: it is in none.
func (n *Node) readFrom(via *PeerMessage, term any) (From, bool) {
	to, ok := gencall.ReadFrom(term)
	if !ok {
		return From{}, false
	}
	p := &call{node: n, far: &requester{to.PID, via}}
	p.more = promise.Then(func(a *acting) { p.reply(a, to) })
	return From{t: p.arm()}, true
}

// Caller returns the process that a reply goes to; the zero PID if that is a
// plain goroutine.
func (f From) Caller() PID {
	switch p := f.t.p; {
	case p == nil:
		return PID{}
	case p.far != nil:
		return p.far.pid
	case f.caller != 0:
		return p.node.origin.PID(f.caller - 1)
	}
	return PID{}
}

// term is what From looks like to those who are shown a call: {Pid, '$go_call'},
// with undefined for a plain goroutine.
func (f From) term() any { return gencall.GoFrom(f.Caller()) }

// reply sends what p has been settled with as a message, on behalf of a: behind what a has sent
// before. Nothing holds a up, no mailbox and no peer: a message has said where the reply goes, and
// a caller that does not read must not stop a server of others.
func (p *call) reply(a *acting, to gencall.From) {
	v, err := p.Result()
	if err != nil {
		v = reason.Failure(errorTerm(err))
	}
	f, where := dist.Frame{Op: dist.OpSend, To: to.PID, Payload: to.Reply(v), Token: a.p.token()}, to.PID.Node()
	if to.ToAlias {
		f.To, f.Ref, where = PID{}, to.Alias, to.Alias.Node()
	}
	p.node.sendNow(a, f, where)
}
