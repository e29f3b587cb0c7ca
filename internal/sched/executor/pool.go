package executor

import (
	"context"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"github.com/actornode/actornode/internal/mailbox/inbox"
	"github.com/actornode/actornode/internal/sched/fiber"
)

// Config of a Pool. The zero value works.
type Config struct {
	Workers int           // maximum number of goroutines that run stages; default GOMAXPROCS
	Stages  int           // default 8 per worker
	Blocked time.Duration // a handler that runs longer is reported; default 10 ms

	// Local makes the value of Worker.Local. Default: nil.
	Local func(*Worker) Local
	// OnBlocked is called, on the watcher's goroutine, once for each turn that
	// runs longer than Blocked, unless it has called Worker.Block. The watcher may miss one that is longer by less than
	// half, and, under low load, one that is longer by less than 66 ms. Default: nil.
	OnBlocked func(Blocked)
}

// Local is what a worker keeps for the pool's user.
type Local interface {
	// End is called on the worker's goroutine, outside its stage, after a turn that has called Worker.DeferToTurnEnd, or before
	// its handler waits. busy means that others wait for the stage.
	End(busy bool)
	// Overdue is called, on the watcher's goroutine, when the worker has been in one turn since the watcher's last check.
	Overdue()
}

// Blocked describes a handler that runs too long.
type Blocked struct {
	Task  Task
	Stage int
	For   time.Duration // at least

	goid  uint64 // of the worker's goroutine
	fiber uint64 // of the fiber that runs it, or 0 for the worker's goroutine
}

func (c *Config) fill() {
	if c.Workers <= 0 {
		c.Workers = runtime.GOMAXPROCS(0)
	}
	if c.Stages <= 0 {
		c.Stages = 8 * c.Workers
	}
	if c.Blocked <= 0 {
		c.Blocked = 10 * time.Millisecond
	}
	if c.OnBlocked == nil {
		c.OnBlocked = func(Blocked) {}
	}
}

// block is the number of consecutive entities spawned from outside that go to one stage: actors that are made together tend
// to send to each other.
const block = 256

// Pool is a set of stages and the workers that run them.
type Pool struct {
	cfg        Config
	spreadOver atomic.Pointer[[]*Stage] // the first of stages

	_         [64]byte
	freeSlots atomic.Int32 // workers that could run if there were work; read in each turn
	waiting   atomic.Int32 // stages in the list
	seldom    atomic.Bool  // the watcher checks seldom
	_         [64]byte

	spread  atomic.Uint64 // entities placed by Spread
	blocked atomic.Uint64 // turns that ran too long
	shared  atomic.Uint64 // number of times that a busy stage gave half of its queue away
	clock   atomic.Int64  // Unix time, ns, of the watcher's last check

	mu       sync.Mutex
	stages   []*Stage // numbered from 0: those that entities are, or were, spread over
	own      []*Stage // made by NewStage and not forgotten
	made     int32    // number of calls of NewStage
	first    *Stage   // queued stages, oldest first, linked by Stage.after
	last     *Stage
	idle     []*Worker
	free     []*Worker // workers without a goroutine, for reuse
	active   int       // workers that hold a stage or are looking for one
	spareAt  int       // where idleStage starts its next search
	live     int       // workers and the watcher: all goroutines of the pool
	due      int       // queued driven stages
	revoked  uint64    // number of times that a stage was taken from its worker
	stopping bool
	watching bool               // the watcher is checking, or about to
	ran      bool               // a worker has become active since the watcher's last check
	detached map[*lease]*Entity // turns that run without their stage

	movers movers

	nodesMu sync.Mutex
	nodes   []inbox.Free // full batches

	wakeWatcher chan struct{} // capacity 1
	stop        chan struct{} // closed when stopping
	gone        chan struct{} // closed when stopping and no goroutine is left
}

// New returns a pool without goroutines; workers start when there is work.
func New(cfg Config) *Pool {
	cfg.fill()
	p := &Pool{cfg: cfg, detached: make(map[*lease]*Entity), wakeWatcher: make(chan struct{}, 1),
		stop: make(chan struct{}), gone: make(chan struct{})}
	for i := range cfg.Stages {
		p.stages = append(p.stages, &Stage{pool: p, index: i, number: int32(i)})
	}
	first := p.stages
	p.spreadOver.Store(&first)
	return p
}

// Spread returns the stage for the next entity without a given stage.
func (p *Pool) Spread() *Stage {
	stages := *p.spreadOver.Load()
	return stages[(p.spread.Add(1)-1)/block%uint64(len(stages))]
}

// BlockedTurns returns the number of turns that ran longer than Config.Blocked.
func (p *Pool) BlockedTurns() uint64 { return p.blocked.Load() }

