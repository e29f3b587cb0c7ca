//go:build linux && amd64 && !msan && !actornode_portable && !actornode_no_spin

package socket

import (
	"unsafe"

	"golang.org/x/sys/unix"
)

// tryRead reads available data and never blocks, even on a blocking socket. It hides the system call from Go's scheduler:
// otherwise its monitor would always find the polling goroutine in a system call, treat it as blocked, and check more
// often.
func tryRead(fd uintptr, b []byte) (n int, err error) {
	r, _, no := unix.RawSyscall6(unix.SYS_RECVFROM, fd, uintptr(unsafe.Pointer(unsafe.SliceData(b))), uintptr(len(b)),
		unix.MSG_DONTWAIT, 0, 0)
	if no != 0 {
		return -1, no
	}
	hasRead(fd, b[:r])
	return int(r), nil
}

// again reports whether err means that there is no data yet.
func again(err error) bool { return err == unix.EAGAIN || err == unix.EINTR }
