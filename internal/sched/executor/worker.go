package executor

import (
	"runtime"
	"time"

	"github.com/actornode/actornode/internal/sched/fiber"
)

// Worker is a goroutine that runs stages, one at a time. Its methods are for
// the code of tasks, on the worker's own goroutine.
type Worker struct {
	Local Local // set by Config.Local

	pool            *Pool
	stage           *Stage
	lease           *lease
	sends           int  // since the turn began
	turnsSinceYield int  // turns since the last Gosched
	pendingWake     bool // this turn has made a stage ready without waking a worker
	deferred        bool // this turn has called DeferToTurnEnd
	blocking        bool // in Blocking
	inlineTurns     int  // maximum number of turns if an inline worker runs it, else 0
	unfit           bool // its goroutine must end: see refuse

	// For the turns relayed within one call of Turn: see Relay.
	last    *Entity // the entity of the current turn, or nil if none was relayed
	relayed int     // their number; long ones count more

	wake chan struct{} // capacity 1: out of the idle list, or a suspended handler's turn
	goid uint64        // of loop

	// Guarded by pool.mu.
	counted bool          // as one of pool.active
	inline  *InlineWorker // the inline worker that runs it and is not detached, or nil

	// For dividing the run queue: see maybeShare.
	interval, countdown int
	sampledAt           time.Time
	sampledTurns        uint32
	high                bool // according to the last estimate, sharing is worthwhile
	failedShares        int  // consecutive times that no entity could be moved

	// For the duration of turns after which an entity may move: see quick.
	quickAt    time.Time
	quickTurns uint32

	thread fiber.Thread // of the goroutine that runs it

	_ [64]byte // so that two workers share no cache line
}

// Goroutine returns the number of the goroutine that runs the worker's turns.
func (w *Worker) Goroutine() uint64 { return w.goid }

// Enter re-enters the worker's stage after foreign code. It returns false if the stage was taken away and the turn is
// detached.
func (w *Worker) Enter() bool { return w.lease.enter() }

// Leave lets others take the stage. Between Leave and Enter the data that the stage guards must not be accessed.
func (w *Worker) Leave() { w.lease.leave() }

// Stage returns the stage that the worker holds. Valid between Enter and Leave.
func (w *Worker) Stage() *Stage { return w.stage }

// Holds reports whether the worker still has its stage. Unless called between Enter and Leave, the result may be outdated.
func (w *Worker) Holds() bool { return !w.lease.revoked.Load() }

// CanSwitch reports whether the worker's goroutine may resume a fiber: it must not be locked
// to its thread (runtime.LockOSThread), or Go's runtime ends the program. If a handler
// has left it locked, the turn returns Refused, another worker runs it, and this goroutine
// ends, its thread with it.
func (w *Worker) CanSwitch() bool { return !w.thread.Locked() }

// DeferToTurnEnd makes the worker call Local.End, which it must have, when the turn is over, or before its handler waits.
func (w *Worker) DeferToTurnEnd() { w.deferred = true }

// runDeferred calls Local.End if DeferToTurnEnd was called. The caller is outside the stage.
func (w *Worker) runDeferred(busy bool) {
	if w.deferred {
		w.deferred = false
		w.Local.End(busy)
	}
}

// sendsBeforeYield is the number of sends of a handler after which the other entities of its stage get a turn.
const sendsBeforeYield = 2048

// Sent counts a send of the running handler and occasionally lets the rest of the stage run first. Called outside the
// stage.
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

// unwound cleans up when a handler has called runtime.Goexit.
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

// turnsBeforeSwitch is the number of turns that a stage gets while others wait.
const turnsBeforeSwitch = 512

// againWeight is the number of additional turns that a turn counts for if it used up its budget.
const againWeight = 63

