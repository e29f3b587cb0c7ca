package values

import (
	"unicode/utf8"

	"github.com/actornode/actornode/internal/kernel/calls"

	"github.com/actornode/actornode/wire"
	"github.com/actornode/actornode/wire/dist"
)

// Reply returns an error instead of a reply to a call of another node.
func (c *Codec) Reply(err error) *Reply { return NewReply(err, c) }

// Outcome returns the content of a reply of another node: a value, or an error.
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
				return v, nil // a handler's own reply
			}
			if err, ok := r[1].(error); ok {
				return nil, err
			}
		}
	}
	return v, nil
}

// Failed returns an error instead of a reply, as a message to a process that has not made a call of this node.
func (c *Codec) Failed(err error) any { return calls.FailureReason(c.ErrorTerm(err)) }

// Message returns a reply to no call of this node as delivered to a process; other messages unchanged.
func (c *Codec) Message(msg any) any {
	if m, ok := msg.(wire.Tuple); ok && len(m) == 2 {
		if r, ok := m[1].(*Reply); ok && r != nil {
			return wire.Tuple{m[0], c.Failed(r.Cause())}
		}
	}
	return msg
}

// TextReply returns a reply that cannot be sent with the text of its error. It returns false if f is no reply, or has no
// error.
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

// Refusal is the reply {error, Reason} when a value of another type is expected.
type Refusal struct {
	Reason   any
	Mistyped error // the wrapped error
}

func (r *Refusal) Error() string {
	if b, ok := r.Reason.([]byte); ok && utf8.Valid(b) {
		return Cut(string(b))
	}
	return calls.ReasonWords(r.Reason)
}

// Unwrap returns Mistyped.
func (r *Refusal) Unwrap() error { return r.Mistyped }

// Term returns the reason.
func (r *Refusal) Term() any { return r.Reason }
