//go:build !linux || !amd64 || actornode_portable || actornode_no_fiber

package fiber

import "iter"

// Fiber stands for a goroutine that waits until another goroutine resumes it. The zero value
// stands for the goroutine that calls its To, a worker; a [Pool] has others. The fields belong
// to the fiber while it runs, and to its master while it waits.
//
// A fiber of a pool is the goroutine of an iterator, as iter.Pull makes it: a worker calls
// next, one worker at a time, and the fiber calls yield. So a switch between two fibers goes
// by way of the worker that has called next: see drive.
type Fiber struct {
	Thread // of its goroutine; only that may look at it

	id uint64 // see Traceback

	next  func() (struct{}, bool) // of a zero value: drive
	stop  func()                  // nil in a zero value
	yield func(struct{}) bool

	to     *Fiber // the fiber to resume when this one has yielded, or what this worker drives
	job    Job
	broken bool // its job has called runtime.Goexit
}

// Direct reports whether a fiber resumes another without the worker in between.
const Direct = false

// Leave does all of To but the switch itself, so that the caller can inline it. Exactly one of
// the functions that it returns is not nil; the caller must call it at once.
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

// drive resumes one fiber after the other, each until it yields and names the next, until the
// next is the worker f itself.
func (f *Fiber) drive() (struct{}, bool) {
	for g := f.to; g != f; g = g.to {
		g.step()
	}
	return struct{}{}, true
}

// step resumes f until it yields or ends.
func (f *Fiber) step() {
	defer func() {
		if cause := recover(); cause != nil && cause != any(ended{}) {
			panic(cause)
		}
	}()
	f.next()
}

// ended is the panic with which a goroutine ends whose job has called runtime.Goexit: without
// it the Goexit would go on in the worker.
type ended struct{}

// work is the goroutine of a fiber: made by Pool.Take; it ends when Pool.Put or Pool.Stop
// no longer needs it, or with a job that calls runtime.Goexit.
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
func (f *Fiber) serve(Mark) {
	for more := true; more; more = f.yield(struct{}{}) {
		f.job.Run()
		f.to, f.job = f.job.Next(), nil
	}
}

// retiring is what a pool knows of fibers that have to end and cannot yet. Here all can.
type retiring struct{}

func (retiring) dyingCount() int { return 0 }

// begin makes the goroutine of f, which a pool has just made.
func (f *Fiber) begin(*Pool) { f.next, f.stop = iter.Pull(f.work) }

// retire ends f. The first argument stands for the caller, which holds p.mu.
func (p *Pool) retire(_, f *Fiber) { f.stop() }
