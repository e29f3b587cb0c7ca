package wire

import "golang.org/x/sys/unix"

// fewBytes is what the kernel tells nobody of, meanwhile: less than makes it enlarge a
// connection's buffers.
const fewBytes = 16 << 10

// tellFrom has the kernel tell of what has come when that is so many bytes, or the end,
// or an error. It reports whether the kernel does.
func tellFrom(fd uintptr, bytes int) bool {
	return unix.SetsockoptInt(int(fd), unix.SOL_SOCKET, unix.SO_RCVLOWAT, bytes) == nil
}

// giveWay lets others have this core who wait for it: the peer itself, it may be, which
// the kernel likes to wake where its message came from.
func giveWay() { unix.Syscall(unix.SYS_SCHED_YIELD, 0, 0, 0) }
