//go:build linux && amd64 && !race && !actornode_portable && !actornode_no_lease

package bias

import (
	"sync/atomic"
	"unsafe"
)

// store and store64 are plain stores, which is the saving of Store. The race detector would report them as races with
// atomic loads.
func store(p *uint32, v uint32) { *p = v }

func store64(p *atomic.Uint64, v uint64) {
	*(*uint64)(unsafe.Pointer(p)) = v // the only data in an atomic.Uint64
}
