//go:build unix

package wire

import "golang.org/x/sys/unix"

// tryRead reads what is there.
func tryRead(fd uintptr, b []byte) (n int, err error) { return unix.Read(int(fd), b) }

// again reports whether err says that there is nothing, or not yet.
func again(err error) bool { return err == unix.EAGAIN || err == unix.EINTR }
