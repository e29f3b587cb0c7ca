package node

import (
	"errors"

	"github.com/actornode/actornode/wire"
)

// Labels of the messages by which Erlang's gen behaviours talk.
const (
	genCall wire.Atom = "$gen_call"
	alias_  wire.Atom = "alias"
)

// AsRequest reads a message that is a call, of whatever kind: a Request of any
// type, or Erlang's {'$gen_call', From, Body}. It reports false for any other
// message. A behaviour that is called from Erlang, or from servers it knows
// nothing of, uses it in place of a type switch.
func (n *Node) AsRequest(msg any) (Request[any], bool) {
	switch m := msg.(type) {
	case PeerMessage:
		t, ok := m.Message.(wire.Tuple)
		if !ok || len(t) != 3 || t[0] != genCall {
			return Request[any]{}, false
		}
		from, ok := n.ReadFromPeer(m, t[1])
		return Request[any]{t[2], from}, ok
	case wire.Tuple:
		if len(m) != 3 || m[0] != genCall {
			return Request[any]{}, false
		}
		from, ok := n.ReadFrom(m[1])
		return Request[any]{m[2], from}, ok
	case interface{ untyped() Request[any] }:
		return m.untyped(), true
	}
	return Request[any]{}, false
}

// Term is what the call would be from Erlang: {'$gen_call', From, Body}.
func (r Request[T]) Term() any { return wire.Tuple{genCall, r.From.Term(), r.Body} }

func (r Request[T]) untyped() Request[any] { return Request[any]{r.Body, r.From} }

// ReadFrom reads the second element of a '$gen_call' or of a system message:
// {Pid, Tag}. The reply is the message {Tag, Reply}, to the alias if Tag is
// [alias|Ref] or [[alias|Ref]|_], else to Pid; see gen:reply in stdlib.
func (n *Node) ReadFrom(term any) (From, bool) { return n.readFrom(nil, term) }

// ReadFromPeer is ReadFrom for what is in a message of a peer.
func (n *Node) ReadFromPeer(via PeerMessage, term any) (From, bool) {
	return n.readFrom(&PeerMessage{Peer: via.Peer, Addr: via.Addr}, term)
}

func (n *Node) readFrom(via *PeerMessage, term any) (From, bool) {
	t, ok := term.(wire.Tuple)
	if !ok || len(t) != 2 {
		return From{}, false
	}
	to, isPID := t[0].(PID)
	ref, isAlias := aliasOf(t[1])
	if !isPID && !isAlias {
		return From{}, false
	}
	r := &requester{to, via}
	p := &promise{node: n, far: r, more: &watches{}}
	p.more.then = []func(*acting){func(a *acting) { p.reply(a, r.pid, ref, isAlias, t[1]) }}
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

// Term is what From looks like to those who are shown a call: {Pid, '$go_call'},
// with undefined for a plain goroutine.
func (f From) Term() any {
	if pid := f.Caller(); !pid.IsZero() {
		return wire.Tuple{pid, wire.Atom("$go_call")}
	}
	return wire.Tuple{wire.Undefined, wire.Atom("$go_call")}
}

// aliasOf finds the alias in the tag of a call: [alias|Ref] or [[alias|Ref]|_].
func aliasOf(tag any) (Ref, bool) {
	for range 2 {
		switch l := tag.(type) {
		case wire.ImproperList:
			if len(l.Head) == 0 {
				return Ref{}, false
			}
			if ref, ok := l.Tail.(Ref); ok && len(l.Head) == 1 && l.Head[0] == alias_ {
				return ref, true
			}
			tag = l.Head[0]
		case wire.List:
			if len(l) == 0 {
				return Ref{}, false
			}
			tag = l[0]
		default:
			return Ref{}, false
		}
	}
	return Ref{}, false
}

// ErrorTerm is an error as Erlang's {error, Reason} should carry it: the exit
// reason of an error that has one, what its method Term() any returns, else the
// error's text as a binary. err, which must not be nil, or an error that it wraps
// may have them.
func ErrorTerm(err error) any {
	var chosen *exit
	var exited *ExitError
	var own interface {
		error
		Term() any
	}
	switch {
	case errors.As(err, &chosen):
		return chosen.reason
	case errors.As(err, &exited):
		return exited.Reason
	case errors.As(err, &own):
		return own.Term()
	}
	return err.Error()
}
