//go:build unix && (!linux || race || msan)

package wire

import "golang.org/x/sys/unix"

// tryRead reads what is there.
func tryRead(fd uintptr, b []byte) (n int, err error) { return unix.Read(int(fd), b) }
