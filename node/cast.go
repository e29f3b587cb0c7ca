package node

import (
	"github.com/actornode/actornode/internal/kernel/calls"
)

// Cast is a message that was sent as a cast, and arrives marked as one: {'$gen_cast', Body} on the wire. One from the
// wire has the type of its body, as a [Request] does.
type Cast[T any] struct{ Body T }

// wireTerm is {'$gen_cast', Body}.
func (c Cast[T]) wireTerm() any { return calls.MakeCast(c.Body) }

func (c Cast[T]) uncast() any { return c.Body }

// AsCast reads a message that is a cast, of whatever kind: a Cast of any type, or
// Erlang's {'$gen_cast', Body}.
func AsCast(msg any) (body any, ok bool) {
	_, msg = sentBy(msg)
	if c, ok := msg.(interface{ uncast() any }); ok {
		return c.uncast(), true
	}
	return calls.ReadCast(msg)
}

// Send sends to a process as the sender's method Send does: see [Node.Send]. It is for code that does not know which
// kind of [Caller] sends.
func Send(from Caller, to Dest, msg any) error {
	return (&common{actingOf(from)}).Send(to, msg)
}
