//go:build !linux || !amd64 || actornode_portable || actornode_no_lease

package bias

import "sync"

// Owned is a lock with one permanent owner; other goroutines take it occasionally. Here it is
// a mutex for all of them. The zero value is ready.
type Owned struct{ mu sync.Mutex }

// Enter takes the lock. Owner only; not reentrant.
func (b *Owned) Enter() { b.mu.Lock() }

// Leave gives the lock back. Owner only.
func (b *Owned) Leave() { b.mu.Unlock() }

// Lock takes the lock, for any goroutine but the owner.
func (b *Owned) Lock() { b.mu.Lock() }

// Unlock gives back what Lock took.
func (b *Owned) Unlock() { b.mu.Unlock() }
