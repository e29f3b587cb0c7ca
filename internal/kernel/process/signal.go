package process

import "github.com/actornode/actornode/wire"

// Reasons that have a meaning of their own.
const (
	NormalReason wire.Atom = "normal"
	Kill         wire.Atom = "kill"   // by exit/2: it cannot be trapped
	Killed       wire.Atom = "killed" // what others see of a process that kill has ended
)

// Effect is what an exit signal does.
type Effect uint8

const (
	None    Effect = iota
	Message        // the process gets a message that says the reason
	End            // the process exits
)

// Link is the effect of a signal that a link carries. traps: the process traps exits.
func Link(reason any, traps bool) Effect {
	switch {
	case traps:
		return Message
	case reason == NormalReason:
		return None
	}
	return End
}

// Exit is the effect of exit/2, with the reason for which the process exits. self: it comes from the
// process itself.
func Exit(reason any, traps, self bool) (Effect, any) {
	switch {
	case reason == Kill:
		return End, Killed
	case traps:
		return Message, reason
	case reason == NormalReason && !self:
		return None, reason
	}
	return End, reason
}
