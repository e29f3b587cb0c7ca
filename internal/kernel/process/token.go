package process

import (
	"github.com/actornode/actornode/internal/kernel/watch"
	"github.com/actornode/actornode/wire"
)

// Sequential trace tokens, see watch.TraceToken, cost nothing where there are none: a message that has
// one is in the mailbox as a watch.Carried, and whoever puts it there sets the bit tokened in the
// status of the process before. Those who take messages and send look at the status anyway,
// whether the process is alive; only where it says more do they come here. The bit stays.

// Token returns the token for what p, which may be nil, sends now; nil: it has
// none. Only for whoever runs p.
func (p *Process) Token() any {
	if p == nil || !p.Status.HasToken() {
		return nil
	}
	return p.Cold.Token.Next(p.PID())
}

// Inherit gives p, which does not run yet, the token of who spawns it.
func (p *Process) Inherit(token any) {
	if token == nil || p.Kind == Coroutine {
		return
	}
	p.expectToken()
	p.Cold.Token.Take(&watch.Carried{Token: token})
}

func (p *Process) expectToken() {
	p.Mu.Lock()
	p.ColdPart()
	p.Mu.Unlock()
	p.Status.Token()
}

// DeliverWith is deliver for a message with a token, nil for none.
func (p *Process) DeliverWith(a *Acting, msg, token any) error {
	if token == nil || p.Boxed {
		return p.Deliver(a, msg)
	}
	p.expectToken()
	return p.Deliver(a, watch.WithToken(msg, token))
}

// Shown returns what is sent to p in place of a message, where there is a view; it is shown there.
func (p *Process) Shown(t *watch.TraceView, from wire.PID, msg any) (any, error) {
	t.Message(from, p.PID(), msg)
	msg, err := t.Copied(from, p.PID(), p.Copies, msg)
	if err != nil || p.Boxed || !t.Checks() {
		return msg, err
	}
	return p.expect(t.Watched(from, p.PID(), msg)), nil
}

// expect returns msg, which may be a *watch.Carried.
func (p *Process) expect(msg any) any {
	if _, ok := msg.(*watch.Carried); ok {
		p.expectToken()
	}
	return msg
}

// SendWith is for a send by p, whose status is not simply alive. done: there is nothing left to
// do.
func (p *Process) SendWith(a *Acting, to wire.PID, msg any) (done bool, err error) {
	if a.Gone() {
		return true, ErrExited
	}
	q := p.System.Lookup(to)
	if q == nil { // the frame will have the token
		return false, nil
	}
	if t := p.System.Traces(); t != nil {
		if msg, err = q.Shown(t, a.PID(), msg); err != nil {
			return true, err
		}
	}
	return true, q.DeliverWith(a, msg, p.Token())
}

// OpenNext makes the message that is next in the queue of p an ordinary one.
func (p *Process) OpenNext() {
	if msg, ok := p.Queue.Next(); ok {
		if bare, carried := p.Cold.Token.Open(msg); carried {
			p.Queue.Set(bare)
		}
	}
}

// leaveIt gives the message in hand, which stays in the queue, its token back.
func (p *Process) leaveIt() {
	if !p.Status.HasToken() {
		return
	}
	if m := p.Cold.Token.Left(); m != nil {
		p.Queue.Set(m)
	}
}
