package node

import (
	"github.com/actornode/actornode/node/internal/gencall"
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

// wireTerm is what the call would be from Erlang: {'$gen_call', From, Body}.
func (r Request[T]) wireTerm() any { return gencall.MakeCall(r.From.term(), r.Body) }

func (r Request[T]) untyped() Request[any] { return Request[any]{r.Body, r.From} }
