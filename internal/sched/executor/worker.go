package executor

import (
	"runtime"
	"time"

	"github.com/actornode/actornode/internal/sched/bias"
	"github.com/actornode/actornode/internal/sched/fiber"
)

// Worker is a goroutine that runs stages, one at a time. Its methods are for
// the code of tasks, on the worker's own goroutine.
type Worker struct {
	Local any // what the user of the pool keeps for each worker; set by Config.Local

	pool            *Pool
	stage           *Stage
	lease           *lease
	sends           int  // since the turn began
	turnsSinceYield int  // turns since the last Gosched
	pendingWake     bool // this turn has made a stage ready and woken no worker for it
	deferred        bool // this turn has called DeferToTurnEnd
	blocking        bool // in Blocking
	inlineTurns     int  // an inline worker runs it, for so many turns at most; 0: it does not
	unfit           bool // its goroutine must end: see refuse

	// Of the turns that have been relayed within one call of Turn: see Relay.
	last    *Entity // the one in its turn; nil: none has been relayed
	relayed int     // how many, long ones counting more

	wake chan struct{} // capacity 1: out of the idle list, or a suspended handler's turn
	goid uint64        // of loop

	// Guarded by pool.mu.
	counted bool          // as one of pool.active
	inline  *InlineWorker // that runs it, while it has its place still; nil: none

	// How the run queue is shared out: see maybeShare.
	interval, countdown int
	sampledAt           time.Time
	sampledTurns        uint32
	high                bool // the last estimate said that sharing is worth the while
	failedShares        int  // how often in a row no entity could be moved

	// How long turns take after which an entity may move: see quick.
	quickAt    time.Time
	quickTurns uint32

	thread fiber.Thread // of the goroutine that runs it

	_ [64]byte // so that two of them have no cache line in common
}

// Goroutine is the number of the goroutine that runs the worker's turns.
func (w *Worker) Goroutine() uint64 { return w.goid }

// Enter takes the worker's stage back after foreign code. It returns false if the stage has
// been taken away: the turn is detached.
func (w *Worker) Enter() bool { return w.lease.enter() }

// Leave lets others take the stage. Between Leave and Enter nothing that the
// stage guards may be touched.
func (w *Worker) Leave() { w.lease.leave() }

// Stage returns the stage that the worker holds. Valid between Enter and Leave.
func (w *Worker) Stage() *Stage { return w.stage }

// Holds reports whether the worker still has its stage; it may be gone when
// the answer arrives, unless it is between Enter and Leave.
func (w *Worker) Holds() bool { return w.lease.revoked.Load() == 0 }

// CanSwitch reports whether the worker's goroutine may resume a fiber: it must not be locked
// to its thread (runtime.LockOSThread), or Go's runtime ends the program. If a handler
// has left it locked, the turn returns Refused, another worker runs it, and this goroutine
// ends, its thread with it.
func (w *Worker) CanSwitch() bool { return !w.thread.Locked() }

// DeferToTurnEnd makes the worker call Config.OnTurnEnd when the turn is over, or before its handler waits.
func (w *Worker) DeferToTurnEnd() { w.deferred = true }

// runDeferred calls Config.OnTurnEnd if DeferToTurnEnd was called. The caller is outside the stage.
func (w *Worker) runDeferred(busy bool) {
	if w.deferred {
		w.deferred = false
		w.pool.cfg.OnTurnEnd(w, busy)
	}
}

// sendsBeforeYield is how many sends a handler may do before the other
// entities of its stage get a turn.
const sendsBeforeYield = 2048

// Sent counts a send of the running handler and, now and then, lets the rest
// of the stage run first. Called outside the stage.
func (w *Worker) Sent() {
	if w.sends++; w.sends >= sendsBeforeYield {
		w.sends = 0
		w.Yield()
	}
}

