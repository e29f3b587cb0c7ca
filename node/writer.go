package node

import (
	"github.com/actornode/actornode/node/internal/outbox"
	"github.com/actornode/actornode/wire"
	"github.com/actornode/actornode/wire/dist"
)

// write is the goroutine that writes to a peer: started when the peer is
// connected, ended by its end, waited for by Node.Stop.
func (p *peer) write() {
	defer p.n.dist.wg.Done()
	w := outbox.Writer{Box: &p.box, Link: p.link, Done: p.done, Owner: p, Env: p.n.env}
	if err := w.Run(); err != nil {
		p.end(err)
	}
	w.LoseHeld()
}

// Lose is part of outbox.Owner.
func (p *peer) Lose(frames []dist.Frame) {
	for _, f := range frames {
		p.n.lost(f)
	}
}

// Unfit is part of outbox.Owner. A message is a dead letter; whoever waits for an answer gets
// the error.
func (p *peer) Unfit(f *dist.Frame, why *wire.EncodeError) {
	p.n.cfg.Log.Warn("a signal was not sent: it holds a value that is not an Erlang term, or is too large", "peer", string(p.name),
		"signal", f.Op.String(), "error", why)
	switch f.Op {
	case dist.OpSend:
		p.n.bury(*f, CauseNotATerm)
		if ref, ok := requestRef(f.Payload); ok {
			p.answer(ref, nil, why)
		}
		if f.ID != 0 {
			p.answer(p.n.origin.RefOf(f.ID), nil, why)
		}
	case dist.OpSpawn:
		p.n.bury(*f, CauseNotATerm)
		p.answer(f.Ref, nil, why)
	case dist.OpMonitor:
		p.down(&dist.Frame{Ref: f.Ref, Payload: wire.Atom("notsup")})
	}
}
