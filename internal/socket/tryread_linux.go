//go:build linux && amd64 && !race && !msan && !actornode_portable && !actornode_no_spin

package socket

import (
	"unsafe"

	"golang.org/x/sys/unix"
)

// tryRead reads what is there, and never waits, even where somebody has made the socket one
// on which a read does. Go's scheduler is not told of the call: who looks again and again
// would be found in a system call whenever the scheduler's monitor comes by, and it would
// take him for one that waits, and come by often.
func tryRead(fd uintptr, b []byte) (n int, err error) {
	r, _, no := unix.RawSyscall6(unix.SYS_RECVFROM, fd, uintptr(unsafe.Pointer(unsafe.SliceData(b))), uintptr(len(b)),
		unix.MSG_DONTWAIT, 0, 0)
	if no != 0 {
		return -1, no
	}
	return int(r), nil
}

// again reports whether err says that there is nothing, or not yet.
func again(err error) bool { return err == unix.EAGAIN || err == unix.EINTR }
