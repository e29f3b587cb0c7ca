package socket

import "golang.org/x/sys/unix"

// unsent returns how many bytes the kernel holds of what was written to a connection
// and the other end has not taken; 0 where that is not known.
func unsent(fd uintptr) int {
	n, err := unix.IoctlGetInt(int(fd), unix.SIOCOUTQ)
	if err != nil {
		return 0
	}
	return n
}
