package peers

import (
	"github.com/actornode/actornode/internal/kernel/process"
	"github.com/actornode/actornode/wire"
	"github.com/actornode/actornode/wire/dist"
)

func (p *Peer) LoseLink(l Link, reason any) { p.loseLink(l, reason) }

func (p *Peer) AcceptLink(near *process.Process, far wire.PID) (reason any) {
	return p.acceptLink(near, far)
}

func (p *Peer) Attach(m *process.Monitor, pid wire.PID, reason any) { p.attach(m, pid, reason) }

func (p *Peer) Refuses(q *process.Process, signal string) bool { return p.refuses(q, signal) }

func (p *Peer) RefusesLink(f *dist.Frame) bool { return p.refusesLink(f) }

func (p *Peer) ProcessOf(f *dist.Frame) *process.Process { return p.processOf(f) }
