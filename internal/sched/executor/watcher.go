package executor

import (
	"runtime"
	"time"

	"github.com/actornode/actornode/internal/sched/fiber"
)

// maxApart is the number of turns without their stage from which immediate checks take no further stage.
const maxApart = 256

// yields is the maximum number of times that the watcher yields before it uses a timer.
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
// waits for it. It checks every held stage whenever its pace requires.
func (p *Pool) watch() {
	defer p.ended()
	pace := newPace(p.cfg.Blocked)
	timer := time.NewTimer(time.Hour)
	timer.Stop()
	var wait time.Duration // 0 while it rests
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
		p.seldom.Store(true) // before the check, so that a goroutine that finds a stage held afterwards requests another
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

// yieldFor yields to other goroutines for d, which is too short for a timer, and reports whether d has passed, which it
// does not if the clock stands still, as in a synctest bubble.
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

// lookSoon makes the watcher check now, if it checks seldom, because an entity waits for a held stage.
func (p *Pool) lookSoon() {
	if p.seldom.Load() && p.seldom.CompareAndSwap(true, false) {
		select {
		case p.wakeWatcher <- struct{}{}:
		default:
		}
	}
}

// inspect looks for long turns. If a worker has been in one turn since the last check, its stage is taken from it as soon
// as another worker is idle, if other entities of the stage wait, and after Config.Blocked in any case. It returns the time
// until the next check, or 0 if that must wait until a worker has work.
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
		waited := reads || long > 0 && (s.n.Load() > 0 || s.injected())
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
	p.kickLocked() // on behalf of a worker that has deferred it: see Inject
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
		if w.Local != nil {
			w.Local.Overdue()
		}
	}
	for _, b := range report {
		p.cfg.OnBlocked(b)
	}
	return next
}

// Stack returns the current stack of the goroutine that runs the handler, as a Go traceback. It is empty if the goroutine
// cannot be found, and with the build tag actornode_portable.
func (b Blocked) Stack() []byte {
	return fiber.Traceback(b.goid, b.fiber)
}