// QueueLen returns the approximate number of entities that wait for their turn, without those woken from outside that their
// stage has not collected yet.
func (p *Pool) QueueLen() (n int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for s := range p.all() {
		n += int(s.n.Load())
	}
	return n
}

// Inject wakes e from outside its stage. The caller has the right to that wake-up. w is the worker that runs the calling
// handler, or nil elsewhere: a worker that will soon be idle runs e's stage itself instead of waking another worker. If its
// handler takes long, the watcher wakes one.
func (p *Pool) Inject(e *Entity, w *Worker) {
	s := e.stage.Load()
	e.from = 0
	if w != nil && w.Holds() {
		e.from = uint16(w.stage.index + 1)
	}
	if s.post(e, e) {
		p.ready(s, w)
	} else if p.seldom.Load() {
		p.lookSoon()
	}
}

func (p *Pool) kick() {
	p.mu.Lock()
	p.kickLocked()
	p.mu.Unlock()
}

// ready queues s, to whose inject list the caller has added, if it is idle. For w see Inject.
func (p *Pool) ready(s *Stage, w *Worker) {
	p.mu.Lock()
	if s.state == stageIdle && s.driver != nil {
		due := p.dueLocked(s)
		p.mu.Unlock()
		if due {
			s.driver.schedule()
		}
		return
	}
	if s.state == stageIdle {
		p.queueLocked(s)
		if w == nil || w.pendingWake || !w.Holds() { // a detached turn will not run a stage soon
			p.kickLocked()
		} else {
			w.pendingWake = true
		}
	}
	p.mu.Unlock()
}

func (p *Pool) queueLocked(s *Stage) {
	if s.driver != nil {
		if p.dueLocked(s) {
			go s.driver.schedule() // ends when Schedule returns, which must not block, but may call the pool
		}
		return
	}
	s.state = stageQueued
	if p.last == nil {
		p.first = s
	} else {
		p.last.after = s
	}
	p.last = s
	p.waiting.Add(1)
}

func (p *Pool) unqueueLocked() *Stage {
	s := p.first
	if s == nil {
		return nil
	}
	if p.first, s.after = s.after, nil; p.first == nil {
		p.last = nil
	}
	p.waiting.Add(-1)
	return s
}

// countLocked makes w count as active or not.
func (p *Pool) countLocked(w *Worker, active bool) {
	if w.counted == active {
		return
	}
	w.counted = active
	if active {
		p.active++
		p.ran = true
	} else {
		p.active--
	}
	p.freeSlots.Store(int32(p.cfg.Workers - p.active))
}

// Clock returns the Unix time in ns of the watcher's last check. While the pool is not idle, it usually lags by at most 64
// ms or, if longer, a fifth of Config.Blocked.
func (p *Pool) Clock() int64 { return p.clock.Load() }

// kickLocked starts or wakes a worker if one may run and a stage waits.
func (p *Pool) kickLocked() {
	if p.active < p.cfg.Workers && p.first != nil && !p.overLocked() {
		p.rouseLocked(nil)
	}
	p.watchLocked()
}

// watchLocked makes the watcher check, because something runs, or will run.
func (p *Pool) watchLocked() {
	if !p.watching && !p.stopping {
		p.watching = true
		p.clock.Store(time.Now().UnixNano())
		select {
		case p.wakeWatcher <- struct{}{}:
		default:
		}
	}
}

// rouseLocked wakes an idle worker, or starts one, which then runs s or, if s is nil, any waiting stage.
func (p *Pool) rouseLocked(s *Stage) {
	var w *Worker
	if n := len(p.idle); n > 0 {
		w, p.idle = p.idle[n-1], p.idle[:n-1]
		p.countLocked(w, true)
		w.assign(s)
		w.wake <- struct{}{}
		return
	}
	w = p.workerLocked()
	p.countLocked(w, true)
	w.assign(s)
	p.live++
	go w.loop()
}

// workerLocked returns a worker without a goroutine, preferably a used one. Its Local, such as a node's counters, is never
// discarded.
func (p *Pool) workerLocked() *Worker {
	if last := len(p.free) - 1; last >= 0 {
		w := p.free[last]
		p.free = p.free[:last]
		w.thread = fiber.Thread{}
		return w
	}
	w := &Worker{pool: p, wake: make(chan struct{}, 1)}
	if p.cfg.Local != nil {
		w.Local = p.cfg.Local(w)
	}
	return w
}

// ended records that a goroutine of the pool has ended.
func (p *Pool) ended() {
	p.mu.Lock()
	if p.live--; p.overLocked() {
		close(p.gone)
	}
	p.mu.Unlock()
}

// retire records that w's goroutine, which belongs to the pool, is about to end.
func (p *Pool) retire(w *Worker) {
	p.mu.Lock()
	if w.stage == nil && !w.unfit { // otherwise its handler has ended the goroutine, or left it unfit
		p.free = append(p.free, w)
	}
	p.mu.Unlock()
	p.ended()
}

