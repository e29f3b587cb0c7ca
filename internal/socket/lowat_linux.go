//go:build amd64 && !race && !msan && !actornode_portable && !actornode_no_spin && !actornode_no_lowat

package socket

import "golang.org/x/sys/unix"

// fewBytes is what the kernel tells nobody of, meanwhile: less than makes it enlarge a
// connection's buffers.
const fewBytes = 16 << 10

// tellFrom has the kernel tell of what has come when that is so many bytes, or the end,
// or an error. It reports whether the kernel does.
func tellFrom(fd uintptr, bytes int) bool {
	return unix.SetsockoptInt(int(fd), unix.SOL_SOCKET, unix.SO_RCVLOWAT, bytes) == nil
}
