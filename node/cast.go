package node

import (
	"github.com/actornode/actornode/internal/kernel/calls"
)

// Cast is a message that was sent as a cast, and arrives marked as one: what {'$gen_cast', Body} is on the wire. One that comes
// from there is of the type that the body has, as a [Request] is.
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

// Send sends to a process as the method Send of whoever sends does: see [Node.Send]. It is for
// those who do not know which kind of [Caller] that is.
func Send(from Caller, to Dest, msg any) error {
	return (&common{actingOf(from)}).Send(to, msg)
}