// overLocked reports whether the pool has ended: nothing is running or will run.
func (p *Pool) overLocked() bool { return p.stopping && p.live+p.due == 0 }

// assign makes w the holder of s, which may be nil. The caller holds pool.mu.
func (w *Worker) assign(s *Stage) {
	w.stage = s
	if s == nil {
		return
	}
	l := s.spare
	if l == nil {
		l = new(lease)
	}
	l.owner, l.seen, l.since = w, l.turns.Load(), time.Time{}
	w.lease, s.lease, s.spare, s.state = l, l, nil, stageHeld
}

// endUnfit lets another worker replace w, whose goroutine ends.
func (p *Pool) endUnfit(w *Worker) {
	p.mu.Lock()
	delete(p.detached, w.lease)
	p.countLocked(w, false)
	p.kickLocked()
	p.mu.Unlock()
}

// maxSpare is the number of idle workers kept for handlers that block.
const maxSpare = 16

// next returns a stage for w, waiting for one if necessary, or nil if the worker's goroutine must end.
func (p *Pool) next(w *Worker) *Stage {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.detached) > 0 {
		delete(p.detached, w.lease)
	}
	w.pendingWake = false
	for {
		if w.stage != nil { // assigned when w was woken or started
			return w.stage
		}
		if p.active < p.cfg.Workers {
			p.countLocked(w, true)
		}
		if w.counted {
			if s := p.unqueueLocked(); s != nil {
				w.assign(s)
				p.kickLocked()
				return s
			}
			p.countLocked(w, false)
		}
		if p.stopping || len(p.idle) >= p.cfg.Workers+maxSpare {
			return nil
		}
		p.idle = append(p.idle, w)
		p.mu.Unlock()
		<-w.wake
		p.mu.Lock()
	}
}

// release ends w's hold on s. If there is more work, s goes to the end of the list. It returns false if w still holds s, or
// if the lease was lost.
func (p *Pool) release(w *Worker, s *Stage, more bool) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !w.Holds() {
		return false
	}
	if more && s.driver != nil {
		s.driver.again = p.dueLocked(s)
	} else if more {
		p.queueLocked(s)
	} else {
		if !s.inject.CompareAndSwap(listening, nil) {
			return false
		}
		s.state = stageIdle
	}
	s.spare, s.lease = s.lease, nil // not revoked: reusable by the next holder
	w.stage, w.lease = nil, nil
	return true
}

// freeLocked makes a stage available that is marked as held but has no holder, unless it is reserved for a turn.
func (p *Pool) freeLocked(s *Stage) {
	s.lease = nil
	if s.reserved != nil {
		return
	}
	if s.n.Load() > 0 || !s.inject.CompareAndSwap(listening, nil) && s.inject.Load() != nil {
		p.queueLocked(s)
	} else {
		s.state = stageIdle
	}
}

// revokeLocked takes s from the worker that holds it; the worker continues its handler as a detached turn and no longer
// counts as active. It returns the entity that is running.
func (p *Pool) revokeLocked(s *Stage) *Entity {
	s.lease.revoke()
	p.revoked++
	p.countLocked(s.lease.owner, false)
	s.lease.owner.handOffLocked()
	e := s.current
	s.current, s.lease = nil, nil
	return e
}

// detach takes w's stage away at the request of w's handler.
func (p *Pool) detach(w *Worker) {
	p.mu.Lock()
	if w.Holds() {
		s, l := w.stage, w.lease
		if e := p.revokeLocked(s); e != nil {
			l.counted = true // the handler has announced it
			p.detached[l] = e
		}
		p.freeLocked(s)
		p.kickLocked()
	} else if w.stage != nil {
		w.lease.counted = true
		p.unreserveLocked(w.stage, w.lease)
	}
	p.mu.Unlock()
}

// giveBack returns e, which ran when w lost the stage, to that stage.
func (p *Pool) giveBack(e *Entity, w *Worker) {
	s := e.stage.Load()
	r := &reattach{e: e}
	r.entity.Adopt(r, s, true)
	p.Inject(&r.entity, nil)
	if s.exclusive {
		p.mu.Lock()
		p.unreserveLocked(s, w.lease)
		p.mu.Unlock()
	}
}

// replace gives s, which w has left temporarily, to another worker. l was w's lease on s; if it has been revoked, w may
// already have the next lease.
func (p *Pool) replace(w *Worker, s *Stage, l *lease) {
	p.mu.Lock()
	if !l.revoked.Load() {
		l.revoked.Store(true) // w's own lease, and w is outside
		p.countLocked(w, false)
		w.handOffLocked()
		if p.first != nil { // other stages have waited for longer
			s.lease = nil
			p.queueLocked(s)
		} else {
			p.rouseLocked(s)
		}
		p.kickLocked() // w may have deferred a wake-up
	}
	p.mu.Unlock()
}

