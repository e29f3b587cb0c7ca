// This file connects the mailboxes of processes that have an owner with the rest of the node: see package lifetime. It has no
// state and no goroutine.

package inbox

import "github.com/actornode/actornode/mailbox"

// Keeper is the mailbox of a process with an owner.
type Keeper interface {
	mailbox.Box
	// Keep keeps the process alive from now on, even if it is unreachable. The caller holds the lock of the process.
	Keep()
	// Owner returns the value that keeps the process alive while it is referenced, or nil if it is gone.
	Owner() any
}

// KeepOwned is Keeper.Keep for b, which may be any mailbox, or nil.
func KeepOwned(b mailbox.Box) {
	if k, ok := b.(Keeper); ok {
		k.Keep()
	}
}

// Expected is a future message, or the tag of one. It keeps its receiver alive.
type Expected struct {
	Message any
	owner   any
}

// Expect returns msg, which b will get, as an *Expected, or unchanged if b is not a Keeper. b may be any mailbox, or nil.
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

// BareExpected returns msg without the wrapper of Expect.
func BareExpected(msg any) any {
	if e, ok := msg.(*Expected); ok {
		return e.Message
	}
	return msg
}

// BehaviourOf returns the behaviour, of type B, of an Actor with an owner, and any other b unchanged.
func BehaviourOf[B any](b B) B {
	if w, ok := any(b).(interface{ Behaviour() B }); ok {
		return w.Behaviour()
	}
	return b
}

// IsOwned reports whether b is the mailbox of a process with an owner.
func IsOwned(b mailbox.Box) bool {
	_, ok := b.(Keeper)
	return ok
}