// loop is the worker's goroutine: started by Pool.rouseLocked, ended by
// Pool.next, waited for by Pool.Stop.
func (w *Worker) loop() {
	defer w.pool.retire(w)
	defer func() {
		if w.stage != nil {
			w.unwound()
		}
	}()
	w.goid = fiber.GoroutineID()
	for {
		s := w.pool.next(w)
		if s == nil {
			return
		}
		w.run(s)
		w.stage = nil
		if w.unfit {
			w.pool.endUnfit(w)
			return
		}
	}
}

// unwound leaves everything in order when a handler has called runtime.Goexit.
func (w *Worker) unwound() {
	p, l := w.pool, w.lease
	l.leave()
	w.runDeferred(true)
	p.detach(w)
	p.mu.Lock()
	e := p.detached[l]
	delete(p.detached, l)
	p.mu.Unlock()
	if e != nil {
		p.giveBack(e, w)
	}
}

// turnsBeforeSwitch is how many turns a stage gets while others wait.
const turnsBeforeSwitch = 512

// againWeight is for how many turns more one counts that used up its budget.
const againWeight = 63

// turnsBeforeGosched is how many turns a worker runs before it lets the Go
// scheduler in. Without that the collector's workers would wait for a timer
// tick to preempt this goroutine, and all the while every pointer store would
// go through the write barrier.
const turnsBeforeGosched = 16384

// run runs the entities of a stage until none is due, until other stages must have
// their turn, or until the stage is taken away or handed over.
func (w *Worker) run(s *Stage) {
	p := w.pool
	w.interval, w.countdown, w.sampledAt, w.high, w.failedShares = sample, 1, time.Time{}, false, 0
	w.quickAt = time.Time{}
	if !w.lease.enter() {
		return
	}
	for turns := 1; ; turns++ {
		if s.injected() {
			s.gather()
		}
		if s.leaving != nil {
			leaving := s.leaving
			s.leaving = nil
			w.lease.leave()
			p.deliverMigrants(leaving, w)
			if !w.lease.enter() {
				return
			}
		}
		over := turns >= turnsBeforeSwitch && p.waiting.Load() != 0 || w.inlineTurns > 0 && turns > w.inlineTurns
		if s.n == 0 || over {
			more := s.n != 0
			w.lease.leave()
			if p.release(w, s, more) || !w.lease.enter() {
				return
			}
			s.gather()
			continue
		}
		if w.turnsSinceYield++; w.turnsSinceYield >= turnsBeforeGosched {
			w.turnsSinceYield = 0
			w.lease.leave()
			runtime.Gosched()
			if !w.lease.enter() {
				return
			}
			continue
		}
		e := s.pop()
		bias.StoreRelaxed(&w.lease.turns, w.lease.turns+1)
		if e.is(suspended | moving) {
			if !w.divert(s, e) {
				return
			}
			continue
		}
		s.current = e
		if s.n != 0 && p.freeSlots.Load() != 0 && !w.maybeShare(s) {
			p.giveBack(e, w)
			return
		}
		w.sends = 0
		v := e.task.Turn(w)
		if w.last != nil {
			e, turns = w.last, turns+w.relayed
			w.last, w.relayed = nil, 0
		}
		if v >= Lost {
			if v == Refused {
				w.refuse(e)
				return
			}
			w.runDeferred(true)
			p.giveBack(e, w)
			return
		}
		s.current = nil
		if v == Again && s.prefersOtherStage(e) && w.quick() && e.task.Claim() {
			turns += againWeight
			if !w.migrate(e) {
				w.runDeferred(true)
				return
			}
		} else {
			turns += s.done(e, v)
		}
		if w.deferred {
			busy := s.n != 0 || s.injected()
			w.lease.leave()
			w.runDeferred(busy)
			if !w.lease.enter() {
				return
			}
		}
		if w.pendingWake && (s.n != 0 || s.injected()) {
			w.pendingWake = false
			w.lease.leave()
			p.kick()
			if !w.lease.enter() {
				return
			}
		}
	}
}

// refuse leaves the turn of e, and the stage, to another worker.
func (w *Worker) refuse(e *Entity) {
	s := w.stage
	w.unfit = true
	s.current = nil
	s.push(e)
	w.lease.leave()
	w.pool.release(w, s, true)
}

