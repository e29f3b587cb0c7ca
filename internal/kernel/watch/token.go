package watch

import (
	"github.com/actornode/actornode/internal/mailbox/inbox"
	"github.com/actornode/actornode/wire"
)

// TraceToken is a process's state of its sequential trace token, {Flags, Label, Serial, Sender, Previous}, which seq_trace of
// OTP attaches to messages to follow their consequences. A process that takes a message with a token sends with it, and spawns
// with it, until it takes one without. The label is all that a program sets: see package seqtrace.
//
// A token is sent with messages, requests and spawns, and with the replies to requests from other nodes; not with exit
// signals, nor with the replies within a node, whose callers have a token already. Processes with bounded mailboxes, or boxes
// of their own, take messages without the token.
//
// A TraceToken is owned by whatever runs the process. The zero value has none.
type TraceToken struct {
	flags  any // nil if there is none
	label  any
	last   int      // serial of the last message received with a token
	clock  int      // of the last sent or received, whichever is greater
	inHand *Carried // the current message, if it has a token
	by     *any     // what has set the label, for this node's tracer; nil: a message, or the program
}

// Carried is a message with its token, or with the Watch that is notified when it is received. A mailbox has a pointer to it
// instead of the message.
type Carried struct {
	Msg, Token any
	Watch      Watch // may be nil
}

// ToItself returns a message that a process sends to itself by a timer: it is not copied when that fires.
func ToItself(msg any) *Carried { return &Carried{Msg: msg} }

// Fired returns the message of a timer for the process p, as it was given. own reports that p sends it to itself; it is shown
// here, and not copied.
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

// WithToken returns a message, which may be a *Carried, with a token.
func WithToken(msg, token any) *Carried {
	c, ok := msg.(*Carried)
	if !ok {
		return &Carried{Msg: msg, Token: token}
	}
	c.Token = token
	return c
}

// BareMessage returns a message without its token, and without what keeps its receiver alive.
func BareMessage(msg any) any {
	if m, ok := msg.(*Carried); ok {
		return m.Msg
	}
	return inbox.BareExpected(msg)
}

// Take stores the token of a received message m, or none if m is nil. It reports whether there is one. See
// seq_trace_update_clock of erts.
func (t *TraceToken) Take(m *Carried) bool {
	t.flags, t.label, t.inHand, t.by = nil, nil, nil, nil
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

// Open is Take for a message of a mailbox that may have a token, and returns the message as seen by its receiver. carried
// reports that msg was wrapped.
func (t *TraceToken) Open(msg any) (bare any, carried bool) {
	m, carried := msg.(*Carried)
	t.Take(m)
	return BareMessage(msg), carried
}

// Left returns the current message with its token, for a mailbox in which it stays, or nil if it has none.
func (t *TraceToken) Left() *Carried {
	if t.inHand == nil || t.inHand.Msg == nil {
		return nil
	}
	return t.inHand
}

// Label returns the label. ok is false if there is no token.
func (t *TraceToken) Label() (label any, ok bool) { return t.label, t.flags != nil }

// SetLabel sets the label. A token that begins has no flags, and counts on from the last one, as in OTP. by is what
// LabelledBy returns as long as the process has that label.
func (t *TraceToken) SetLabel(label, by any) {
	if t.label, t.by = label, nil; by != nil {
		t.by = &by
	}
	if t.flags == nil {
		t.flags = 0
	}
}

// LabelledBy returns what SetLabel was given, or nil.
func (t *TraceToken) LabelledBy() any {
	if t.by == nil {
		return nil
	}
	return *t.by
}

// Clear removes the token. The serials count on.
func (t *TraceToken) Clear() { t.flags, t.label, t.by = nil, nil, nil }

// NewToken returns the token of a message that sender, which is no process with a token, sends.
func NewToken(label any, sender wire.PID) any { return wire.Tuple{0, label, 1, sender, 0} }

// Next returns the token for what the process sends now, or nil if it has none.
func (t *TraceToken) Next(sender wire.PID) any {
	if t.flags == nil {
		return nil
	}
	t.clock++
	return wire.Tuple{t.flags, t.label, t.clock, sender, t.last}
}
