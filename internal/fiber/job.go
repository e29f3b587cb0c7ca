package fiber

import "sync/atomic"

// Job is what a fiber of a [Pool] does.
type Job interface {
	// Run does it. It may call runtime.Goexit, but not panic.
	Run()
	// Next returns the fiber to resume after that.
	Next() *Fiber
}

// ID returns the number of a fiber that a pool has made: no two of a program have the same.
func (f *Fiber) ID() uint64 { return f.id }

var ids atomic.Uint64

// maxIdle is how many fibers a pool keeps for jobs to come.
const maxIdle = 1024
