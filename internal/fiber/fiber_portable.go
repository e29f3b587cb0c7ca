//go:build !linux || !amd64 || race || actornode_portable || actornode_no_fiber

package fiber

import (
	"iter"
	"sync"
)

// Fiber stands for a goroutine that goes on only when another lets it, and waits
// meanwhile. The zero value stands for whatever goroutine calls its To, a worker; a [Pool]
// has others. The fields belong to whoever may let the fiber go on, and to itself.
//
// A fiber of a pool is the goroutine of an iterator, as iter.Pull makes it: a worker calls
// next, one worker at a time, and the fiber calls yield. So what one fiber wants of another
// goes by way of the worker that has called next: see drive.
type Fiber struct {
	Thread // of its goroutine; only that may look at it

	id uint64 // see Traceback

	next  func() (struct{}, bool) // of a zero value: drive
	stop  func()                  // nil in a zero value
	yield func(struct{}) bool

	to     *Fiber // who goes on when this one has yielded, or what this worker drives
	job    Job
	broken bool // its job has called runtime.Goexit
}

// Direct says that a fiber lets another go on without the worker in between.
const Direct = false

// Leave prepares what To does, for who counts calls: of the functions that it returns the
// one that is not nil must be called at once.
func (f *Fiber) Leave(g *Fiber) (next func() (struct{}, bool), yield func(struct{}) bool) {
	f.to = g
	if f.stop != nil {
		return nil, f.yield
	}
	if f.next == nil {
		f.next = f.drive
	}
	return f.next, nil
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

// drive lets one fiber after the other go on, each until it says who is next, until that
// is the worker f itself.
func (f *Fiber) drive() (struct{}, bool) {
	for g := f.to; g != f; g = g.to {
		g.step()
	}
	return struct{}{}, true
}

// step lets f go on until it yields or ends.
func (f *Fiber) step() {
	defer func() {
		if cause := recover(); cause != nil && cause != any(ended{}) {
			panic(cause)
		}
	}()
	f.next()
}

// ended is the panic with which a goroutine ends whose job has called runtime.Goexit: that
// would otherwise go on in the worker.
type ended struct{}

// work is the goroutine of a fiber: made by Pool.Take; it ends when Pool.Put or Pool.Stop
// finds it of no use any more, or with a job that calls runtime.Goexit.
func (f *Fiber) work(yield func(struct{}) bool) {
	f.yield = yield
	over := false
	defer func() {
		if cause := recover(); cause != nil {
			go panic(cause) // not here: it would come out in the code of a worker
			select {}
		}
		if over {
			return
		}
		f.broken = true // by runtime.Goexit
		f.to, f.job = f.job.Next(), nil
		panic(ended{})
	}()
	f.serve(markOf(f.id))
	over = true
}

// serve does one job after the other until the iterator is stopped.
func (f *Fiber) serve(mark) {
	for more := true; more; more = f.yield(struct{}{}) {
		f.job.Run()
		f.to, f.job = f.job.Next(), nil
	}
}

// Pool makes fibers and keeps up to maxIdle that have nothing to do for jobs to come. The
// zero value is ready.
type Pool struct {
	mu      sync.Mutex
	idle    []*Fiber
	out     int64 // have been taken and not been put back
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
		f = &Fiber{id: ids.Add(1)}
		f.next, f.stop = iter.Pull(f.work)
	}
	f.job = j
	return f
}

// Put takes back a fiber that has done its job and waits. The first argument stands for the
// caller.
func (p *Pool) Put(_, f *Fiber) {
	p.mu.Lock()
	p.out--
	keep := len(p.idle) < maxIdle && !p.stopped && !f.broken
	if keep {
		p.idle = append(p.idle, f)
	}
	p.mu.Unlock()
	if !keep {
		f.stop()
	}
}

// Busy returns how many fibers have been taken and not been put back.
func (p *Pool) Busy() int64 {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.out
}

// Idle returns how many fibers have nothing to do.
func (p *Pool) Idle() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.idle)
}

// Stop ends the fibers that have nothing to do, and the others as soon as they have not.
func (p *Pool) Stop() {
	p.mu.Lock()
	p.stopped = true
	idle := p.idle
	p.idle = nil
	p.mu.Unlock()
	done := make(chan struct{})
	go func() { // the caller may be locked to its thread, and could not call stop then
		for _, f := range idle {
			f.stop()
		}
		close(done)
	}()
	<-done
}