// done ends a turn of e, which belongs to s, and returns for how many more it counts.
func (s *Stage) done(e *Entity, v TurnResult) (more int) {
	if v == Again {
		s.push(e)
		return againWeight // it was a long one
	}
	e.unset(queued)
	return 0
}

// maxRelayed is how many turns are relayed, at most, before the worker looks around.
const maxRelayed = 256

// Relay ends the current turn with v and starts the next task of the stage directly, which
// it returns. It is for tasks that run on goroutines of their own: one resumes the next,
// and the last of them makes the Turn return that the worker has called. Relay returns nil,
// and has done nothing, if the next task cannot be started so (see [Entity.SetRelayable]) or the
// worker must run first: then Turn returns v. It is called on the worker's stage; the
// started turn has the stage from then on.
func (w *Worker) Relay(v TurnResult) Task {
	s := w.stage
	e, last := s.head, s.current
	if e == nil || !e.is(relayable) || s.prefersOtherStage(last) || e.is(suspended|moving) || s.fresh != nil ||
		w.relayed >= maxRelayed || w.inlineTurns > 0 || w.deferred || w.pendingWake || s.leaving != nil || s.injected() {
		return nil
	}
	if s.n > 1 && w.pool.freeSlots.Load() != 0 {
		if w.countdown <= 1 {
			return nil
		}
		w.countdown--
	}
	w.relayed++
	w.turnsSinceYield++
	s.popFront()
	bias.StoreRelaxed(&w.lease.turns, w.lease.turns+1)
	w.relayed += s.done(last, v)
	s.current, w.last, w.sends = e, e, 0
	return e.task
}

// shareWorth is how much queued work makes it worth while to move half of it
// to another stage for an idle worker: well above what the move and the
// messages that cross stages afterwards cost.
var shareWorth = shareUnits * unit

const shareUnits = 2560

// freshWeight is for how many turns a fresh entity counts: those of all that it
// will spawn or wake.
const freshWeight = 16

// sample is over how many turns, at least, their length is measured.
const sample = 16

// maybeShare is called when another worker has nothing to do. It estimates from
// the length of recent turns what waits in s's queue and shares it out if that
// is worth the while. False: the stage was lost.
func (w *Worker) maybeShare(s *Stage) bool {
	if w.countdown--; w.countdown > 0 {
		return true
	}
	now := time.Now()
	spent, turns := now.Sub(w.sampledAt), w.lease.turns-w.sampledTurns
	first := w.sampledAt.IsZero()
	w.sampledAt, w.sampledTurns = now, w.lease.turns
	w.countdown = sample
	if first || turns == 0 {
		return true
	}
	work := spent / time.Duration(turns) * time.Duration(s.n+(freshWeight-1)*s.nfresh)
	switch {
	case work < shareWorth:
		w.high = false
		w.interval = min(2*w.interval, 16*sample)
		w.countdown = w.interval
	case !w.high:
		w.high = true // measure again: this goroutine may have had to wait
		w.interval = sample
	default:
		w.high = false
		return w.share(s, spent/time.Duration(turns))
	}
	return true
}

// minWorkTurn is the least time of a turn that counts as doing more than sending: 512 times what
// a message to another stage costs both stages, which is about ten times the unit.
var minWorkTurn = minWorkUnits * unit

const minWorkUnits = 512 * 10

// prefersOtherStage reports whether e sends to another stage's entities.
func (s *Stage) prefersOtherStage(e *Entity) bool {
	return e.sendTarget != 0 && int(e.sendTarget) != s.index+1 && !e.pinned.Load()
}

// quick reports whether turns have taken less than minWorkTurn since it was called last, which
// is after those of entities that prefer another stage.
func (w *Worker) quick() bool {
	now, turns := time.Now(), w.lease.turns
	spent, n := now.Sub(w.quickAt), turns-w.quickTurns
	w.quickAt, w.quickTurns = now, turns
	return n > 0 && spent < minWorkTurn*time.Duration(n)
}

