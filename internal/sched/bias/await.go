package bias

import (
	"runtime"
	"sync/atomic"
)

// AwaitZero returns when *p is 0. The writer stores 0 within a few instructions, unless it was preempted: then AwaitZero
// yields the processor.
func AwaitZero(p *uint32) {
	for atomic.LoadUint32(p) != 0 {
		runtime.Gosched()
	}
}
