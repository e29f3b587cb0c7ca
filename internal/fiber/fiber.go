//go:build linux && amd64 && !race && !actornode_portable && !actornode_no_fiber

package fiber

import (
	"iter"
	"sync/atomic"
)

// Fiber stands for a goroutine that goes on only when another lets it, and waits
// meanwhile. The zero value stands for whatever goroutine calls its To; a [Pool] has
// others. The fields belong to whoever may let the fiber go on, and to itself.
type Fiber struct {
	Thread // of its goroutine; only that may look at it

	id uint64 // see Traceback

	place // that its goroutine began in, and ends in; without functions in a zero value

	at  *place // where it waits, or has last
	job Job    // nil: it rests
	end bool   // it is let go on to end

	broken bool   // its job has called runtime.Goexit
	pass   *Fiber // it is let go on by mistake: this one was meant
	pool   *Pool
}

// Direct says that a fiber lets another go on without the worker in between.
const Direct = true

// place is where one goroutine waits, and leaves when another takes its place there: a
// coroutine of Go's, of which nothing but the switch is used. The fields belong to whoever
// may let go on who waits there.
type place struct {
	next  func() (struct{}, bool)
	yield func(struct{}) bool
	odd   bool        // yield's turn
	dying atomic.Bool // the fiber whose place it is ends as soon as who waits here goes on
	owner *Fiber
}

// door returns the place to wait in so that f goes on.
func (f *Fiber) door() *place {
	if f.at.dying.Load() {
		return f.at.claim()
	}
	return f.at
}

// leave returns the one function that takes the caller to p and lets go on who waits there.
func (p *place) leave() (next func() (struct{}, bool), yield func(struct{}) bool) {
	if p.odd = !p.odd; p.odd {
		return p.next, nil
	}
	return nil, p.yield
}

// Leave prepares what To does, for who counts calls: of the functions that it returns the
// one that is not nil must be called at once.
func (f *Fiber) Leave(g *Fiber) (next func() (struct{}, bool), yield func(struct{}) bool) {
	f.at = g.door()
	return f.at.leave()
}

// wait lets go on who waits in p, for a pool and for who has nothing to do any more: these
// may wait where a goroutine ends that cannot return.
func (f *Fiber) wait(p *place) {
	f.at = p
	next, yield := p.leave()
	if next == nil {
		yield(struct{}{})
		return
	}
	defer expected()
	next()
}

// expected is deferred where the panic may come out with which a goroutine ends that
// cannot return.
func expected() {
	if cause := recover(); cause != nil && cause != any(ended{}) {
		panic(cause)
	}
}

// ended is the panic with which a goroutine ends that cannot return. It comes out
// where somebody waits by next for the place.
type ended struct{}

// work is the goroutine of a fiber: made by Pool.Take; it ends when Pool.Put or Pool.Stop
// finds it of no use any more, or with claim.
func (f *Fiber) work(yield func(struct{}) bool) {
	f.yield = yield
	defer func() {
		if cause := recover(); cause != nil {
			go panic(cause) // not here: it would come out in the code of somebody else
			select {}
		}
		if f.end {
			return
		}
		// runtime.Goexit, which goes on as soon as this returns.
		f.broken = true
		next := f.job.Next()
		f.job = nil
		for f.wait(next.door()); f.pass != nil; f.wait(next.at) {
			next, f.pass = f.pass, nil
		}
		panic(ended{})
	}()
	for !f.end {
		f.serve(markOf(f.id))
	}
}

// serve does one job after the other until f is to end, or has waited where a goroutine
// has ended with a panic.
func (f *Fiber) serve(mark) {
	defer expected()
	for !f.end {
		if g := f.pass; g != nil {
			f.pass = nil
			f.at = g.at
		} else {
			f.job.Run()
			f.at = f.job.Next().door()
			f.job = nil
		}
		if next, yield := f.at.leave(); next != nil {
			next()
		} else {
			yield(struct{}{})
		}
	}
}

// retiring is what a pool knows of fibers that have to end and cannot yet: up to as many as
// others wait where these began.
type retiring struct {
	dying map[*place]*Fiber // by where they wait
}

func (r *retiring) dyingCount() int { return len(r.dying) }

// begin makes the goroutine of f, which p has just made.
func (f *Fiber) begin(p *Pool) {
	f.pool = p
	f.next, _ = iter.Pull(f.work)
	f.owner, f.at = f, &f.place
}

// retire ends f, or has it end as soon as that is possible: where it began another may
// wait, and goes on with its end, which nobody but that other's master may decide. If that
// is one that has to end, too, or if f itself waits where such a one began, then one of the
// two ends now and the other is looked at again; so of those that have to end and cannot
// there are never more than of others. The caller holds p.mu.
func (p *Pool) retire(me, f *Fiber) {
	for f.at != &f.place {
		g, last := p.dying[&f.place], f
		if g == nil {
			if last = f.at.owner; !f.at.dying.Load() {
				f.dying.Store(true)
				if p.dying == nil {
					p.dying = make(map[*place]*Fiber)
				}
				p.dying[f.at] = f
				return
			}
			g = f
		}
		// g waits where last began.
		delete(p.dying, g.at)
		delete(p.dying, last.at)
		g.pass, last.end = me, true
		g.dying.Store(false)
		me.wait(last.at)
		f = g
	}
	f.end = true
	me.wait(f.at)
}

// claim returns where to wait instead of p, so that who waits there goes on: where the
// fiber waits whose place p is, which then ends. If that would end with a panic, it does
// not yet, and p it is.
func (p *place) claim() *place {
	d := p.owner
	d.pool.mu.Lock()
	defer d.pool.mu.Unlock()
	if d.broken && p.odd {
		return p
	}
	delete(d.pool.dying, d.at)
	d.end = true
	return d.at
}
