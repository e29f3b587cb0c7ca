//go:build !linux || !amd64 || race

package bias

import "sync/atomic"

// barrier has nothing to do: each store carries its own fence.
func barrier() {}

// store writes v where the caller is the only writer.
func store(p *uint32, v uint32) { atomic.StoreUint32(p, v) }

// store64 is store for 64 bits.
func store64(p *uint64, v uint64) { atomic.StoreUint64(p, v) }
