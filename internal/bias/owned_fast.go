//go:build linux && amd64 && !race && !actornode_portable && !actornode_no_lease

package bias

import "sync/atomic"

// Owned is a lock biased towards one owner: Enter and Leave cost the owner next
// to nothing, Lock costs everybody else a memory barrier on all threads, and who waits
// for it looks again and again: for what is held for moments. The zero value is ready.
// Invariants: as those of lease, except that the owner gets the lock back when the
// others are done with it.
type Owned struct {
	busy    uint32 // the owner is inside, or looks whether it may be
	revoked uint32 // one of the others has it, or will once the owner is outside
}

// Enter takes the lock. Owner only; not reentrant.
func (b *Owned) Enter() {
	for {
		Store(&b.busy, 1)
		if atomic.LoadUint32(&b.revoked) == 0 {
			return
		}
		Store(&b.busy, 0)
		AwaitZero(&b.revoked) // until the other is done
	}
}

// Leave gives the lock back. Owner only.
func (b *Owned) Leave() { Store(&b.busy, 0) }

// Lock takes the lock. For everybody but the owner.
func (b *Owned) Lock() {
	for !atomic.CompareAndSwapUint32(&b.revoked, 0, 1) {
		AwaitZero(&b.revoked)
	}
	Barrier()
	AwaitZero(&b.busy)
}

// Unlock gives back what Lock took.
func (b *Owned) Unlock() { atomic.StoreUint32(&b.revoked, 0) }
