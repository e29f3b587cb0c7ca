package fiber

import "sync/atomic"

// Job is what a fiber of a [Pool] does.
type Job interface {
	// Run does it. It may call runtime.Goexit, but not panic.
	Run()
	// Next returns the fiber to resume after that.
	Next() *Fiber
}

// Again gives f, which has done its job and has not been put back, another one. Its master calls it.
func (f *Fiber) Again(j Job) { f.job = j }

// Broken reports whether f can do no other job: its last has called runtime.Goexit.
func (f *Fiber) Broken() bool { return f.broken }

// ID returns the number of a fiber that a pool has made: no two of a program have the same.
func (f *Fiber) ID() uint64 { return f.id }

// Runs reports whether the calling goroutine does a job of the fiber with that number; see
// [Marked].
func Runs(id uint64) bool { return id != 0 && onStack(markOf(id).sign()) }

var ids atomic.Uint64

// maxIdle is how many fibers a pool keeps for jobs to come.
const maxIdle = 1024
