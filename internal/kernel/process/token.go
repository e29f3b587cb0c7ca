package process

import (
	"github.com/actornode/actornode/internal/kernel/watch"
	"github.com/actornode/actornode/wire"
)

// Sequential trace tokens, see watch.TraceToken, cost nothing if unused: a message that carries one is in the mailbox as a
// watch.Carried, and whoever puts it there sets the bit tokened in the status of the process before. The code that takes
// messages and sends checks in the status anyway whether the process is alive; only if the status is not zero is this code
// called. The bit is never cleared.

// Token returns the token for what p, which may be nil, sends now, or nil if it has none. Only for the code that runs p.
func (p *Process) Token() any {
	if p == nil || !p.Status.HasToken() {
		return nil
	}
	return p.Cold.Token.Next(p.PID())
}

// Inherit gives p, which does not run yet, the token of its parent.
func (p *Process) Inherit(token any) {
	if token == nil {
		return
	}
	p.ownToken().Take(&watch.Carried{Token: token})
}

// Label returns the label of p's token. Only for the code that runs p.
func (p *Process) Label() (label any, ok bool) {
	if !p.Status.HasToken() {
		return nil, false
	}
	return p.Cold.Token.Label()
}

// SetLabel sets the label of p's token, which begins if p has none; by is for LabelledBy. Only for the code that runs p.
func (p *Process) SetLabel(label, by any) { p.ownToken().SetLabel(label, by) }

// LabelledBy returns what SetLabel was given if p has that label still, or nil. Only for the code that runs p.
func (p *Process) LabelledBy() any {
	if !p.Status.HasToken() {
		return nil
	}
	return p.Cold.Token.LabelledBy()
}

// Traceparent returns the context of a span that is the label of p's token. Only for the code that runs p.
func (p *Process) Traceparent() (t watch.Traceparent, ok bool) {
	label, ok := p.Label()
	if !ok {
		return t, false
	}
	return watch.ReadTraceparent(label)
}

// ClearToken removes p's token. Only for the code that runs p.
func (p *Process) ClearToken() {
	if p.Status.HasToken() {
		p.Cold.Token.Clear()
	}
}

// A tokenTask is a Task with a path without tokens, which it must leave.
type tokenTask interface{ ExpectToken() }

// ownToken returns the token of p, for the code that runs p, which gives it one.
func (p *Process) ownToken() *watch.TraceToken {
	if !p.Status.HasToken() {
		p.expectToken()
	}
	if t, ok := p.Task().(tokenTask); ok {
		t.ExpectToken()
	}
	return &p.Cold.Token
}

func (p *Process) expectToken() {
	p.Mu.Lock()
	p.ColdPart()
	p.Mu.Unlock()
	p.Status.Token()
}

// DeliverWith is Deliver for a message with a token, or nil.
func (p *Process) DeliverWith(a *Acting, msg, token any) error {
	if token == nil || p.Boxed {
		return p.Deliver(a, msg)
	}
	p.expectToken()
	return p.Deliver(a, watch.WithToken(msg, token))
}

// Shown reports a message to p to the view t, which may be nil, and returns what is delivered instead.
func (p *Process) Shown(t *watch.TraceView, from wire.PID, msg any) (any, error) {
	t.Message(from, p.PID(), msg)
	msg, err := t.Copied(from, p.PID(), p.Copies, msg)
	if err != nil || p.Boxed || !t.Checks() {
		return msg, err
	}
	return p.expect(t.Watched(from, p.PID(), msg)), nil
}

// expect returns msg, which may be a *watch.Carried, after preparing p for a token.
func (p *Process) expect(msg any) any {
	if _, ok := msg.(*watch.Carried); ok {
		p.expectToken()
	}
	return msg
}

// SendWith sends for a process that is not plainly alive, or for the node while what it sends is checked. done reports
// that nothing is left to do.
func (a *Acting) SendWith(to wire.PID, msg any) (done bool, err error) {
	if a.Gone() {
		return true, ErrExited
	}
	if err := a.MaySend(to, msg, false); err != nil {
		return true, err
	}
	q := a.System.Lookup(to)
	if q == nil { // the frame will have the token
		return false, nil
	}
	return true, a.SendTo(q, msg)
}

// SendTo sends to a process of this node, with the token of the sender. The message has been checked.
func (a *Acting) SendTo(q *Process, msg any) (err error) {
	if t := a.System.Traces(); t != nil {
		if msg, err = q.Shown(t, a.PID(), msg); err != nil {
			return err
		}
	}
	token := a.Process.Token()
	if token == nil && a.Blocks != nil {
		return a.Blocks.Deliver(q, msg)
	}
	err = q.DeliverWith(a, msg, token)
	if a.Worker != nil {
		a.Worker.Sent()
	}
	return err
}

// OpenNext unwraps the next message in the queue of p.
func (p *Process) OpenNext() {
	if msg, ok := p.Queue.Next(); ok {
		if bare, carried := p.Cold.Token.Open(msg); carried {
			p.Queue.Set(bare)
		}
	}
}

// leaveIt rewraps the current message, which stays in the queue, with its token.
func (p *Process) leaveIt() {
	if !p.Status.HasToken() {
		return
	}
	if m := p.Cold.Token.Left(); m != nil {
		p.Queue.Set(m)
	}
}
