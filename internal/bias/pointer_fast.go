//go:build linux && amd64 && !race && !actornode_portable && !actornode_no_lease && !actornode_no_plain

package bias

import (
	"sync/atomic"
	"unsafe"
)

// StorePointer is StoreRelaxed for a pointer: for what nobody reads yet, and where it does not
// matter when a reader sees it.
func StorePointer[T any](p *atomic.Pointer[T], v *T) {
	*(**T)(unsafe.Pointer(p)) = v // all that an atomic.Pointer is
}
