//go:build !linux || !amd64 || go1.27 || actornode_portable || actornode_no_fiber

package fiber

import "runtime"

// Fiber represents a goroutine that waits until another goroutine resumes it. The zero value represents the goroutine that
// calls its To; a [Pool] makes others. The fields belong to the fiber while it runs, and to its master while it waits.
//
// Every fiber waits at a channel of its own, so a switch takes Go's scheduler, and a goroutine that is locked to its thread
// may resume another.
type Fiber struct {
	Thread // of its goroutine, which alone may use it

	id   uint64                  // see Traceback
	wake chan struct{}           // capacity 1: resumes the goroutine; made by the first Leave of a zero value
	swap func() (struct{}, bool) // switchOver, made with wake

	to     *Fiber // the fiber to resume: see Leave
	job    Job    // nil while it is idle
	end    bool   // it must end when resumed
	broken bool   // its job has called runtime.Goexit
}

// Direct reports whether a fiber resumes another one without Go's scheduler.
const Direct = false

// Leave does everything of To except the switch itself, so that the caller can inline it. Exactly one of the functions that
// it returns is not nil; the caller must call it at once.
func (f *Fiber) Leave(g *Fiber) (next func() (struct{}, bool), yield func(struct{}) bool) {
	if f.wake == nil {
		f.prepare()
	}
	f.to = g
	return f.swap, nil
}

func (f *Fiber) prepare() {
	f.wake = make(chan struct{}, 1)
	f.swap = f.switchOver
}

// switchOver resumes f.to, and returns when f is resumed.
func (f *Fiber) switchOver() (struct{}, bool) {
	f.to.wake <- struct{}{}
	<-f.wake
	return struct{}{}, true
}

// work is the goroutine of a fiber: made by Pool.Take; it ends when Pool.Put or Pool.Stop
// no longer needs it, or with a job that calls runtime.Goexit.
func (f *Fiber) work() {
	defer func() {
		if cause := recover(); cause != nil {
			panic(cause)
		}
		if !f.end { // this is runtime.Goexit
			f.broken = true
			f.over()
		}
	}()
	f.serve(markOf(f.id))
}

// serve runs one job after the other until f must end.
func (f *Fiber) serve(Mark) {
	for <-f.wake; !f.end; <-f.wake {
		f.job.Run()
		f.over()
	}
}

// over resumes the next fiber when a job has ended.
func (f *Fiber) over() {
	next := f.job.Next()
	f.job = nil
	next.wake <- struct{}{}
}

// retiring is empty in this implementation, where fibers can always end.
type retiring struct{}

func (retiring) dyingCount() int { return 0 }

// begin starts the goroutine of f, which a pool has just made.
func (f *Fiber) begin(*Pool) {
	f.prepare()
	go f.work()
}

// retire ends f. The first argument represents the caller, which holds p.mu.
func (p *Pool) retire(_, f *Fiber) {
	if !f.broken {
		f.end = true
		f.wake <- struct{}{}
	}
}

// Thread is empty in this implementation, where a goroutine that is locked to its thread may resume another one.
type Thread struct{}

// Locked returns false: nothing need be refused.
func (*Thread) Locked() bool { return false }

// Unlock undoes one call of [runtime.LockOSThread], so that the next job of the goroutine does not inherit it.
func (*Thread) Unlock() { runtime.UnlockOSThread() }

func find() {}
