//go:build linux && amd64 && race && !msan && !actornode_portable && !actornode_no_spin

package socket

import (
	"runtime"
	"syscall"
	"unsafe"
)

// hasRead tells the race detector what it does not see of a raw system call, which syscall.Read
// tells of its own: that b has been written, and that what comes was written after all that the
// writer did before. Only package syscall can say the latter. So hasRead has it read no
// bytes, which a socket answers at once.
func hasRead(fd uintptr, b []byte) {
	if len(b) > 0 {
		runtime.RaceWriteRange(unsafe.Pointer(unsafe.SliceData(b)), len(b))
	}
	_, _ = syscall.Read(int(fd), nil)
}
