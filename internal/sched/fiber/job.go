package fiber

import "sync/atomic"

// Job is run by a fiber of a [Pool].
type Job interface {
	// Run runs the job. It may call runtime.Goexit, but must not panic.
	Run()
	// Next returns the fiber to resume afterwards.
	Next() *Fiber
}

// Again gives f, which has finished its job and has not been put back, another one. Its master calls it.
func (f *Fiber) Again(j Job) { f.job = j }

// Broken reports whether f can run no other job because its last one has called runtime.Goexit.
func (f *Fiber) Broken() bool { return f.broken }

// ID returns the number of a fiber made by a pool, which is unique in the program.
func (f *Fiber) ID() uint64 { return f.id }

var ids atomic.Uint64

// maxIdle is the maximum number of idle fibers that a pool keeps for later jobs.
const maxIdle = 1024
