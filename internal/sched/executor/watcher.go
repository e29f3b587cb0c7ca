package executor

import (
	"runtime"
	"sync/atomic"
	"time"

	"github.com/actornode/actornode/internal/sched/fiber"
)

// maxApart is how many turns may go on without their stage until looks that come at once take no further stage away.
const maxApart = 256

// yields is how often the watcher lets others run, at most, before it takes a timer.
const yields = 1024

// Start starts the pool's watcher. Workers start when there is work.
func (p *Pool) Start() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.stopping {
		p.live++
		go p.watch()
	}
}

// watch is the watcher's goroutine: started by Start, stopped by Stop, which
// waits for it. It looks at every held stage when its pace says so.
func (p *Pool) watch() {
	defer p.ended()
	pace := newPace(p.cfg.Blocked)
	timer := time.NewTimer(time.Hour)
	timer.Stop()
	var wait time.Duration // 0: it rests
	for {
		select {
		case <-p.wakeWatcher:
			if wait == 0 {
				wait = pace.short
				timer.Reset(wait)
				continue
			}
		case <-timer.C:
		case <-p.stop:
			return
		}
		p.seldom.Store(true) // first: a goroutine that finds a stage held after this look asks for another
		wait = p.inspect(time.Now(), &pace)
		for pace.again > 0 && yieldFor(pace.soon) {
			select {
			case <-p.stop:
				return
			default:
				wait = p.inspect(time.Now(), &pace)
			}
		}
		if !pace.seldom {
			p.seldom.Store(false)
		}
		if wait > 0 {
			timer.Reset(wait)
		} else {
			timer.Stop()
		}
	}
}

// yieldFor lets other goroutines run for d, which is too short for a timer, and reports whether it has passed: not if
// the clock stands still, as it does in a test's bubble.
func yieldFor(d time.Duration) bool {
	began := time.Now()
	for range yields {
		runtime.Gosched()
		if time.Since(began) >= d {
			return true
		}
	}
	return false
}

// lookSoon makes the watcher look now, if it looks seldom: an entity waits for a stage that is
// held.
func (p *Pool) lookSoon() {
	if p.seldom.Load() && p.seldom.CompareAndSwap(true, false) {
		select {
		case p.wakeWatcher <- struct{}{}:
		default:
		}
	}
}

// inspect looks for turns that go on for long. A stage whose worker has been
// inside one turn since the last look is taken away from it as soon as another
// worker has nothing to do, if others of its entities wait, and after
// Config.Blocked in any case. It returns when to look next; 0: not before
// a worker has something to run.
func (p *Pool) inspect(now time.Time, pace *pace) (next time.Duration) {
	p.clock.Store(now.UnixNano())
	var report []Blocked
	var slow []*Worker
	waits, taken := false, false
	p.mu.Lock()
	for s := range p.all() {
		l := s.lease
		if l == nil {
			continue
		}
		long := l.inTurn(now)
		if long > 0 {
			slow = append(slow, l.owner)
		}
		reads := long > 0 && l.owner.inline != nil
		waited := reads || long > 0 && (atomic.LoadUint32(&s.n) > 0 || s.injected())
		free := p.freeSlots.Load() > 0
		if pace.again > 0 && !s.exclusive {
			free = len(p.detached) < maxApart
		}
		starved := waited && (free || reads)
		waits = waits || waited && !s.exclusive
		if starved || long >= p.cfg.Blocked {
			taken = taken || waited && !s.exclusive
			p.takeLocked(s, l)
			p.freeLocked(s)
			p.kickLocked()
		}
	}
	p.kickLocked() // for a worker that has deferred it: see Inject
	for l, e := range p.detached {
		slow = append(slow, l.owner)
		if long := l.inTurn(now); long >= p.cfg.Blocked && !l.counted {
			l.counted = true
			p.blocked.Add(1)
			b := Blocked{Task: e.task, Stage: e.stage.Load().Index(), For: long, goid: l.owner.goid}
			if t, ok := e.task.(FiberTask); ok {
				b.fiber = t.Fiber()
			}
			report = append(report, b)
		}
	}
	next = pace.next(found{ran: p.ran, active: p.active > 0 || len(p.detached) > 0, slow: len(slow) > 0, waits: waits, taken: taken})
	p.ran, p.watching = false, next > 0
	p.mu.Unlock()
	for _, w := range slow {
		p.cfg.OnLong(w)
	}
	for _, b := range report {
		p.cfg.OnBlocked(b)
	}
	return next
}

// Stack returns the stack of the goroutine that runs the handler, as it is
// now, in the form of a Go traceback; empty if it cannot be found, and in a program built
// with the tag actornode_portable.
func (b Blocked) Stack() []byte {
	return fiber.Traceback(b.goid, b.fiber)
}
