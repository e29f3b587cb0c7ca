package node

import (
	"github.com/actornode/actornode/node/internal/gencall"
	"github.com/actornode/actornode/node/internal/promise"
	"github.com/actornode/actornode/node/internal/reason"
	"github.com/actornode/actornode/wire/dist"
)

// AsRequest reads a message that is a call, of whatever kind: a Request of any
// type, or Erlang's {'$gen_call', From, Body}. It reports false for any other
// message. A behaviour that is called from Erlang, or from servers it knows
// nothing of, uses it in place of a type switch.
func (n *Node) AsRequest(msg any) (Request[any], bool) {
	via, term := viaPeer(msg)
	if from, body, ok := gencall.ReadCall(term); ok {
		f, ok := n.readFrom(via, from)
		return Request[any]{body, f}, ok
	}
	if r, ok := msg.(interface{ untyped() Request[any] }); ok {
		return r.untyped(), true
	}
	return Request[any]{}, false
}

// viaPeer is the message in a PeerMessage, and what is known of the peer; nil for any other message.
func viaPeer(msg any) (*PeerMessage, any) {
	if m, ok := msg.(PeerMessage); ok {
		return &PeerMessage{Peer: m.Peer, Addr: m.Addr}, m.Message
	}
	return nil, msg
}

// Term is what the call would be from Erlang: {'$gen_call', From, Body}.
func (r Request[T]) Term() any { return gencall.MakeCall(r.From.term(), r.Body) }

func (r Request[T]) untyped() Request[any] { return Request[any]{r.Body, r.From} }

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
