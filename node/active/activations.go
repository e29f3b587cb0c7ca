package active

import (
	"runtime"
	"time"

	"github.com/actornode/actornode/internal/sched/fiber"
)

// method is what an activation runs. Run recovers a panic of the method. If Run does not return,
// the method has called runtime.Goexit, or the group has ended.
type method interface{ Run() }

// activation is one call of a method.
type activation struct {
	Method method
	Object uint64 // the object's number

	fiber  *fiber.Fiber // nil: it has not begun
	wait   *waitState   // nil: it does not wait for a condition
	broken *any         // the panic of its condition; nil: none

	next, previous *activation // in parked
}

// thread is a thread of control: see the package comment. [thread.Init] makes it.
type thread struct {
	pool *fiber.Pool
	mail hasMail
	home *fiber.Fiber // of the goroutine whose turn it is

	ready      queue
	conditions conditions
	wasReady   bool   // the last one came from ready: conditions come first now
	object     uint64 // of the activation that ran last
	parked     *activation
	waiting    int // in parked

	running  *activation
	first    *activation  // what a fiber that begins runs first
	entering *fiber.Fiber // the fiber that begins
	after    *fiber.Fiber // goes on when the current fiber has ended
	spent    *fiber.Fiber // has ended; to be put back
	spare    *fiber.Fiber // kept for the next activation that begins in this turn; nil: none

	left  int // activations until the turn is over
	taken int // of this turn
	pace  pace
	extra int // evaluations of conditions once in this turn when nothing is ready
	ended bool
}

// hasMail is a group's mailbox.
type hasMail interface {
	// Behind reports whether messages wait besides the current one. It is called in the turn.
	Behind() bool
}

// Init makes g ready. Its stacks are fibers of the pool.
func (g *thread) Init(pool *fiber.Pool, mail hasMail) { g.pool, g.mail = pool, mail }

// Waiting returns how many activations have begun and are suspended.
func (g *thread) Waiting() int { return g.waiting }

// Running returns the activation that runs, nil for none.
func (g *thread) Running() *activation { return g.running }

// Ready lets a go on, or begin, when it is its turn.
func (g *thread) Ready(a *activation) {
	if !g.ended {
		g.ready.push(a)
	}
}

// Turn runs what is ready, at most the given number of steps, each until an activation returns or is
// suspended; fewer if messages wait: see [thread.Yield] and [pace]. home stands for the calling goroutine, which is not
// locked to its thread. Once nothing is ready, Turn evaluates extra conditions besides those of each step.
//
// It reports whether more is ready, and how many conditions have not been evaluated since the last step: they may hold.
func (g *thread) Turn(home *fiber.Fiber, steps, extra int) (more bool, unsure int) {
	g.home, g.left, g.taken, g.extra = home, steps, 0, extra
	g.pace.look = firstLook
	for {
		a := g.pick()
		if a == nil {
			g.putSpare(home)
			return g.ready.n > 0, g.conditions.unsure
		}
		home.To(g.stackOf(a))
		g.reclaim(home)
	}
}

// Unsure returns how many conditions have not been evaluated since the last step.
func (g *thread) Unsure() int { return g.conditions.unsure }

// Steps returns how many steps are over, in all turns.
func (g *thread) Steps() uint64 { return g.conditions.step }

// End ends the group: activations that have not begun never begin, and runtime.Goexit unwinds each suspended
// one, which runs its deferred functions. each is called before that. home stands
// for the calling goroutine. No activation runs when End is called, or afterwards.
func (g *thread) End(home *fiber.Fiber, each func(*activation)) {
	g.home, g.ended = home, true
	g.ready, g.conditions = queue{}, conditions{step: g.conditions.step}
	for a := g.parked; a != nil; a = g.parked {
		each(a)
		g.running = a
		g.unpark(a)
		home.To(a.fiber)
		g.reclaim(home)
	}
	g.putSpare(home)
}

// Stop ends the turn when the running activation returns, or is suspended.
func (g *thread) Stop() { g.left = 0 }

// Locked reports whether the running activation cannot be suspended: its method is locked to its thread.
func (g *thread) Locked() bool { return g.running.fiber.Locked() }

// Suspend suspends the running activation until Ready is called with it. It does not return if
// the group ends first.
func (g *thread) Suspend() { g.suspend(nil) }

// suspend is Suspend, and Until if condition is not nil.
func (g *thread) suspend(condition func() bool) {
	if g.ended {
		runtime.Goexit()
	}
	a := g.running
	me := a.fiber
	g.running = nil
	g.over(a)
	if condition != nil {
		g.conditions.add(a, condition)
	}
	g.park(a)
	to := g.home
	switch b := g.pick(); b {
	case nil:
	case a:
		to = nil
	default:
		to = g.stackOf(b)
	}
	if to != nil {
		me.To(to)
		g.reclaim(me)
	}
	if g.ended {
		runtime.Goexit()
	}
	if cause := a.broken; cause != nil {
		a.broken = nil
		panic(*cause)
	}
}

// over ends a step of a.
func (g *thread) over(a *activation) {
	g.object = a.Object
	g.conditions.over()
}

// Changed says that conditions may hold now for a reason other than a step. It is called while no activation runs.
func (g *thread) Changed() { g.conditions.over() }

