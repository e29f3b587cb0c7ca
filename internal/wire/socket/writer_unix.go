//go:build unix

package socket

import "syscall"

const canTry = true

// writeOnce writes what the socket takes at once and returns how much. What is wrong,
// the next write finds.
func writeOnce(fd uintptr, b []byte) int {
	n, _ := syscall.Write(int(fd), b)
	return n
}
