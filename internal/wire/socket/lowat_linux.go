//go:build amd64 && !msan && !actornode_portable && !actornode_no_spin && !actornode_no_lowat

package socket

import "golang.org/x/sys/unix"

// fewBytes is the minimum number of bytes that the kernel reports while a Reader polls. It is below the amount that makes
// the kernel enlarge a connection's buffers.
const fewBytes = 16 << 10

// setRcvLowat makes the kernel report input only when it is at least this many bytes, or the
// end, or an error. It reports whether the kernel has accepted the setting.
func setRcvLowat(fd uintptr, bytes int) bool {
	return unix.SetsockoptInt(int(fd), unix.SOL_SOCKET, unix.SO_RCVLOWAT, bytes) == nil
}
