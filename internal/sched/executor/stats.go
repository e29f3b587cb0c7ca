package executor

import "github.com/actornode/actornode/sched"

// Revoked returns how often a stage was taken from its worker.
func (p *Pool) Revoked() uint64 {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.revoked
}

// Stats returns a snapshot of the pool. It takes the pool's lock for a moment.
func (p *Pool) Stats() sched.Stats {
	p.mu.Lock()
	defer p.mu.Unlock()
	return sched.Stats{
		Workers: p.cfg.Workers, Active: p.active, Stages: p.Stages(), Waiting: int(p.waiting.Load()), DetachedTurns: len(p.detached),
		Shared: p.shared.Load(), Blocked: p.blocked.Load(), Goroutines: p.live,
	}
}