// turnsBeforeGosched is the number of turns that a worker runs before it yields to the Go scheduler. Without that the
// collector's workers would wait for a timer tick to preempt this goroutine, and all the while every pointer store would go
// through the write barrier.
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
		if s.n.Load() == 0 || over {
			more := s.n.Load() != 0
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
		w.lease.turns.Add(1)
		if e.is(suspended | moving) {
			if !w.divert(s, e) {
				return
			}
			continue
		}
		s.current = e
		if s.n.Load() != 0 && p.freeSlots.Load() != 0 && !w.maybeShare(s) {
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
			busy := s.n.Load() != 0 || s.injected()
			w.lease.leave()
			w.runDeferred(busy)
			if !w.lease.enter() {
				return
			}
		}
		if w.pendingWake && (s.n.Load() != 0 || s.injected()) {
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

// done ends a turn of e, which belongs to s, and returns the number of additional turns that it counts for.
func (s *Stage) done(e *Entity, v TurnResult) (more int) {
	if v == Again {
		s.push(e)
		return againWeight // it was a long turn
	}
	e.unset(queued)
	return 0
}

// maxRelayed is the maximum number of relayed turns before the worker checks for other work.
const maxRelayed = 256

// Relay ends the current turn with v and starts the next task of the stage directly, which
// it returns. It is for tasks that run on their own goroutines: one resumes the next, and the last of them makes the Turn
// called by the worker return. Relay does nothing and returns nil if the next task cannot be started this way (see
// [Entity.SetRelayable]) or the worker must run first: then Turn must return v. It is called on the worker's stage; the
// started turn has the stage from then on.
func (w *Worker) Relay(v TurnResult) Task {
	s := w.stage
	e, last := s.head, s.current
	if e == nil || !e.is(relayable) || s.prefersOtherStage(last) || e.is(suspended|moving) || s.fresh != nil ||
		w.relayed >= maxRelayed || w.inlineTurns > 0 || w.deferred || w.pendingWake || s.leaving != nil || s.injected() {
		return nil
	}
	if s.n.Load() > 1 && w.pool.freeSlots.Load() != 0 {
		if w.countdown <= 1 {
			return nil
		}
		w.countdown--
	}
	w.relayed++
	w.turnsSinceYield++
	s.popFront()
	w.lease.turns.Add(1)
	w.relayed += s.done(last, v)
	s.current, w.last, w.sends = e, e, 0
	return e.task
}

// shareWorth is the amount of queued work from which moving half of it to another stage for an idle worker pays: well above
// the cost of the move and of the messages between stages afterwards.
var shareWorth = shareUnits * unit

const shareUnits = 2560

// freshWeight is the number of turns that a fresh entity counts for, including those of entities that it will spawn or
// wake.
const freshWeight = 16

// sample is the minimum number of turns over which their duration is measured.
const sample = 16

// maybeShare is called when another worker is idle. It estimates the work in s's queue from the duration of recent turns,
// and divides the queue if that pays. It returns false if the stage was lost.
func (w *Worker) maybeShare(s *Stage) bool {
	if w.countdown--; w.countdown > 0 {
		return true
	}
	now := time.Now()
	spent, turns := now.Sub(w.sampledAt), w.lease.turns.Load()-w.sampledTurns
	first := w.sampledAt.IsZero()
	w.sampledAt, w.sampledTurns = now, w.lease.turns.Load()
	w.countdown = sample
	if first || turns == 0 {
		return true
	}
	work := spent / time.Duration(turns) * time.Duration(s.n.Load()+(freshWeight-1)*s.nfresh)
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

// minWorkTurn is the minimum duration of a turn that counts as doing more than sending: 512 times the cost of a message to
// another stage, which is about ten times the unit.
var minWorkTurn = minWorkUnits * unit

const minWorkUnits = 512 * 10

// prefersOtherStage reports whether e sends to another stage's entities.
func (s *Stage) prefersOtherStage(e *Entity) bool {
	return e.sendTarget != 0 && int(e.sendTarget) != s.index+1 && !e.pinned.Load()
}

// quick reports whether turns have taken less than minWorkTurn since its last call. It is called after turns of entities
// that prefer another stage.
func (w *Worker) quick() bool {
	now, turns := time.Now(), w.lease.turns.Load()
	spent, n := now.Sub(w.quickAt), turns-w.quickTurns
	w.quickAt, w.quickTurns = now, turns
	return n > 0 && spent < minWorkTurn*time.Duration(n)
}

// migrate moves e, whose turn has just ended and whose next wake-up w has claimed, to the stage that it sends to. It
// returns false if the stage was lost.
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

// maxFailedShares bounds failedShares, so that the queue is searched at least every 65,536 turns.
const maxFailedShares = 12

// share moves half of s's run queue to an idle stage; turn is the average duration of its turns. It returns false if the
// stage was lost.
func (w *Worker) share(s *Stage, turn time.Duration) bool {
	w.lease.leave()
	t := w.pool.idleStage(s)
	if !w.lease.enter() {
		return false
	}
	if t == nil {
		return true
	}
	// The later half moves: entities that were woken one after the other tend to send to each other, so neighbours stay
	// together. Of the fresh ones the older half moves, because they will spawn larger trees.
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
	queued, fresh := s.n.Load()-s.nfresh, s.nfresh
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
	s.n.Store(keep.n.Load() + kept)
	if first == nil {
		w.failedShares = min(w.failedShares+1, maxFailedShares) // wait longer after a full search
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

// Yield lets the other entities of the stage run before the running handler continues. The entity waits in the stage's run
// queue like the others, its goroutine blocked. The caller is outside the stage.
func (w *Worker) Yield() {
	if !w.lease.enter() {
		return
	}
	s := w.stage
	if s.exclusive || s.n.Load() == 0 && !s.injected() && w.pool.waiting.Load() == 0 {
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

// Block is called by a handler that is about to wait for something external: its stage runs other entities at once.
func (w *Worker) Block() {
	w.runDeferred(false)
	w.pool.detach(w)
}
