package executor

import "github.com/actornode/actornode/internal/sched/fiber"

// InlineWorker is a caller's goroutine that wakes entities and may run them itself, acting as a worker for a moment: a
// message is then handled without a goroutine switch. The reader of a connection is one. Its other work must not wait for a
// handler. So when a handler blocks, waits or runs longer than the watcher's period, the pool takes the stage away and
// calls onDetach, which starts another goroutine for that work.
//
// An InlineWorker belongs to its goroutine; gone is guarded by pool.mu.
type InlineWorker struct {
	pool     *Pool
	onDetach func()
	goid     uint64
	woken    int  // entities woken by Inject since the last RunPending
	queued   int  // stages that Inject queued for them without waking a worker
	ran      bool // the last RunPending ran something
	gone     bool // onDetach has been called
}

// NewInlineWorker makes the calling goroutine an inline worker. The pool calls onDetach once, with its lock held, when a
// handler occupies the goroutine, or has left it locked to its thread and a turn refuses it. From then on another goroutine
// must do the caller's other work, and the caller should end. onDetach must not block, nor call the pool.
func (p *Pool) NewInlineWorker(onDetach func()) *InlineWorker {
	return &InlineWorker{pool: p, onDetach: onDetach, goid: fiber.GoroutineID()}
}

// An inline worker runs at most this many stages, and on each as many turns as it has woken
// entities, or inlineTurns, before it returns to its other work and leaves the rest to the pool's
// workers.
const (
	inlineStages = 4
	inlineTurns  = 4
)

// Inject is Pool.Inject. The caller must call RunPending soon.
func (g *InlineWorker) Inject(e *Entity) {
	p, s := g.pool, e.stage.Load()
	g.woken++
	e.from = 0
	if !s.post(e, e) {
		if p.seldom.Load() {
			p.lookSoon()
		}
		return
	}
	if s.driver != nil {
		p.ready(s, nil)
		return
	}
	p.mu.Lock()
	if s.state == stageIdle {
		p.queueLocked(s)
		g.queued++
	}
	p.mu.Unlock()
}

// RunPending runs the entities woken by Inject, unless workers do. It returns false if onDetach was called: the goroutine
// is then no longer an inline worker.
func (g *InlineWorker) RunPending() (still bool) {
	woken, queued := g.woken, g.queued
	g.woken, g.queued, g.ran = 0, 0, false
	if queued == 0 {
		return true
	}
	w := g.pool.beginInline(g, max(inlineTurns, woken))
	if w == nil {
		return true
	}
	g.ran = true
	defer func() { // a handler may call runtime.Goexit
		if w.stage != nil {
			w.unwound()
		}
		still = g.pool.endInline(w, g)
	}()
	for n := 1; n <= inlineStages; n++ {
		w.run(w.stage)
		w.stage = nil
		if n >= queued && !w.pendingWake || w.unfit || !g.pool.nextForInline(w) {
			break
		}
	}
	return true
}

// Ran reports whether the last RunPending ran something.
func (g *InlineWorker) Ran() bool { return g.ran }

// beginInline makes g a worker with a stage, on which it runs at most turns turns. It returns nil if no stage waits, or if
// enough workers are active.
func (p *Pool) beginInline(g *InlineWorker, turns int) *Worker {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !Inline || p.stopping || p.active >= p.cfg.Workers || p.first == nil {
		p.kickLocked()
		return nil
	}
	w := p.workerLocked()
	w.inline, w.inlineTurns, w.goid = g, turns, g.goid
	p.live++
	p.countLocked(w, true)
	w.assign(p.unqueueLocked())
	p.watchLocked()
	return w
}

// nextForInline gives w, an inline worker with further deferred stages, one more stage. It returns false if no stage waits,
// or if w is no longer an inline worker.
func (p *Pool) nextForInline(w *Worker) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if w.inline == nil || p.stopping || p.first == nil || !w.counted && p.active >= p.cfg.Workers {
		return false
	}
	delete(p.detached, w.lease)
	w.pendingWake = false
	p.countLocked(w, true)
	w.assign(p.unqueueLocked())
	return true
}

// endInline is the end of beginInline. It reports whether g is still an inline worker.
func (p *Pool) endInline(w *Worker, g *InlineWorker) bool {
	p.mu.Lock()
	if w.unfit {
		w.handOffLocked()
		w.unfit = false // another goroutine will run it
	}
	delete(p.detached, w.lease)
	p.countLocked(w, false)
	w.stage, w.lease, w.inline, w.inlineTurns, w.pendingWake = nil, nil, nil, 0, false
	p.free = append(p.free, w)
	p.kickLocked()
	still := !g.gone
	p.mu.Unlock()
	p.ended()
	return still
}

// handOffLocked calls onDetach if w is an inline worker, so that another goroutine does its other work.
func (w *Worker) handOffLocked() {
	if g := w.inline; g != nil {
		w.inline, g.gone = nil, true
		g.onDetach()
	}
}
