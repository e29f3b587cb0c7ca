package node

import (
	"github.com/actornode/actornode/node/internal/trace"
)

// Sequential trace tokens: what seq_trace of OTP puts on messages to follow what
// comes of one. A node of ours starts none, but hands on those that come: who
// takes a message that has a token sends with it, and spawns with it, until it
// takes one that has none. A token travels with messages, requests and spawns, and
// with the replies to requests from other nodes; not with exit signals, nor with
// the replies within this node, whose callers have a token already. Processes with
// bounded mailboxes, or boxes of their own, take messages without the token, and
// coroutines do not inherit one.
//
// All that costs nothing where there are no tokens: a message that has one is in
// the mailbox as a [carried], and whoever puts it there sets the bit tokened in the
// status of the process before. Those who take messages and send look at the status
// anyway, whether the process is alive; only where it says more do they come here.
// The bit stays.

// carried is a message with its token. A mailbox has a pointer to it in place of the message.
type carried struct {
	msg   any
	token any
}

// inHand is what a process knows of the message in hand, and of its token. Owned like
// behaviour.
type inHand struct {
	now   *carried // the message, if it has a token
	token trace.Token
}

// received takes note of the token that the message in hand has come with, nil:
// with none. It reports whether there is one.
func (p *proc) received(m *carried) bool {
	t := &p.cold.trace
	t.now = nil
	var token any
	if m != nil {
		token = m.token
	}
	if !t.token.Receive(token) {
		return false
	}
	t.now = m
	return true
}

// token returns the token for what p, which may be nil, sends now; nil: it has
// none. Only for whoever runs p.
func (p *proc) token() any {
	if p == nil || p.status.Load()&tokened == 0 {
		return nil
	}
	return p.cold.trace.token.Next(p.pid())
}

// inherit gives p, which does not run yet, the token of who spawns it.
func (p *proc) inherit(token any) {
	if token == nil || p.kind == kindCoroutine {
		return
	}
	p.expectTraced()
	p.received(&carried{token: token})
}

func (p *proc) expectTraced() {
	p.mu.Lock()
	p.chill()
	p.mu.Unlock()
	p.status.Or(tokened)
}

// deliverTraced is deliver for a message with a token, nil for none.
func (p *proc) deliverTraced(a *acting, msg, token any) error {
	if token == nil || p.boxed {
		return p.deliver(a, msg)
	}
	p.expectTraced()
	return p.deliver(a, &carried{msg: msg, token: token})
}

// sendTraced is for a send by p, whose status is not simply alive. done: there is
// nothing left to do.
func (p *proc) sendTraced(a *acting, to PID, msg any) (done bool, err error) {
	if p.gone() {
		return true, ErrExited
	}
	q := p.node.lookup(to)
	if q == nil { // the frame will have the token
		return false, nil
	}
	return true, q.deliverTraced(a, msg, p.token())
}

// open makes the message that is next in the queue of p an ordinary one.
func (p *proc) open() {
	msg, ok := p.q.Next()
	if !ok {
		return
	}
	m, _ := msg.(*carried)
	if p.received(m); m != nil {
		p.q.Set(m.msg)
	}
}

// leaveIt gives the message in hand, which stays in the queue, its token back.
func (p *proc) leaveIt() {
	if p.status.Load()&tokened != 0 && p.cold.trace.now != nil && p.cold.trace.now.msg != nil {
		p.q.Set(p.cold.trace.now)
	}
}

// scanTraced is scan where there may be tokens.
func (g *goroutine) scanTraced(match func(any) bool) (any, bool) {
	s, q := (*Process)(g), &g.own.q
	for msg, ok := q.Next(); ok; msg, ok = q.Next() {
		with, _ := msg.(*carried)
		if with != nil {
			msg = with.msg
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
		g.p.received(with)
		return msg, true
	}
	return nil, false
}

// bare is a message without its token.
func bare(msg any) any {
	if m, ok := msg.(*carried); ok {
		return m.msg
	}
	return msg
}
