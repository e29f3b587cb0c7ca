//go:build linux && amd64 && !race && !msan && !actornode_portable && !actornode_no_spin

package socket

// hasRead does nothing: only the race detector needs to know that bytes have been read.
func hasRead(uintptr, []byte) {}
