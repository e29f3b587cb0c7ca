//go:build !linux || !amd64 || race || actornode_portable || actornode_no_lease || actornode_no_plain

package bias

import "sync/atomic"

// StorePointer is Store for a pointer.
func StorePointer[T any](p *atomic.Pointer[T], v *T) { p.Store(v) }
