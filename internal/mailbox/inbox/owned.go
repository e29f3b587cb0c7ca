// Package inbox is what the mailbox of a process that an owner holds is told by others: see package lifetime.
//
// It has no state and no goroutine.
package inbox

import "github.com/actornode/actornode/mailbox"

// Keeper is such a mailbox.
type Keeper interface {
	mailbox.Box
	// Keep says that something keeps the process from now on, whether it can be reached or not. The caller holds
	// the lock of the process.
	Keep()
	// Owner returns what keeps the process for as long as somebody refers to it; nil: there is nothing any more.
	Owner() any
}

// KeepOwned is Keeper.Keep for b, which may be any mailbox, or nil.
func KeepOwned(b mailbox.Box) {
	if k, ok := b.(Keeper); ok {
		k.Keep()
	}
}

// Expected is a message that will come, or the tag of one: who has it keeps the process that it is for.
type Expected struct {
	Message any
	owner   any
}

// Expect returns msg, which b will get, as an *Expected, and as it is where b, which may be any mailbox, or nil, is no
// Keeper.
func Expect(b mailbox.Box, msg any) any {
	if k, ok := b.(Keeper); ok {
		return &Expected{msg, k.Owner()}
	}
	return msg
}

// OwnerOf is Keeper.Owner for b, which may be any mailbox, or nil.
func OwnerOf(b mailbox.Box) any {
	if k, ok := b.(Keeper); ok {
		return k.Owner()
	}
	return nil
}

// BareExpected returns msg without what Expect has put round it.
func BareExpected(msg any) any {
	if e, ok := msg.(*Expected); ok {
		return e.Message
	}
	return msg
}

// BehaviourOf returns the behaviour of an Actor that an owner holds, of type B, and b, that of others, as it is.
func BehaviourOf[B any](b B) B {
	if w, ok := any(b).(interface{ Behaviour() B }); ok {
		return w.Behaviour()
	}
	return b
}

// IsOwned reports whether b is the mailbox of a process that an owner holds.
func IsOwned(b mailbox.Box) bool {
	_, ok := b.(Keeper)
	return ok
}
