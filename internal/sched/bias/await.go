package bias

import (
	"runtime"
	"sync/atomic"
)

// AwaitZero returns when *p is 0. Its writer makes it so within some instructions,
// unless it has been preempted: then others, that writer among them, get the processor.
func AwaitZero(p *uint32) {
	for atomic.LoadUint32(p) != 0 {
		runtime.Gosched()
	}
}
