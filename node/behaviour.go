package node

import "fmt"

// Actor is an event-driven behaviour: it is given one message at a time and has
// neither goroutine nor stack while it waits. What Receive returns decides how
// it goes on: nil, the message is handled; [ErrUnhandled], it stays in the mailbox
// for another behaviour; [ErrStop] or [ExitWith], the process ends; any other
// error, the process ends with a [*Crash].
//
// ctx is valid until Receive returns, and only on its goroutine.
type Actor interface {
	Receive(ctx *Context, msg any) error
}

// ActorFunc is an Actor made of a function.
type ActorFunc func(ctx *Context, msg any) error

// Receive calls f.
func (f ActorFunc) Receive(ctx *Context, msg any) error { return f(ctx, msg) }

// Initializer is an Actor that wants to run before its first message. An error
// ends it as one from Receive would.
type Initializer interface {
	Init(ctx *Context) error
}

// BehaviourNamer is an Actor that names itself in [observe.Process], in logs and towards other nodes. Default: its Go
// type, as fmt prints it with %T. Other goroutines than the actor's call the method, too.
type BehaviourNamer interface {
	BehaviourName() string
}

// ProcessFunc is a blocking behaviour: straight-line code on its own goroutine. When it returns, the process ends: nil
// is the reason normal, an error counts as one from an Actor's Receive does.
type ProcessFunc func(p *Process) error

// Receive makes a ProcessFunc an Actor so that both can be spawned the same way.
// The runtime does not call it.
func (f ProcessFunc) Receive(*Context, any) error {
	return fmt.Errorf("node: an actor cannot take a ProcessFunc as its new behaviour: want an Actor")
}