// handOver passes s from w to the worker that runs e's suspended handler, which is due.
func (p *Pool) handOver(w *Worker, s *Stage, e *Entity) {
	e.unset(suspended)
	ww := s.waiting[e]
	delete(s.waiting, e)
	w.lease.leave()
	p.mu.Lock()
	if w.Holds() {
		w.lease.revoked.Store(true)
		p.countLocked(w, false)
		p.countLocked(ww, true)
		s.current = e
		ww.assign(s)
	} else if s.exclusive { // s was taken from w meanwhile: e must wait for it again
		p.mu.Unlock()
		p.resume(e, ww)
		return
	} else { // the same, and ww continues without it; its announcement is obsolete
		ww.lease.since, ww.lease.counted = time.Time{}, false
		p.detached[ww.lease] = e
	}
	p.mu.Unlock()
	ww.wake <- struct{}{}
}

// idleStage returns an idle stage, or nil.
func (p *Pool) idleStage(not *Stage) *Stage {
	p.mu.Lock()
	defer p.mu.Unlock()
	stages := *p.spreadOver.Load()
	for range stages {
		p.spareAt = (p.spareAt + 1) % len(stages)
		if s := stages[p.spareAt]; s.state == stageIdle && s != not {
			return s
		}
	}
	return nil
}

// Look calls f with the state of e while the caller holds e's stage. It is Borrow for the stage of an entity.
func (p *Pool) Look(e *Entity, f func(stage int, queued, running bool)) {
	for {
		s := e.stage.Load()
		moved := false
		p.Borrow(s, func() {
			if moved = e.stage.Load() != s; moved {
				return
			}
			f(s.Index(), e.is(queued), p.detachedLocked(e))
		})
		if !moved {
			return
		}
	}
}

// TurnID identifies a turn. The zero value identifies no turn.
type TurnID struct {
	Goroutine uint64 // that runs it, or 0 if unknown
	number    uint32 // among the turns of its lease
}

// Turn identifies the current turn of e, or returns the zero value if e is not in one. A turn that is running on e's stage loses
// the stage. If a later call returns the same, the turn has gone on all the while.
func (p *Pool) Turn(e *Entity) (id TurnID) {
	p.Look(e, func(int, bool, bool) {
		for l, d := range p.detached {
			if d == e {
				id = TurnID{l.owner.goid, l.turns.Load()}
			}
		}
		if w := e.stage.Load().waiting[e]; w != nil { // it waits for the stage that it has released
			id = TurnID{w.goid, w.lease.turns.Load()}
		}
	})
	return id
}

// detachedLocked reports whether e is in a turn without its stage.
func (p *Pool) detachedLocked(e *Entity) bool {
	for _, d := range p.detached {
		if d == e {
			return true
		}
	}
	return false
}

// Borrow runs f while the caller holds s: the data that s guards does not change meanwhile, except by f. A running handler
// continues without the stage. f must not call the pool, and must not wait for a goroutine that might.
func (p *Pool) Borrow(s *Stage, f func()) {
	p.mu.Lock()
	defer p.mu.Unlock()
	was := s.state
	if l := s.lease; l != nil {
		p.takeLocked(s, l)
	}
	s.state = stageHeld
	f()
	switch was {
	case stageQueued:
		s.state = stageQueued // still in the list
	default:
		p.freeLocked(s)
	}
	p.kickLocked()
}

// maxBatches bounds the recycled mailbox nodes that the pool keeps.
const maxBatches = 256

// Refill gives f, which is empty, recycled nodes of stages, if there are any.
func (p *Pool) Refill(f *inbox.Free) {
	p.nodesMu.Lock()
	if n := len(p.nodes); n > 0 {
		*f = p.nodes[n-1]
		p.nodes = p.nodes[:n-1]
	}
	p.nodesMu.Unlock()
}

func (p *Pool) returnNodes(f *inbox.Free) {
	b := f.Split()
	p.nodesMu.Lock()
	if len(p.nodes) < maxBatches {
		p.nodes = append(p.nodes, b)
	}
	p.nodesMu.Unlock()
}

// Stop ends the workers when there is no more work, and waits for them until ctx is done. Handlers that do not return keep
// running. Entities injected after the last worker has ended do not run.
func (p *Pool) Stop(ctx context.Context) error {
	p.mu.Lock()
	if !p.stopping {
		p.stopping = true
		close(p.stop)
		for _, w := range p.idle {
			w.wake <- struct{}{}
		}
		p.idle = nil
		if p.overLocked() {
			close(p.gone)
		}
	}
	p.mu.Unlock()
	select {
	case <-p.gone:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
