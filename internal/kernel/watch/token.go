package watch

import (
	"github.com/actornode/actornode/internal/mailbox/inbox"
	"github.com/actornode/actornode/wire"
)

// TraceToken is what a process knows of its sequential trace token, {Flags, Label, Serial, Sender,
// Previous}, which seq_trace of OTP puts on messages to follow what comes of one. A node of ours
// starts none, but hands on those that come: a process that takes a message with a token sends
// with it, and spawns with it, until it takes one that has none.
//
// A token travels with messages, requests and spawns, and with the replies to requests from other
// nodes; not with exit signals, nor with the replies within a node, whose callers have a token
// already. Processes with bounded mailboxes, or boxes of their own, take messages without the
// token, and coroutines do not inherit one.
//
// A TraceToken belongs to whoever runs the process. The zero value has none.
type TraceToken struct {
	flags  any // nil: there is none
	label  any
	last   int      // serial of the last message that came with a token
	clock  int      // of the last that came or went, whichever is greater
	inHand *Carried // the message that is being handled, if it has a token
}

// Carried is a message with its token, or with what is told when it is received. A mailbox has a pointer to it in
// place of the message.
type Carried struct {
	Msg, Token any
	Watch      Watch // nil: nobody is told
}

// ToItself is a message that a process has a timer send to itself: it is not copied when that fires.
func ToItself(msg any) *Carried { return &Carried{Msg: msg} }

// Fired is the message of a timer for the process p, as it was given. own: p has it sent to itself; it is shown here, and not
// copied.
func (v *TraceView) Fired(p wire.PID, msg any) (bare any, own bool) {
	c, held := msg.(*Carried)
	switch {
	case !held:
		return msg, false
	case c.Watch != nil:
		c.Watch.Received()
		return c.Msg, false
	}
	v.Message(wire.PID{}, p, c.Msg)
	return c.Msg, true
}

// WithToken is a message, which may be a *Carried, with a token.
func WithToken(msg, token any) *Carried {
	c, ok := msg.(*Carried)
	if !ok {
		return &Carried{Msg: msg, Token: token}
	}
	c.Token = token
	return c
}

// BareMessage is a message without its token, and without what keeps the process that it is for.
func BareMessage(msg any) any {
	if m, ok := msg.(*Carried); ok {
		return m.Msg
	}
	return inbox.BareExpected(msg)
}

// Take takes note of the token that a message has come with; nil: with none. It reports
// whether there is one. See seq_trace_update_clock of erts.
func (t *TraceToken) Take(m *Carried) bool {
	t.flags, t.label, t.inHand = nil, nil, nil
	if m == nil {
		return false
	}
	if m.Watch != nil {
		m.Watch.Received()
	}
	parts, ok := m.Token.(wire.Tuple)
	if !ok || len(parts) != 5 {
		return false
	}
	t.flags, t.label, t.inHand = parts[0], parts[1], m
	if serial, ok := parts[2].(int); ok {
		t.last, t.clock = serial, max(t.clock, serial)
	}
	return true
}

// Open is Take for a message of a mailbox that may have a token, and returns the message as its
// receiver sees it. carried: it has been another.
func (t *TraceToken) Open(msg any) (bare any, carried bool) {
	m, carried := msg.(*Carried)
	t.Take(m)
	return BareMessage(msg), carried
}

// Left returns the message that is being handled with its token, for a mailbox in which it
// stays; nil: it has none.
func (t *TraceToken) Left() *Carried {
	if t.inHand == nil || t.inHand.Msg == nil {
		return nil
	}
	return t.inHand
}

// Next returns the token for what the process sends now; nil: it has none.
func (t *TraceToken) Next(sender wire.PID) any {
	if t.flags == nil {
		return nil
	}
	t.clock++
	return wire.Tuple{t.flags, t.label, t.clock, sender, t.last}
}
