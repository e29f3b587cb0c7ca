//go:build linux && amd64 && !actornode_portable && !actornode_no_lease

package bias

import "sync/atomic"

// Owned is a lock biased towards one owner: Enter and Leave cost the owner almost nothing. Lock costs other goroutines a
// memory barrier on all threads, and a goroutine that waits for the lock spins, so it must be held only briefly. The zero
// value is ready to use. The invariants are those of executor's lease, except that the owner gets the lock back when the
// others have released it.
type Owned struct {
	busy    uint32 // the owner holds the lock, or is about to check revoked
	revoked uint32 // another goroutine has the lock, or gets it once the owner leaves
}

// Enter takes the lock. Owner only; not reentrant.
func (b *Owned) Enter() {
	for {
		Store(&b.busy, 1)
		if atomic.LoadUint32(&b.revoked) == 0 {
			return
		}
		Store(&b.busy, 0)
		AwaitZero(&b.revoked) // until the other goroutine has released it
	}
}

// Leave releases the lock. Owner only.
func (b *Owned) Leave() { Store(&b.busy, 0) }

// Lock takes the lock, for any goroutine except the owner.
func (b *Owned) Lock() {
	for !atomic.CompareAndSwapUint32(&b.revoked, 0, 1) {
		AwaitZero(&b.revoked)
	}
	Barrier()
	AwaitZero(&b.busy)
}

// Unlock releases the lock taken by Lock.
func (b *Owned) Unlock() { atomic.StoreUint32(&b.revoked, 0) }
