//go:build !linux || !amd64 || actornode_portable || actornode_no_lease

package bias

import "sync"

// Owned is a lock with one permanent owner; other goroutines take it occasionally. In this implementation it is a mutex for
// all of them. The zero value is ready to use.
type Owned struct{ mu sync.Mutex }

// Enter takes the lock. Owner only; not reentrant.
func (b *Owned) Enter() { b.mu.Lock() }

// Leave releases the lock. Owner only.
func (b *Owned) Leave() { b.mu.Unlock() }

// Lock takes the lock, for any goroutine except the owner.
func (b *Owned) Lock() { b.mu.Lock() }

// Unlock releases the lock taken by Lock.
func (b *Owned) Unlock() { b.mu.Unlock() }
