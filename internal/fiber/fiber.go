//go:build linux && amd64 && !race && !actornode_portable && !actornode_no_fiber

package fiber

import (
	"iter"
	"sync"
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

// To lets g go on, which waits and which it is the caller's right to let go on, and
// returns when somebody lets f go on, for which the calling goroutine stands.
func (f *Fiber) To(g *Fiber) {
	if next, yield := f.Leave(g); next != nil {
		next()
	} else {
		yield(struct{}{})
	}
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

// Pool makes fibers and keeps some that have nothing to do: up to maxIdle for jobs to come,
// and as many as others wait where they began. The zero value is ready.
type Pool struct {
	mu      sync.Mutex
	idle    []*Fiber
	dying   map[*place]*Fiber // by where they wait
	out     int64             // have been taken and not been put back
	stopped bool
}

// Take returns a fiber that does j as soon as somebody lets it go on.
func (p *Pool) Take(j Job) *Fiber {
	p.mu.Lock()
	p.out++
	var f *Fiber
	if last := len(p.idle) - 1; last >= 0 {
		f, p.idle = p.idle[last], p.idle[:last]
	}
	p.mu.Unlock()
	if f == nil {
		find()
		f = &Fiber{id: ids.Add(1), pool: p}
		f.next, _ = iter.Pull(f.work)
		f.owner, f.at = f, &f.place
	}
	f.job = j
	return f
}

// Put takes back a fiber that has done its job and waits. me stands for the caller.
func (p *Pool) Put(me, f *Fiber) {
	p.mu.Lock()
	p.out--
	if len(p.idle) < maxIdle && !p.stopped && !f.broken {
		p.idle = append(p.idle, f)
	} else {
		p.retire(me, f)
	}
	p.mu.Unlock()
}

// Busy returns how many fibers have been taken and not been put back.
func (p *Pool) Busy() int64 {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.out
}

// Idle returns how many fibers have nothing to do, those that end as soon as they can
// included.
func (p *Pool) Idle() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.idle) + len(p.dying)
}

// Stop ends the fibers that have nothing to do, and the others as soon as they have not.
func (p *Pool) Stop() {
	done := make(chan struct{})
	go func() { // the caller may be locked to its thread, and could not wait in a place then
		p.mu.Lock()
		p.stopped = true
		var me Fiber
		for _, f := range p.idle {
			p.retire(&me, f)
		}
		p.idle = nil
		p.mu.Unlock()
		close(done)
	}()
	<-done
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
