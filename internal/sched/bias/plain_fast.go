//go:build linux && amd64 && !race && !actornode_portable && !actornode_no_lease

package bias

import (
	"sync/atomic"
	"unsafe"
)

// store and store64 are a plain store: what Store saves, and what the race detector would report
// where it meets an atomic load.
func store(p *uint32, v uint32) { *p = v }

func store64(p *atomic.Uint64, v uint64) {
	*(*uint64)(unsafe.Pointer(p)) = v // all that an atomic.Uint64 is
}
