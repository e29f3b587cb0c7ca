package socket

import "golang.org/x/sys/unix"

// unsent returns the number of bytes written to a connection that the other end has not acknowledged, or 0 if unknown.
func unsent(fd uintptr) int {
	n, err := unix.IoctlGetInt(int(fd), unix.SIOCOUTQ)
	if err != nil {
		return 0
	}
	return n
}
