//go:build unix

package wire

import (
	"time"

	"golang.org/x/sys/unix"
)

// lookUntil reports whether there is something to read, or something wrong, before a
// time. It calls between whenever there is not.
func lookUntil(fd uintptr, until time.Time, between func()) bool {
	fds := [...]unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}
	for {
		if n, err := unix.Poll(fds[:], 0); n > 0 || err != nil && err != unix.EINTR {
			return true
		}
		if between != nil {
			between()
		}
		if !time.Now().Before(until) {
			return false
		}
	}
}
