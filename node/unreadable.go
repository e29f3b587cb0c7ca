package node

import (
	"fmt"

	"github.com/actornode/actornode/internal/kernel/calls"
	"github.com/actornode/actornode/internal/wire/links"
	"github.com/actornode/actornode/node/deadletter"
	"github.com/actornode/actornode/wire/dist"
)

// What a peer has sent and this node cannot take: see [links.Unreadable]. The connection goes on. Who waits for an answer,
// here or there, gets an error; a message is a dead letter; an exit reason is the error.

// cannotRead is the error of what cannot be taken.
func (p *peer) cannotRead(u *links.Unreadable) error {
	return fmt.Errorf("node: %s cannot read what %s has sent: %w", p.n.cfg.Name, p.Name, u.Err)
}

// unread is deliver for a message that cannot be taken.
func (p *peer) unread(f *dist.Frame, u *links.Unreadable) {
	n, why := p.n, p.cannotRead(u)
	switch m := f.Payload.(type) {
	case *links.Request:
		p.Signal(dist.Frame{Op: dist.OpSend, Ref: m.Ref, Payload: &links.Reply{Value: n.values.Reply(why)},
			Answer: true})
		return
	case *links.Reply:
		if p.settle(&p.reading, f.Ref, nil, why, true) {
			return
		}
	default:
		if from, _, ok := calls.ReadCall(u.Term); ok {
			if from, ok := n.readFrom(p.via, from); ok && from.Fail(why) == nil {
				return
			}
		} else if ref, ok := calls.ReplyRef(u.Term); ok &&
			(p.settle(&p.reading, ref, nil, why, false) || n.answeredBy(ref, why, nil, why)) {
			return
		}
	}
	if f.ID != 0 {
		p.Signal(dist.Frame{Op: dist.OpReceipt, ID: f.ID, Payload: why.Error()})
	}
	n.sys.DeadLetter(deadletter.Letter{Cause: deadletter.Unreadable, To: f.To, Name: f.Name, Alias: f.Ref, Message: why})
}
