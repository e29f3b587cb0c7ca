//go:build unix

package regular

import (
	"io/fs"
	"os"
	"syscall"
)

// NoWait is a flag of os.OpenFile: do not wait for the reader of a pipe.
const NoWait = syscall.O_NONBLOCK

// open opens a file without waiting for the writer of a pipe.
func open(path string) (*os.File, error) { return os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0) }

// Foreign reports whether a file belongs to another user than this process and root, and returns that user.
func Foreign(info fs.FileInfo) (uid int, foreign bool) {
	s, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return 0, false
	}
	uid = int(s.Uid)
	return uid, uid != 0 && uid != os.Geteuid()
}
