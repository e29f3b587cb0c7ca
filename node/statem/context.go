package statem

import (
	"fmt"
	"time"

	"github.com/actornode/actornode/internal/sysmsg"
	"github.com/actornode/actornode/node"
	"github.com/actornode/actornode/node/genserver"
)

// Context is what a state function acts through. It is valid until the function
// returns. What is asked of it takes effect then, in this order whatever the order
// of the asking: the enter call; postponed events are tried again; timeouts are
// called off; timeouts are set; events are inserted. Replies go at once.
type Context struct {
	*node.Context
	state    node.Atom
	from     node.From // of the call that is being handled
	act      actions
	entering bool // in an enter call
	sys      sysmsg.System
}

// actions are what a state function has asked for.
type actions struct {
	postpone, repeat, taken, stop bool

	reason any // of stop
	next   []Event
	times  []setting
	bad    error // the first that was not allowed
}

// setting is something to be done about a timeout.
type setting struct {
	typ     EventType
	d       time.Duration // node.Infinity: call off
	update  bool
	content any
}

// State returns the name of the present state: in an enter call, of the one that
// has been entered.
func (c *Context) State() node.Atom { return c.state }

// From returns where the reply to the present call goes. Keep it to answer later,
// from anywhere: a call that is neither answered nor postponed when the state
// function returns, and whose From was not asked for, is answered with an
// [*genserver.UnhandledError].
func (c *Context) From() node.From {
	c.act.taken = true
	return c.from
}

// Reply answers a call at once: {reply, From, Reply}. See [node.From.Reply] for
// the error.
func (c *Context) Reply(to node.From, v any) error {
	err := c.Context.Reply(to, v)
	if c.sys.Debugging() {
		c.sys.Out(c.Context, v, to, c.state)
	}
	return err
}

// Reply answers the present call, whose request is req: the compiler sees to it
// that the reply has the type that the caller expects.
func Reply[Q genserver.Returning[R], R any](c *Context, req Q, v R) error {
	return c.Reply(c.From(), v)
}

// Postpone keeps the present event until the state has changed. Events that were
// postponed come again then in the order in which they came first, before any that
// wait: postpone. Not in an enter call.
func (c *Context) Postpone() {
	if c.entering {
		c.misuse("Postpone in an enter call")
	}
	c.act.postpone = true
}

// Insert inserts an event that comes next, before those that were postponed, the zero timeouts
// and the mailbox: {next_event, Type, Content}. Several come in the order of the calls. The
// type is usually [TypeInternal], and may be any but [TypeEnter]; a call can be inserted as it
// came only, which counts as [Context.From]. Not in an enter call.
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

// SetTimeout makes an event of type t, which is [StateTimeout], [EventTimeout] or
// what [Named] returns, with the given content, after d. It takes the place of one
// of the same type that has not come yet. With 0 the event comes before
// anything that is in the mailbox, without a timer; [node.Infinity] calls it off: its event does not
// come any more, even if its time is over.
// If asked several times for one type, the last counts.
func (c *Context) SetTimeout(t EventType, d time.Duration, content any) {
	c.set(setting{typ: t, d: max(d, 0), content: content})
}

// UpdateTimeout changes the content of a timeout and not its time; where there is
// none it is SetTimeout with 0: {Timeout, update, Content}. An event timeout is
// called off by every event, and so is never there.
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

// Repeat makes the enter call anew where the state is kept: repeat_state.
func (c *Context) Repeat() { c.act.repeat = true }

// Stop ends the machine when the state function has returned, in the state that
// it is in: {stop, Reason}, and stop_and_reply with Reply. In Init the machine has
// failed to start.
func (c *Context) Stop(reason any) { c.act.stop, c.act.reason = true, reason }

func (c *Context) misuse(what string) {
	if c.act.bad == nil {
		c.act.bad = fmt.Errorf("%w: %s", errBadAction, what)
	}
}
