package node

import "github.com/actornode/actornode/node/internal/trace"

// Sequential trace tokens, see trace.Token, cost nothing where there are none: a message that has
// one is in the mailbox as a trace.Carried, and whoever puts it there sets the bit tokened in the
// status of the process before. Those who take messages and send look at the status anyway,
// whether the process is alive; only where it says more do they come here. The bit stays.

// token returns the token for what p, which may be nil, sends now; nil: it has
// none. Only for whoever runs p.
func (p *proc) token() any {
	if p == nil || !p.status.HasToken() {
		return nil
	}
	return p.cold.token.Next(p.pid())
}

// inherit gives p, which does not run yet, the token of who spawns it.
func (p *proc) inherit(token any) {
	if token == nil || p.kind == kindCoroutine {
		return
	}
	p.expectToken()
	p.cold.token.Take(&trace.Carried{Token: token})
}

func (p *proc) expectToken() {
	p.mu.Lock()
	p.coldPart()
	p.mu.Unlock()
	p.status.Token()
}

// deliverWith is deliver for a message with a token, nil for none.
func (p *proc) deliverWith(a *acting, msg, token any) error {
	if token == nil || p.boxed {
		return p.deliver(a, msg)
	}
	p.expectToken()
	return p.deliver(a, &trace.Carried{Msg: msg, Token: token})
}

// sendWith is for a send by p, whose status is not simply alive. done: there is nothing left to
// do.
func (p *proc) sendWith(a *acting, to PID, msg any) (done bool, err error) {
	if p.gone() {
		return true, ErrExited
	}
	q := p.node.lookup(to)
	if q == nil { // the frame will have the token
		return false, nil
	}
	return true, q.deliverWith(a, msg, p.token())
}

// open makes the message that is next in the queue of p an ordinary one.
func (p *proc) open() {
	if msg, ok := p.q.Next(); ok {
		if bare, carried := p.cold.token.Open(msg); carried {
			p.q.Set(bare)
		}
	}
}

// leaveIt gives the message in hand, which stays in the queue, its token back.
func (p *proc) leaveIt() {
	if !p.status.HasToken() {
		return
	}
	if m := p.cold.token.Left(); m != nil {
		p.q.Set(m)
	}
}

// scanTokens is scan where there may be tokens.
func (g *goroutine) scanTokens(match func(any) bool) (any, bool) {
	s, q := (*Process)(g), &g.own.q
	for msg, ok := q.Next(); ok; msg, ok = q.Next() {
		with, _ := msg.(*trace.Carried)
		if with != nil {
			msg = with.Msg
		}
		if match != nil {
			s.bias.Leave()
			ok := match(msg)
			s.bias.Enter()
			if !ok {
				q.Skip()
				continue
			}
		}
		g.take()
		g.p.cold.token.Take(with)
		return msg, true
	}
	return nil, false
}
