package node

import (
	"github.com/actornode/actornode/internal/kernel/process"
	"github.com/actornode/actornode/wire"
)

// Short names for the vocabulary that every program with actors uses.
type (
	PID  = wire.PID
	Ref  = wire.Ref
	Atom = wire.Atom
	At   = wire.At
)

// Context is what an Actor's handler acts through: the runtime, seen from
// inside one process. It belongs to the goroutine that runs the handler and is
// valid until the handler returns; keep the PID, not the Context.
type Context struct {
	core
	own       process.Acting
	behaviour *Actor // of the Actor whose handler runs; nil: of none
	local     process.Local

	_ [16]byte // so that those of two workers share no cache line
}

// ActorContext is [Context] for the types that embed it: those of the behaviours, such as genserver.Context. A field that is
// called Context would hide the method Context.
type ActorContext = Context

// newContext makes a context without a worker.
func newContext(sys *process.System) *Context {
	c := &Context{}
	c.own = process.Acting{System: sys, Local: &c.local}
	c.by = &c.own
	return c
}

// Become makes b the behaviour from the next message on. It gets messages left by ErrUnhandled first, in the order of
// their arrival. After a Push it replaces the upper behaviour. A nil behaviour is a crash with [ErrArgument].
func (c *Context) Become(b Actor) { c.become(b, false) }

// BecomeFunc is Become of an [ActorFunc].
func (c *Context) BecomeFunc(f func(c *Context, msg any) error) { c.become(ActorFunc(f), false) }

// Push is Become with a way back: Unbecome returns to the present behaviour.
func (c *Context) Push(b Actor) { c.become(b, true) }

// PushFunc is Push of an [ActorFunc].
func (c *Context) PushFunc(f func(c *Context, msg any) error) { c.become(ActorFunc(f), true) }

// Unbecome returns to the behaviour before the last Push. It reports whether
// there was one; match.Unbecome ends the Actor where there was none.
func (c *Context) Unbecome() bool {
	k := c.own.Own().Cold
	if k == nil || len(k.Stack) == 0 {
		return false
	}
	last := len(k.Stack) - 1
	b := k.Stack[last].(Actor)
	k.Stack[last] = nil
	k.Stack = k.Stack[:last]
	c.become(b, false)
	return true
}
