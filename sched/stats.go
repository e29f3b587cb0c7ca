package sched

// Stats is what a Pool is doing, as of one moment.
type Stats struct {
	Workers int    // that may run stages at a time
	Active  int    // that hold a stage, or look for one
	Stages  int    // all
	Waiting int    // stages with work that no worker holds
	Strays  int    // handlers that go on without their stage: they block, or take long
	Shared  uint64 // times that a busy stage has given half of its run queue to an idle one
	Blocked uint64 // turns that have run longer than Config.Blocked

	// Goroutines are those of the pool: workers, those that wait included, and the one
	// that watches them. Up to sixteen more than Workers stay for handlers that block.
	Goroutines int
}

// Stats looks at the pool. It takes the pool's lock for a moment.
func (p *Pool) Stats() Stats {
	p.mu.Lock()
	defer p.mu.Unlock()
	return Stats{
		Workers: p.cfg.Workers, Active: p.active, Stages: len(p.stages), Waiting: int(p.waiting.Load()), Strays: len(p.strays),
		Shared: p.shared.Load(), Blocked: p.blocked.Load(), Goroutines: p.live,
	}
}
