//go:build linux && amd64 && !msan && !actornode_portable && !actornode_no_spin

package socket

import (
	"unsafe"

	"golang.org/x/sys/unix"
)

// tryRead reads what is there, and never waits, even if the socket has been made a blocking
// one. Go's scheduler does not know of the call: its monitor would otherwise find a goroutine
// that polls in a system call each time, take it for one that blocks, and look more often.
func tryRead(fd uintptr, b []byte) (n int, err error) {
	r, _, no := unix.RawSyscall6(unix.SYS_RECVFROM, fd, uintptr(unsafe.Pointer(unsafe.SliceData(b))), uintptr(len(b)),
		unix.MSG_DONTWAIT, 0, 0)
	if no != 0 {
		return -1, no
	}
	hasRead(fd, b[:r])
	return int(r), nil
}

// again reports whether err says that there is nothing, or not yet.
func again(err error) bool { return err == unix.EAGAIN || err == unix.EINTR }
