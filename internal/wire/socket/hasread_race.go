//go:build linux && amd64 && race && !msan && !actornode_portable && !actornode_no_spin

package socket

import (
	"runtime"
	"syscall"
	"unsafe"
)

// hasRead reports to the race detector what syscall.Read reports for its own calls, but which is invisible for a raw system
// call: that b has been written, and that the writer's earlier actions happen before the read. Only package syscall can
// report the latter. So hasRead makes it read zero bytes, which returns at once for a socket.
func hasRead(fd uintptr, b []byte) {
	if len(b) > 0 {
		runtime.RaceWriteRange(unsafe.Pointer(unsafe.SliceData(b)), len(b))
	}
	_, _ = syscall.Read(int(fd), nil)
}
