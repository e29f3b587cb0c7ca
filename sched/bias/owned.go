package bias

import (
	"runtime"
	"sync"
	"sync/atomic"
)

// Owned is a lock biased towards one owner: Enter and Leave cost the owner next
// to nothing, Lock costs everybody else a memory barrier on all threads.
// The zero value is ready. Invariants: as those of lease, except that the owner
// gets the lock back when the others are done with it.
type Owned struct {
	busy    uint32
	revoked atomic.Uint32
	mu      sync.Mutex
}

// Enter takes the lock. Owner only; not reentrant.
func (b *Owned) Enter() {
	for {
		Store(&b.busy, 1)
		if b.revoked.Load() == 0 {
			return
		}
		Store(&b.busy, 0)
		b.mu.Lock() // until the other is done
		b.mu.Unlock()
	}
}

// Leave gives the lock back. Owner only.
func (b *Owned) Leave() { Store(&b.busy, 0) }

// Lock takes the lock. For everybody but the owner.
func (b *Owned) Lock() {
	b.mu.Lock()
	b.revoked.Store(1)
	Barrier()
	AwaitZero(&b.busy)
}

// Unlock gives back what Lock took.
func (b *Owned) Unlock() {
	b.revoked.Store(0)
	b.mu.Unlock()
}

// AwaitZero returns when *p is 0. Whoever makes it so does little before that,
// but may have been preempted.
func AwaitZero(p *uint32) {
	for i := 0; atomic.LoadUint32(p) != 0; i++ {
		if i < 64 {
			runtime.Gosched()
		} else {
			pause()
		}
	}
}
