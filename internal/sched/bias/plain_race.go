//go:build linux && amd64 && race && !actornode_portable && !actornode_no_lease

package bias

import "sync/atomic"

// store and store64 are atomic here, because a plain store concurrent with an atomic load is a data race in Go's memory
// model, and the race detector would report each of them.
//
// For the detector an atomic store releases earlier writes, like the plain one on amd64. It reports reads of the same
// location without an atomic load. It cannot detect a missing Barrier: the tests of this package without -race check that.

func store(p *uint32, v uint32) { atomic.StoreUint32(p, v) }

func store64(p *atomic.Uint64, v uint64) { p.Store(v) }
