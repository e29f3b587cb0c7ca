package node

import "github.com/actornode/actornode/wire"

// Cast is a message of which the server that gets it knows that it was sent as a
// cast: what {'$gen_cast', Body} is from Erlang, and on the wire.
type Cast[T any] struct{ Body T }

// Term is {'$gen_cast', Body}.
func (c Cast[T]) Term() any { return wire.Tuple{genCast, c.Body} }

func (c Cast[T]) uncast() any { return c.Body }

const genCast wire.Atom = "$gen_cast"

// AsCast reads a message that is a cast, of whatever kind: a Cast of any type, or
// Erlang's {'$gen_cast', Body}.
func AsCast(msg any) (body any, ok bool) {
	switch m := msg.(type) {
	case PeerMessage:
		return AsCast(m.Message)
	case wire.Tuple:
		if len(m) == 2 && m[0] == genCast {
			return m[1], true
		}
	case interface{ uncast() any }:
		return m.uncast(), true
	}
	return nil, false
}

// Sender sends messages: a [*Node], a [*Context] or a [*Process].
type Sender interface {
	Send(to PID, msg any) error
	SendName(name Atom, msg any) error
	SendAlias(ref Ref, msg any) error
	SendAt(at At, msg any) error
}

// SendTo sends to a destination of any kind.
func SendTo[T Dest](from Sender, to T, msg any) error {
	switch to := any(to).(type) {
	case PID:
		return from.Send(to, msg)
	case Atom:
		return from.SendName(to, msg)
	case Ref:
		return from.SendAlias(to, msg)
	case At:
		return from.SendAt(to, msg)
	}
	return nil
}
