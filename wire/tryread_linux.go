//go:build !race

package wire

import (
	"unsafe"

	"golang.org/x/sys/unix"
)

// tryRead reads what is there. Go's scheduler is not told of the call, as it never waits:
// who looks again and again would be found in a system call whenever the scheduler's
// monitor comes by, and it would take him for one that waits, and come by often.
func tryRead(fd uintptr, b []byte) (n int, err error) {
	r, _, no := unix.RawSyscall(unix.SYS_READ, fd, uintptr(unsafe.Pointer(unsafe.SliceData(b))), uintptr(len(b)))
	if no != 0 {
		return -1, no
	}
	return int(r), nil
}
