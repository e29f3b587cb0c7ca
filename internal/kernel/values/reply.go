package values

import (
	"unicode/utf8"

	"github.com/actornode/actornode/internal/kernel/calls"

	"github.com/actornode/actornode/wire"
	"github.com/actornode/actornode/wire/dist"
)

// Reply is an error in the place of a reply to a call of another node.
func (c *Codec) Reply(err error) *Reply { return NewReply(err, c) }

// Outcome is what a reply of another node says: a value, or an error.
func (c *Codec) Outcome(v any) (any, error) {
	switch r := v.(type) {
	case *Reply:
		if r == nil {
			r = &Reply{}
		}
		err := r.Open(c)
		if _, ok := c.Form(err).(*Exit); ok {
			err = c.Inward(err).(error)
		}
		return nil, err
	case wire.Tuple: // through a node of OTP
		if len(r) == 2 && r[0] == wire.AtomError {
			if e, ok := r[1].(*Error); ok && (e == nil || !e.IsOpen()) {
				return v, nil // which a handler has answered
			}
			if err, ok := r[1].(error); ok {
				return nil, err
			}
		}
	}
	return v, nil
}

// Failed is an error in the place of a reply, as a message to whoever has not made a call of
// this node's.
func (c *Codec) Failed(err error) any { return calls.FailureReason(c.ErrorTerm(err)) }

// Message is a reply to no call of this node as a process gets it; another message as it is.
func (c *Codec) Message(msg any) any {
	if m, ok := msg.(wire.Tuple); ok && len(m) == 2 {
		if r, ok := m[1].(*Reply); ok && r != nil {
			return wire.Tuple{m[0], c.Failed(r.Cause())}
		}
	}
	return msg
}

// TextReply is a reply that cannot be sent with the text of its error. False: it is none, or has
// no error.
func TextReply(f *dist.Frame) (dist.Frame, bool) {
	t, ok := calls.Message(f).(wire.Tuple)
	if !ok || len(t) != 2 || f.Op != dist.OpSend {
		return dist.Frame{}, false
	}
	r, ok := t[1].(*Reply)
	if !ok {
		return dist.Frame{}, false
	}
	again := *f
	again.Payload = wire.Tuple{t[0], calls.FailureReason(calls.ErrorText(r.Cause()))}
	return again, true
}

// Refusal is the reply {error, Reason} where a value of another type is wanted.
type Refusal struct {
	Reason   any
	Mistyped error // which it wraps
}

func (r *Refusal) Error() string {
	if b, ok := r.Reason.([]byte); ok && utf8.Valid(b) {
		return Cut(string(b))
	}
	return calls.ReasonWords(r.Reason)
}

// Unwrap says what the reply is, too.
func (r *Refusal) Unwrap() error { return r.Mistyped }

// Term is the reason.
func (r *Refusal) Term() any { return r.Reason }