// migrate moves e, which has just had its turn and of which w has claimed the next wake-up,
// to the stage it sends to. False: the stage was lost.
func (w *Worker) migrate(e *Entity) bool {
	t := w.pool.target(e.sendTarget)
	if t == nil {
		t = w.stage
	}
	e.unset(queued)
	e.hasLocalSender, e.from = false, 0
	e.stage.Store(t)
	w.lease.leave()
	if t.post(e, e) {
		w.pool.ready(t, w)
	}
	return w.lease.enter()
}

// maxFailedShares bounds failedShares: the queue is gone through every 65,536 turns at least.
const maxFailedShares = 12

// share moves half of s's run queue to an idle stage; turn is how long its turns take. False:
// the stage was lost.
func (w *Worker) share(s *Stage, turn time.Duration) bool {
	w.lease.leave()
	t := w.pool.idleStage(s)
	if !w.lease.enter() {
		return false
	}
	if t == nil {
		return true
	}
	// The later half moves: entities that were woken one after the other tend to
	// send to each other, so neighbours stay together. Of the fresh ones it is
	// the older half, which have the larger trees before them.
	var first, last *Entity
	move := func(e *Entity) bool {
		local := e.hasLocalSender
		e.hasLocalSender = false
		if turn < minWorkTurn && (local || int(e.sendTarget) == s.index+1) {
			return false
		}
		if e.is(suspended|moving) || e.pinned.Load() || !e.task.Claim() {
			return false
		}
		e.unset(queued)
		e.from = 0 // no stage woke it
		e.stage.Store(t)
		e.inj = first
		if first = e; last == nil {
			last = e
		}
		return true
	}
	queued, fresh := s.n-s.nfresh, s.nfresh
	var keep Stage
	for e, i := s.head, uint32(0); e != nil; i++ {
		next := e.next
		if i < queued/2 || !move(e) {
			keep.push(e)
		}
		e = next
	}
	link, kept := &s.fresh, uint32(0)
	for e, i := s.fresh, uint32(0); e != nil; i++ {
		next := e.next
		if i < fresh/2 || !move(e) {
			*link = e
			link = &e.next
			kept++
		}
		e = next
	}
	*link = nil
	s.head, s.tail, s.nfresh = keep.head, keep.tail, kept
	bias.StoreRelaxed(&s.n, keep.n+kept)
	if first == nil {
		w.failedShares = min(w.failedShares+1, maxFailedShares) // the next time is later, as this has gone through the whole queue
		w.countdown = sample << w.failedShares
		return true
	}
	w.failedShares = 0
	w.lease.leave()
	w.pool.shared.Add(1)
	if t.post(first, last) {
		w.pool.ready(t, nil)
	}
	return w.lease.enter()
}

// Yield lets the other entities of the stage have their turns before the
// running handler goes on. The entity waits in the stage's run queue like the
// others, its goroutine blocked. The caller is outside the stage.
func (w *Worker) Yield() {
	if !w.lease.enter() {
		return
	}
	s := w.stage
	if s.exclusive || s.n == 0 && !s.injected() && w.pool.waiting.Load() == 0 {
		w.lease.leave()
		return
	}
	if w.deferred {
		w.lease.leave()
		w.runDeferred(true)
		if !w.lease.enter() {
			return
		}
	}
	e := s.current
	e.set(suspended)
	if s.waiting == nil {
		s.waiting = make(map[*Entity]*Worker)
	}
	s.waiting[e] = w
	s.push(e)
	s.current = nil
	l := w.lease
	l.leave()
	w.pool.replace(w, s, l)
	<-w.wake
	w.sampledAt, w.quickAt = time.Time{}, time.Time{} // of another lease
}

// Block is called by a handler that is about to wait for something outside:
// its stage runs other entities at once.
func (w *Worker) Block() {
	w.runDeferred(false)
	w.pool.detach(w)
}
