//go:build !linux || !amd64 || race

package bias

import "sync/atomic"

// Barrier has nothing to do: each store carries its own fence.
func Barrier() {}

// Store writes v where the caller is the only writer.
func Store(p *uint32, v uint32) { atomic.StoreUint32(p, v) }

// Store64 is Store for 64 bits.
func Store64(p *uint64, v uint64) { atomic.StoreUint64(p, v) }

// StorePointer is Store for a pointer.
func StorePointer[T any](p *atomic.Pointer[T], v *T) { p.Store(v) }
