//go:build linux && amd64 && race && !actornode_portable && !actornode_no_lease

package bias

import "sync/atomic"

// store and store64 are atomic here, because a plain store that meets an atomic load is a data
// race by Go's memory model, and the race detector would report each of them.
//
// To the detector an atomic store releases what was written before, as the plain one does on
// amd64. It reports who reads the same place without an atomic load. What it cannot see is
// whether a Barrier is missing: the tests of this package without -race look for that.

func store(p *uint32, v uint32) { atomic.StoreUint32(p, v) }

func store64(p *atomic.Uint64, v uint64) { p.Store(v) }