// Until suspends the running activation until a condition holds, which does not hold now. It panics if the condition
// panics, with the same value.
func (g *thread) Until(condition func() bool) { g.suspend(condition) }

// Yield suspends the running activation until all that are ready now have run. If messages wait, it ends the turn, so
// that their calls become ready behind the activation.
func (g *thread) Yield() {
	g.Ready(g.running)
	if g.mail.Behind() {
		g.Stop()
	}
	g.Suspend()
}

// pick returns the activation to run now; or nil if there is none or the turn is over.
func (g *thread) pick() *activation {
	if g.left <= 0 || g.ended {
		return nil
	}
	if g.taken++; g.taken >= g.pace.look && g.slow() {
		g.Stop()
		return nil
	}
	var a *activation
	unsure := g.conditions.unsure > 0
	if g.wasReady && unsure {
		a = g.conditions.pick(g.object, 0)
	}
	g.wasReady = false
	if a == nil {
		a = g.ready.pop()
		g.wasReady = a != nil
	}
	if a == nil && unsure {
		a = g.conditions.pick(g.object, g.extra)
		g.extra = 0
	}
	if a == nil {
		return nil
	}
	g.left--
	if a.fiber != nil {
		g.unpark(a)
		g.running = a
	}
	return a
}

// pace says when a turn looks at the clock. A turn with many steps costs less than as many turns, but messages
// should not wait for slow steps. Most turns have fewer steps than firstLook.
type pace struct {
	look  int       // the step of the next look
	began time.Time // the first look
	slow  bool      // a look found that the steps take long
}

const (
	firstLook = 4
	lookEach  = 16 // steps, at most
	longTurn  = 500 * time.Microsecond
)

// slow reports whether messages wait and the turn has taken long.
func (g *thread) slow() bool {
	p := &g.pace
	switch {
	case g.taken == firstLook:
		p.began, p.slow = time.Now(), false
	case p.slow:
	default:
		p.slow = time.Since(p.began) > longTurn
	}
	if p.slow {
		p.look = g.taken + 1
		return g.mail.Behind()
	}
	p.look += min(p.look-firstLook+1, lookEach)
	return false
}

// stackOf returns the fiber to switch to so that a runs.
func (g *thread) stackOf(a *activation) *fiber.Fiber {
	if a.fiber != nil {
		return a.fiber
	}
	g.first = a
	if g.entering, g.spare = g.spare, nil; g.entering == nil {
		g.entering = g.pool.Take(g)
	} else {
		g.entering.Again(g)
	}
	return g.entering
}

// reclaim keeps the fiber that has ended for the next activation that begins, or puts it back. me stands for the
// calling goroutine.
func (g *thread) reclaim(me *fiber.Fiber) {
	f := g.spent
	if f == nil {
		return
	}
	g.spent = nil
	if g.spare == nil && !f.Broken() {
		g.spare = f
		return
	}
	g.pool.Put(me, f)
}

// putSpare puts back the spare fiber, as no other activation of the turn needs it.
func (g *thread) putSpare(me *fiber.Fiber) {
	if f := g.spare; f != nil {
		g.spare = nil
		g.pool.Put(me, f)
	}
}

// Run is part of fiber.Job: it runs activations that have not begun, until another fiber must go on.
func (g *thread) Run() {
	me, a := g.entering, g.first
	g.entering, g.first = nil, nil
	g.reclaim(me)
	var after *fiber.Fiber
	defer func() { // also if the method called runtime.Goexit, or the group has ended
		me.Unlock()
		g.spent, g.after = me, after
		if after == nil {
			g.after = g.home
		}
	}()
	for ; a != nil; a = g.pick() {
		if after = a.fiber; after != nil {
			return
		}
		g.running = a
		a.fiber = me
		a.Method.Run()
		me.Unlock()
		a.fiber, g.running = nil, nil
		g.over(a)
	}
}

// Next is part of fiber.Job.
func (g *thread) Next() *fiber.Fiber { return g.after }

func (g *thread) park(a *activation) {
	g.waiting++
	a.previous, a.next = nil, g.parked
	if g.parked != nil {
		g.parked.previous = a
	}
	g.parked = a
}

func (g *thread) unpark(a *activation) {
	g.waiting--
	if a.next != nil {
		a.next.previous = a.previous
	}
	if a.previous != nil {
		a.previous.next = a.next
	} else {
		g.parked = a.next
	}
	a.next, a.previous = nil, nil
}

// queue is a ring of activations.
type queue struct {
	ring  []*activation // its length is a power of two
	begin int
	n     int
}

func (q *queue) push(a *activation) {
	if q.n == len(q.ring) {
		ring := make([]*activation, max(8, 2*len(q.ring)))
		for i := range q.n {
			ring[i] = q.ring[(q.begin+i)&(len(q.ring)-1)]
		}
		q.ring, q.begin = ring, 0
	}
	q.ring[(q.begin+q.n)&(len(q.ring)-1)] = a
	q.n++
}

func (q *queue) pop() *activation {
	if q.n == 0 {
		return nil
	}
	a := q.ring[q.begin]
	q.ring[q.begin] = nil
	q.begin = (q.begin + 1) & (len(q.ring) - 1)
	q.n--
	return a
}
