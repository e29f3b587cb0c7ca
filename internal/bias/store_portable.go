//go:build !linux || !amd64 || race || actornode_portable || actornode_no_lease

package bias

import "sync/atomic"

// Barrier has nothing to do: each store carries its own fence.
func Barrier() {}

// Store writes v where the caller is the only writer.
func Store(p *uint32, v uint32) { atomic.StoreUint32(p, v) }
