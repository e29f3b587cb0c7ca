//go:build unix

package command

import (
	"io/fs"
	"syscall"
)

// nameless reports whether a file is in no directory any more.
func nameless(f fs.FileInfo) bool {
	s, ok := f.Sys().(*syscall.Stat_t)
	return ok && s.Nlink == 0
}
