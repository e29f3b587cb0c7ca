package wire

import (
	"unsafe"

	"golang.org/x/sys/unix"
)

// fewBytes is what the kernel tells nobody of, meanwhile: less than makes it enlarge a
// connection's buffers.
const fewBytes = 16 << 10

// tellFrom has the kernel tell of what has come when that is so many bytes, or the end,
// or an error. It reports whether the kernel does.
func tellFrom(fd uintptr, bytes int) bool {
	return unix.SetsockoptInt(int(fd), unix.SOL_SOCKET, unix.SO_RCVLOWAT, bytes) == nil
}

// sentHere reports whether what came last over a connection within this host was sent on
// the core that the caller is on. Now and then that is no more than the peer's word that it
// has what was sent to it, which may be said on this core, wherever the peer is.
func sentHere(fd uintptr) bool {
	from, err := unix.GetsockoptInt(int(fd), unix.SOL_SOCKET, unix.SO_INCOMING_CPU)
	var here uint32
	_, _, no := unix.RawSyscall(unix.SYS_GETCPU, uintptr(unsafe.Pointer(&here)), 0, 0)
	return err == nil && no == 0 && from == int(here)
}
