//go:build !linux || !amd64 || actornode_portable || actornode_no_lease

package bias

import "sync/atomic"

// Barrier has nothing to do: each store carries its own fence.
func Barrier() {}

// Barriers returns the number of barriers on all threads so far.
func Barriers() uint64 { return 0 }

// Store writes v to p, whose only writer is the caller.
func Store(p *uint32, v uint32) { atomic.StoreUint32(p, v) }

// StoreRelaxed is Store for readers that never call Barrier.
func StoreRelaxed(p *uint32, v uint32) { atomic.StoreUint32(p, v) }

// StoreUint64 is StoreRelaxed for a counter.
func StoreUint64(p *atomic.Uint64, v uint64) { p.Store(v) }
