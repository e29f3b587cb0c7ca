//go:build linux && amd64 && !go1.27 && !actornode_portable && !actornode_no_fiber

package fiber

import (
	"iter"
	"sync/atomic"
)

// Fiber represents a goroutine that waits until another goroutine resumes it. The zero value represents the goroutine that
// calls its To; a [Pool] makes others. The fields belong to the fiber while it runs, and to its master while it waits.
type Fiber struct {
	Thread // of its goroutine, which alone may use it

	id uint64 // see Traceback

	slot // where its goroutine starts and ends; without functions in a zero value

	at  *slot // where it waits, or last waited
	job Job   // nil while it is idle
	end bool  // it must end when resumed

	broken   bool   // its job has called runtime.Goexit
	redirect *Fiber // to be resumed instead, as soon as this fiber is resumed
	pool     *Pool
}

// Direct reports whether a fiber resumes another one without going through the worker.
const Direct = true

// slot is a place where one goroutine waits until another one replaces it: a coroutine of Go's runtime, of which only the
// switch is used. The fields belong to the master of the goroutine that waits there.
type slot struct {
	next      func() (struct{}, bool)
	yield     func(struct{}) bool
	yieldNext bool        // yield's turn
	dying     atomic.Bool // the slot's fiber ends as soon as the goroutine that waits here is resumed
	owner     *Fiber
}

// waitingSlot returns the slot to wait in so that f is resumed.
func (f *Fiber) waitingSlot() *slot {
	if f.at.dying.Load() {
		return f.at.reap()
	}
	return f.at
}

// leave returns the function that makes the caller wait in p and resumes the goroutine that waits there; the other result
// is nil.
func (p *slot) leave() (next func() (struct{}, bool), yield func(struct{}) bool) {
	if p.yieldNext = !p.yieldNext; p.yieldNext {
		return p.next, nil
	}
	return nil, p.yield
}

// Leave does everything of To except the switch itself, so that the caller can inline it. Exactly one of the functions that
// it returns is not nil; the caller must call it at once.
func (f *Fiber) Leave(g *Fiber) (next func() (struct{}, bool), yield func(struct{}) bool) {
	f.at = g.waitingSlot()
	return f.at.leave()
}

// wait resumes the goroutine that waits in p. It is for a pool and for an idle fiber: these may wait where a goroutine ends
// that cannot return.
func (f *Fiber) wait(p *slot) {
	f.at = p
	next, yield := p.leave()
	if next == nil {
		yield(struct{}{})
		return
	}
	defer expected()
	next()
}

// expected must be deferred where the panic of an ending goroutine that cannot return may surface.
func expected() {
	if cause := recover(); cause != nil && cause != any(ended{}) {
		panic(cause)
	}
}

// ended is the panic with which a goroutine ends that cannot return. It surfaces in the goroutine that waits in the slot in
// next.
type ended struct{}

// work is the goroutine of a fiber: made by Pool.Take; it ends when Pool.Put or Pool.Stop
// no longer needs it, or with reap.
func (f *Fiber) work(yield func(struct{}) bool) {
	f.yield = yield
	defer func() {
		if cause := recover(); cause != nil {
			go panic(cause) // on a new goroutine: here it would surface in the code of another goroutine
			select {}
		}
		if f.end {
			return
		}
		// This is runtime.Goexit, which continues when this function returns.
		f.broken = true
		next := f.job.Next()
		f.job = nil
		for f.wait(next.waitingSlot()); f.redirect != nil; f.wait(next.at) {
			next, f.redirect = f.redirect, nil
		}
		panic(ended{})
	}()
	for !f.end {
		f.serve(markOf(f.id))
	}
}

// serve runs one job after the other until f must end, or has waited where a goroutine has ended with a panic.
func (f *Fiber) serve(Mark) {
	defer expected()
	for !f.end {
		if g := f.redirect; g != nil {
			f.redirect = nil
			f.at = g.at
		} else {
			f.job.Run()
			f.at = f.job.Next().waitingSlot()
			f.job = nil
		}
		if next, yield := f.at.leave(); next != nil {
			next()
		} else {
			yield(struct{}{})
		}
	}
}

// retiring holds the fibers of a pool that must end but cannot yet: at most as many as other fibers that wait where these
// started.
type retiring struct {
	dying map[*slot]*Fiber // by the slot where they wait
}

func (r *retiring) dyingCount() int { return len(r.dying) }

// begin starts the goroutine of f, which p has just made.
func (f *Fiber) begin(p *Pool) {
	f.pool = p
	f.next, _ = iter.Pull(f.work)
	f.owner, f.at = f, &f.slot
}

// retire ends f now if no other goroutine waits in the slot where f started. Otherwise it marks f as dying, because ending
// f would resume that goroutine, which only its master may do. If that goroutine must end, too, or if f itself waits where
// a dying fiber started, then one of the two ends now and the other is checked again. So there are never more dying fibers
// than other waiting ones. The caller holds p.mu.
func (p *Pool) retire(me, f *Fiber) {
	for f.at != &f.slot {
		g, last := p.dying[&f.slot], f
		if g == nil {
			if last = f.at.owner; !f.at.dying.Load() {
				f.dying.Store(true)
				if p.dying == nil {
					p.dying = make(map[*slot]*Fiber)
				}
				p.dying[f.at] = f
				return
			}
			g = f
		}
		// g waits where last started.
		delete(p.dying, g.at)
		delete(p.dying, last.at)
		g.redirect, last.end = me, true
		g.dying.Store(false)
		me.wait(last.at)
		f = g
	}
	f.end = true
	me.wait(f.at)
}

// reap returns the slot to wait in, instead of p, so that the goroutine in p is resumed: the slot of the dying fiber that
// started in p, which then ends. If it would end with a panic, it does not end yet, and reap returns p.
func (p *slot) reap() *slot {
	d := p.owner
	d.pool.mu.Lock()
	defer d.pool.mu.Unlock()
	if d.broken && p.yieldNext {
		return p
	}
	delete(d.pool.dying, d.at)
	d.end = true
	return d.at
}
