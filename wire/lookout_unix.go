//go:build unix

package wire

import "golang.org/x/sys/unix"

// again reports whether err says that there is nothing, or not yet.
func again(err error) bool { return err == unix.EAGAIN || err == unix.EINTR }
