package process

import "github.com/actornode/actornode/wire"

// Reasons with a special meaning.
const (
	NormalReason wire.Atom = "normal"
	Kill         wire.Atom = "kill"   // by exit/2: it cannot be trapped
	Killed       wire.Atom = "killed" // the reason that others see for a process ended by kill
)

// Effect is the effect of an exit signal.
type Effect uint8

const (
	None    Effect = iota
	Message        // the process receives a message with the reason
	End            // the process exits
)

// Link returns the effect of a signal over a link. traps reports whether the process traps exits.
func Link(reason any, traps bool) Effect {
	switch {
	case traps:
		return Message
	case reason == NormalReason:
		return None
	}
	return End
}

// Exit returns the effect of exit/2, and the reason with which the process exits. self reports whether the signal comes from
// the process itself.
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
