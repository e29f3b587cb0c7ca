//go:build !linux || !amd64 || actornode_portable || actornode_no_fiber

package fiber

import "iter"

// Fiber represents a goroutine that waits until another goroutine resumes it. The zero value represents the goroutine that
// calls its To, a worker; a [Pool] makes others. The fields belong to the fiber while it runs, and to its master while it
// waits.
//
// A fiber of a pool is the goroutine of an iterator made by iter.Pull: a worker calls next, one worker at a time, and the
// fiber calls yield. So a switch between two fibers goes through the worker that has called next: see drive.
type Fiber struct {
	Thread // of its goroutine, which alone may use it

	id uint64 // see Traceback

	next  func() (struct{}, bool) // of a zero value: drive
	stop  func()                  // nil in a zero value
	yield func(struct{}) bool

	to     *Fiber // the fiber to resume when this one has yielded, or the fiber that this worker drives
	job    Job
	broken bool // its job has called runtime.Goexit
}

// Direct reports whether a fiber resumes another one without going through the worker.
const Direct = false

// Leave does everything of To except the switch itself, so that the caller can inline it. Exactly one of the functions that
// it returns is not nil; the caller must call it at once.
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

// ended is the panic with which a goroutine ends whose job has called runtime.Goexit: without it the Goexit would continue
// in the worker.
type ended struct{}

// work is the goroutine of a fiber: made by Pool.Take; it ends when Pool.Put or Pool.Stop
// no longer needs it, or with a job that calls runtime.Goexit.
func (f *Fiber) work(yield func(struct{}) bool) {
	f.yield = yield
	over := false
	defer func() {
		if cause := recover(); cause != nil {
			go panic(cause) // on a new goroutine: here it would surface in the code of a worker
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

// serve runs one job after the other until the iterator is stopped.
func (f *Fiber) serve(Mark) {
	for more := true; more; more = f.yield(struct{}{}) {
		f.job.Run()
		f.to, f.job = f.job.Next(), nil
	}
}

// retiring is empty in this implementation, where fibers can always end.
type retiring struct{}

func (retiring) dyingCount() int { return 0 }

// begin starts the goroutine of f, which a pool has just made.
func (f *Fiber) begin(*Pool) { f.next, f.stop = iter.Pull(f.work) }

// retire ends f. The first argument represents the caller, which holds p.mu.
func (p *Pool) retire(_, f *Fiber) { f.stop() }
