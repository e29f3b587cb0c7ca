package statem

import (
	"context"
	"fmt"
	"time"

	"github.com/actornode/actornode/internal/sysmsg"
	"github.com/actornode/actornode/node"
	"github.com/actornode/actornode/node/genserver"
)

// Context is what a state function acts through. It is valid until the function
// returns. Its actions take effect then, in this order, whatever the order
// of the calls: the enter call runs; postponed events are tried again; timeouts are
// cancelled; timeouts are set; events are inserted. Replies are sent at once.
type Context struct {
	*node.ActorContext
	state    node.Atom
	from     node.From // of the current call
	act      actions
	entering bool // in an enter call
	sys      sysmsg.System
}

// actions are what a state function asked for through its Context.
type actions struct {
	postpone, repeat, taken, stop bool

	reason any // of stop
	next   []Event
	times  []setting
	bad    error // of the first action that was not allowed
}

// setting is a change to a timeout: set, update or cancel.
type setting struct {
	typ     EventType
	d       time.Duration // node.Infinity: cancel
	update  bool
	content any
}

// State returns the name of the current state: in an enter call, the state being
// entered.
func (c *Context) State() node.Atom { return c.state }

// CallContext returns a context for the work on the current call: see [node.From.Context]. It also ends with the
// process. Where there is no call it is Context. Call it once in a state function: each context lives until the call is
// answered.
func (c *Context) CallContext() context.Context {
	if c.from == (node.From{}) {
		return c.Context()
	}
	return c.from.Context(c.Context())
}

// From returns where the reply to the current call goes. Keep it to answer later,
// from anywhere. If the state function returns without having answered or postponed the
// call, or called From, the caller gets an
// [*genserver.UnhandledError].
func (c *Context) From() node.From {
	c.act.taken = true
	return c.from
}

// Reply answers a call at once: {reply, From, Reply}. See [node.From.Reply] for
// the error.
func (c *Context) Reply(to node.From, v any) error {
	err := c.ActorContext.Reply(to, v)
	if c.sys.Debugging() {
		c.sys.Out(c.ActorContext, v, to, c.state)
	}
	return err
}

// Reply answers the current call, whose request is req: the compiler checks
// that the reply has the type that the caller expects.
func Reply[Q genserver.Returning[R], R any](c *Context, req Q, v R) error {
	return c.Reply(c.From(), v)
}

// Postpone keeps the current event until the state changes: postpone. Postponed events then
// come again in their original order, before any other event that
// waits. It is not allowed in an enter call.
func (c *Context) Postpone() {
	if c.entering {
		c.misuse("Postpone in an enter call")
	}
	c.act.postpone = true
}

// Insert inserts an event that comes next, before postponed events, zero timeouts
// and the mailbox: {next_event, Type, Content}. Several come in the order of the calls. The
// type is usually [TypeInternal], and may be any but [TypeEnter]. A call can only be inserted as it
// came; that counts as taking [Context.From]. Insert is not allowed in an enter call.
func (c *Context) Insert(e Event) {
	switch {
	case c.entering:
		c.misuse("Insert in an enter call")
	case e.Type == TypeCall:
		c.act.taken = true
	case e.Type != TypeCast && e.Type != TypeInfo && e.Type != TypeInternal && !e.Type.timeout():
		c.misuse(fmt.Sprintf("Insert of an event of type %q", e.Type))
	}
	c.act.next = append(c.act.next, e)
}

// SetTimeout delivers an event of type t, which is [StateTimeout], [EventTimeout] or
// what [Named] returns, with the given content, after d. It replaces a pending timeout
// of the same type. With 0 the event comes before
// anything in the mailbox, without a timer. [node.Infinity] cancels the timeout: its event does not
// come any more, even if its time is over.
// If it is called several times for one type, the last call counts.
func (c *Context) SetTimeout(t EventType, d time.Duration, content any) {
	c.set(setting{typ: t, d: max(d, 0), content: content})
}

// UpdateTimeout changes the content of a timeout but not its time: {Timeout, update, Content}.
// If none is set, it is SetTimeout with 0; that is always so for an event timeout, which every
// event cancels.
func (c *Context) UpdateTimeout(t EventType, content any) {
	c.set(setting{typ: t, update: true, content: content})
}

func (c *Context) set(s setting) {
	if !s.typ.timeout() {
		c.misuse(fmt.Sprintf("a timeout of type %q", s.typ))
		return
	}
	c.act.times = append(c.act.times, s)
}

// Repeat makes the enter call again if the state does not change: repeat_state.
func (c *Context) Repeat() { c.act.repeat = true }

// Stop ends the machine when the state function has returned, in its current
// state: {stop, Reason}, or with Reply stop_and_reply. In Init it means that the machine
// failed to start.
func (c *Context) Stop(reason any) { c.act.stop, c.act.reason = true, reason }

func (c *Context) misuse(what string) {
	if c.act.bad == nil {
		c.act.bad = fmt.Errorf("%w: %s", errBadAction, what)
	}
}
