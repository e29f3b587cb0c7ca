package executor

import "github.com/actornode/actornode/internal/fiber"

// Guest is a goroutine of somebody else's that wakes entities and may run them by
// itself, as a worker for a moment: what a message sets off then needs no switch of
// goroutines. One that reads from a connection is such. What it does besides must not
// wait for a handler, so whoever takes the stage from it (a handler that blocks, waits
// or takes longer than a look of the watcher) has somebody else go on in its place.
//
// A guest belongs to its goroutine; gone is guarded by pool.mu.
type Guest struct {
	pool  *Pool
	leave func()
	goid  uint64
	owes  bool // a wake-up
	ran   bool // the last Help ran something
	gone  bool // leave has been called
}

// Guest makes the calling goroutine a guest. leave is called once, with the pool's
// lock held, when a handler keeps the goroutine, or has left it locked to its thread and a
// turn refuses it: from then on another one must do what this one has done besides, and this
// one should end. It must not wait, nor call the pool.
func (p *Pool) Guest(leave func()) *Guest {
	return &Guest{pool: p, leave: leave, goid: fiber.GoroutineID()}
}

// A guest runs so many stages, and so many turns on each, before it goes on with its
// own work and leaves the rest to workers.
const (
	guestStages = 4
	guestTurns  = 4
)

// Inject is Pool.Inject. The guest calls Help soon.
func (g *Guest) Inject(e *Entity) {
	p, s := g.pool, e.home.Load()
	e.from = 0
	if !s.post(e, e) {
		if p.seldom.Load() {
			p.hurry()
		}
		return
	}
	p.mu.Lock()
	if s.state == stageIdle {
		p.queueLocked(s)
		if g.owes {
			p.kickLocked()
		}
		g.owes = true
	}
	p.mu.Unlock()
}

// Help runs what Inject has woken, unless workers do. False: leave has been called,
// and the guest is no guest any more.
func (g *Guest) Help() (still bool) {
	g.ran = false
	if !g.owes {
		return true
	}
	g.owes = false
	w := g.pool.beginGuest(g)
	if w == nil {
		return true
	}
	g.ran = true
	defer func() { // a handler may call runtime.Goexit
		if w.stage != nil {
			w.unwound()
		}
		still = g.pool.endGuest(w, g)
	}()
	for range guestStages {
		w.run(w.stage)
		w.stage = nil
		if !w.owes || w.unfit || !g.pool.nextForGuest(w) {
			break
		}
	}
	return true
}

// Ran reports whether the last Help has run something by itself.
func (g *Guest) Ran() bool { return g.ran }

// beginGuest makes g a worker with a stage; nil: there is none for it, or there are
// workers enough.
func (p *Pool) beginGuest(g *Guest) *Worker {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !Inline || p.stopping || p.active >= p.cfg.Workers || p.first == nil {
		p.kickLocked()
		return nil
	}
	var w *Worker
	if last := len(p.guests) - 1; last >= 0 {
		w, p.guests = p.guests[last], p.guests[:last]
	} else {
		w = p.workerLocked()
	}
	w.guest, w.byGuest, w.goid, w.thread = g, true, g.goid, fiber.Thread{}
	p.live++
	p.countLocked(w, true)
	w.give(p.unqueueLocked())
	p.kickLocked()
	return w
}

// nextForGuest gives w, a guest that owes a wake-up, one more stage. False: there is none,
// or it is no guest any more.
func (p *Pool) nextForGuest(w *Worker) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if w.guest == nil || p.stopping || p.first == nil || !w.counted && p.active >= p.cfg.Workers {
		return false
	}
	delete(p.detached, w.lease)
	w.owes = false
	p.countLocked(w, true)
	w.give(p.unqueueLocked())
	return true
}

// endGuest ends what beginGuest began. It reports whether g is still a guest.
func (p *Pool) endGuest(w *Worker, g *Guest) bool {
	p.mu.Lock()
	if w.unfit {
		w.handOffLocked()
		w.unfit = false // another goroutine will run it
	}
	delete(p.detached, w.lease)
	p.countLocked(w, false)
	w.stage, w.lease, w.guest, w.byGuest, w.owes = nil, nil, nil, false, false
	p.guests = append(p.guests, w)
	p.kickLocked()
	still := !g.gone
	p.mu.Unlock()
	p.ended()
	return still
}

// handOffLocked has somebody else go on in the place of the guest that w is, if it is one.
func (w *Worker) handOffLocked() {
	if g := w.guest; g != nil {
		w.guest, g.gone = nil, true
		g.leave()
	}
}
