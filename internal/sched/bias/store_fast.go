//go:build linux && amd64 && !actornode_portable && !actornode_no_lease

package bias

import (
	"runtime"
	"sync/atomic"
	"syscall"
)

// On linux/amd64 the owner of a lease stores without a fence and a revoker pays
// for both sides with membarrier(2): the asymmetric form of Dekker's protocol.
// It relies on three facts: amd64 keeps the order of stores and of loads and only lets a load pass an older store (the
// owner stores, then loads revoked, which the barrier covers); the compiler keeps a store before an atomic load that
// follows it; a thread that is not running when membarrier is called passed a full barrier when it was switched out. If the
// kernel refuses membarrier, each Store is sequentially consistent, as in store_portable.go.

const (
	sysMembarrier    = 324
	cmdExpedited     = 1 << 3 // MEMBARRIER_CMD_PRIVATE_EXPEDITED
	cmdRegisterExped = 1 << 4 // MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED
)

// fenced reports whether stores must carry their own fence. Set once, at start-up.
var fenced = func() bool {
	_, _, errno := syscall.RawSyscall(sysMembarrier, cmdRegisterExped, 0, 0)
	return errno != 0
}()

// barriers counts the calls of Barrier that reach the kernel.
var barriers atomic.Uint64

// Barriers returns the number of barriers on all threads so far.
func Barriers() uint64 { return barriers.Load() }

// Barrier is the reader's half of Store: every thread of this program passes a full
// memory barrier.
func Barrier() {
	if fenced {
		return
	}
	barriers.Add(1)
	if _, _, errno := syscall.Syscall(sysMembarrier, cmdExpedited, 0, 0); errno != 0 {
		// The kernel allowed it at startup, so something, such as a seccomp filter, has forbidden it since. Stopping all
		// goroutines for a moment is a barrier, too.
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
	}
}

// Store writes v to p, whose only writer is the caller, without a fence if the platform allows that; it releases the
// caller's earlier writes. A reader uses atomic.LoadUint32. A reader that has written something that the writer of p reads
// afterwards, and that must not miss the store, calls Barrier between its write and its read.
func Store(p *uint32, v uint32) {
	if fenced {
		atomic.StoreUint32(p, v)
		return
	}
	store(p, v)
}

// StoreRelaxed is Store for readers that never call Barrier: for numbers that are only displayed, or that are confirmed in
// another way. It never has a fence.
func StoreRelaxed(p *uint32, v uint32) { store(p, v) }

// StoreUint64 is StoreRelaxed for a counter. A reader calls its Load.
func StoreUint64(p *atomic.Uint64, v uint64) { store64(p, v) }
