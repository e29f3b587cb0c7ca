//go:build linux && amd64 && !actornode_portable && !actornode_no_lease

package bias

import (
	"runtime"
	"sync/atomic"
	"syscall"
)

// On linux/amd64 the owner of a lease stores without a fence and a revoker pays
// for both sides with membarrier(2): the asymmetric form of Dekker's protocol.
// It rests on three facts: amd64 keeps the order of stores and of loads and only
// lets a load pass an older store (the owner stores, then loads revoked, which the barrier
// covers); the compiler keeps a store before an atomic load that follows it;
// a thread that is not running when membarrier is called passed a full
// barrier when it was switched out. Where the kernel refuses membarrier, each Store is
// sequentially consistent, as it is in store_portable.go.

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

// Barriers returns how many barriers on all threads there have been in this program.
func Barriers() uint64 { return barriers.Load() }

// Barrier is the reader's half of Store: every thread of this program passes a full
// memory barrier.
func Barrier() {
	if fenced {
		return
	}
	barriers.Add(1)
	if _, _, errno := syscall.Syscall(sysMembarrier, cmdExpedited, 0, 0); errno != 0 {
		// The kernel has agreed to it at start-up, so something has forbidden it since: a
		// seccomp filter. To stop all goroutines for a moment is a barrier, too.
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
	}
}

// Store writes v to p, of which the caller is the only writer, without a fence
// where the machine allows that; it releases what the caller wrote before. A reader
// uses atomic.LoadUint32; one that has written something which the writer of p reads
// afterwards, and that must not miss the store, calls Barrier between its write and its
// read.
func Store(p *uint32, v uint32) {
	if fenced {
		atomic.StoreUint32(p, v)
		return
	}
	store(p, v)
}

// StoreRelaxed is Store for readers that never call Barrier: those of numbers that are only shown,
// or that what is read otherwise confirms. It has no fence, whatever the kernel says.
func StoreRelaxed(p *uint32, v uint32) { store(p, v) }

// StoreUint64 is StoreRelaxed for a counter. A reader calls its Load.
func StoreUint64(p *atomic.Uint64, v uint64) { store64(p, v) }
