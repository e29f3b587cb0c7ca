package node

import (
	"github.com/actornode/actornode/internal/kernel/calls"
	"github.com/actornode/actornode/internal/kernel/peers"
	"github.com/actornode/actornode/internal/kernel/watch"
)

// AsRequest reads a message that is a call, of whatever kind: a Request of any type, one in a [PeerMessage], or
// Erlang's {'$gen_call', From, Body} from a process of this node. It reports false for any other message. A behaviour
// uses it instead of a type switch for bodies of types that it does not know.
func (n *Node) AsRequest(msg any) (Request[any], bool) {
	by, msg := sentBy(msg)
	if r, ok := msg.(untyped); ok {
		return r.untyped(), true
	}
	if from, body, ok := calls.ReadCall(msg); ok {
		f, ok := n.readFrom(by, from)
		return Request[any]{body, f}, ok
	}
	return Request[any]{}, false
}

// unanswered fails the call if msg is its request, which has been lost: nobody should wait for an answer that cannot
// come. It reports whether somebody waited.
func unanswered(msg any, why error) bool {
	_, msg = sentBy(watch.BareMessage(msg))
	r, ok := msg.(untyped)
	if !ok {
		return false
	}
	from := r.untyped().From
	return from.t.Call != nil && from.t.Settle(&from.t.Call.System.Plain, nil, why)
}

// untyped is a Request of any type.
type untyped interface{ untyped() Request[any] }

// received returns a message of another node as processes here get it: a call is a Request of the type of its body, and
// a cast a Cast. In a system message and a request to gen_event From becomes a From, which knows who asks. Any other
// message is returned as it is. by is the peer that sent it; nil: unknown.
func (n *Node) received(by *peers.Sender, msg any) any {
	if n.dist == nil {
		return msg
	}
	if from, body, ok := calls.ReadCall(msg); ok {
		if f, ok := n.readFrom(by, from); ok {
			body = calls.Body(by != nil && by.Exact, body)
			return n.types.maker(body).request(body, f)
		}
	} else if body, ok := calls.ReadCast(msg); ok {
		body = calls.Body(by != nil && by.Exact, body)
		return n.types.maker(body).cast(body)
	} else if label, from, what, ok := calls.ReadLabelled(msg); ok {
		if f, ok := n.readFrom(by, from); ok {
			return calls.MakeLabelled(label, f, what)
		}
	}
	return msg
}

// sentBy returns the message in a PeerMessage, and who sent it: nil for any other message.
func sentBy(msg any) (*peers.Sender, any) {
	if m, ok := msg.(PeerMessage); ok {
		return m.from, m.Message
	}
	return nil, msg
}

// wireTerm is the call as Erlang sends it: {'$gen_call', From, Body}.
func (r Request[T]) wireTerm() any { return calls.MakeCall(r.From.term(), r.Body) }

func (r Request[T]) untyped() Request[any] { return Request[any]{r.Body, r.From} }
