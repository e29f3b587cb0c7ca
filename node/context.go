package node

import (
	"github.com/actornode/actornode/internal/fiber"
	"github.com/actornode/actornode/node/internal/outbox"
	"github.com/actornode/actornode/node/internal/table"
	"github.com/actornode/actornode/node/internal/tally"
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
	slots table.Slots
	refs  refs
	tally *tally.Tally // w's
	turn  outbox.Turn  // w's

	promises []*call // for calls to come

	home *fiber.Fiber // the worker's goroutine

	_ [16]byte // so that those of two workers have no cache line in common
}

// Become makes b the behaviour from the next message on. Messages that were
// left by ErrUnhandled are offered to it first, in the order of their arrival.
// After a Push it replaces the upper behaviour. A nil behaviour is a crash with
// [ErrNilBehaviour].
func (c *Context) Become(b Actor) { c.p.become(&c.acting, b, false) }

// Push is Become with a way back: Unbecome returns to the present behaviour.
func (c *Context) Push(b Actor) { c.p.become(&c.acting, b, true) }

// Unbecome returns to the behaviour before the last Push. It reports whether
// there was one.
func (c *Context) Unbecome() bool {
	k := c.p.cold
	if k == nil || len(k.stack) == 0 {
		return false
	}
	last := len(k.stack) - 1
	b := k.stack[last]
	k.stack[last] = nil
	k.stack = k.stack[:last]
	c.p.become(&c.acting, b, false)
	return true
}
