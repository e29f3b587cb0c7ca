package node

import (
	"github.com/actornode/actornode/internal/kernel/calls"
	"github.com/actornode/actornode/internal/kernel/peers"
	"github.com/actornode/actornode/internal/kernel/process"
	"github.com/actornode/actornode/node/deadletter"
)

// From is where a reply goes. You can keep it, send it to other processes and nodes, OTP's included, and use it from
// anywhere, once.
type From struct {
	t      process.Ticket
	caller uint64 // number of the calling process, plus 1; 0: a plain goroutine
}

// Reply answers the caller. The error is [ErrReplied] if somebody has done so, or if the caller has given up: such a
// reply is a dead letter, never a message. If the caller is on another node, or the From has been to one, ErrReplied
// says only that this copy of the From has been used; of several answers the caller gets the first, and the others are
// dead letters on its node. A v that cannot be sent to that node is no error here: the call fails with the
// [*wire.EncodeError].
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

// answerOrTell is answer, and calls tell if nobody reads it: see [process.Ticket.SettleOrTell].
func (f From) answerOrTell(a *process.Acting, v any, err error, tell func()) error {
	if f.t.SettleOrTell(a, v, err, tell) {
		return nil
	}
	if f.t.Call != nil {
		f.t.Call.System.DeadLetter(deadletter.Letter{Cause: deadletter.LateReply, To: f.Caller(), Message: v})
	}
	return ErrReplied
}

// Pending reports whether the caller still waits, as far as this node knows: a caller on another node that gives up
// says so, if it is on a Go node or called by OTP's gen_server. Ask before you begin long work.
func (f From) Pending() bool {
	return f.t.Pending() && f.farWaits()
}

// farWaits reports whether the caller still waits, as far as its own node says; one on this node does.
func (f From) farWaits() bool { return f.t.Call.Far == nil || farOf(f.t.Call).Waits() }

// readFrom reads the second element of a '$gen_call' or of a system message:
// {Pid, Tag}. The reply is the message {Tag, Reply}, to the alias if Tag is
// [alias|Ref] or [[alias|Ref]|_], else to Pid; see gen:reply in stdlib. by is the
// peer that has sent the term, nil: the sender is unknown. A From is one already.
func (n *Node) readFrom(by *peers.Sender, term any) (From, bool) {
	if f, ok := term.(From); ok {
		return f, f.t.Call != nil
	}
	to, ok := calls.ReadFrom(term)
	if !ok {
		return From{}, false
	}
	return From{t: n.peers.ReadFrom(&n.sys, by, to)}, true
}

// Caller returns the process that a reply goes to; the zero PID for a plain goroutine. A request of another node names
// its caller: Caller is zero if the reply goes to another node than that of the named process, or if the peer has no
// right to have it sent there. So a peer can name any process of its own node, and one of another node only if it has the
// right to send to all and that process gets the reply.
func (f From) Caller() PID {
	switch p := f.t.Call; {
	case p == nil:
		return PID{}
	case p.Far != nil:
		if to := farOf(p).From; to.PID.Node() == to.Node() && f.asker().MayAnswer(to) {
			return to.PID
		}
	case f.caller != 0:
		return p.System.Origin.PID(f.caller - 1)
	}
	return PID{}
}

// term is the From as other nodes, and those who are shown a call, see it: {Pid, Tag} as Erlang has it. The tag of a
// call within this node is [alias|Ref], made when somebody first asks for it; where there are no other nodes it is
// '$go_call', and Pid undefined for a plain goroutine.
func (f From) term() any {
	p := f.t.Call
	switch {
	case p == nil:
		return calls.GoFrom(PID{})
	case p.Far != nil:
		if !f.asker().MayAnswer(farOf(p).From) {
			return calls.GoFrom(PID{}) // nor may others answer it for us
		}
		return farOf(p).From.Term()
	}
	n, pid := nodeOf(p.System), f.Caller()
	if pid.IsZero() {
		pid = n.sys.Host.Self()
	}
	if pid.IsZero() || n.dist == nil {
		return calls.GoFrom(f.Caller())
	}
	if !f.t.Pending() {
		return calls.MakeFrom(pid, n.lentRef()) // to which nobody answers
	}
	return calls.MakeFrom(pid, n.sys.Lent.Lend(f.t, n.lentRef, func(t process.Ticket) bool { return !t.Pending() }))
}

// lentRef makes a reference that only those know who are given it.
func (n *Node) lentRef() Ref {
	number := n.sys.NewNumber()
	r := n.sys.Env.Uint64()
	return n.sys.Origin.Ref(uint32(number)&0x3ffff, uint32(number>>18), uint32(number>>50), uint32(r), uint32(r>>32))
}
