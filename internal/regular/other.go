//go:build !unix

package regular

import (
	"io/fs"
	"os"
)

// NoWait is a flag of os.OpenFile: do not wait for the reader of a pipe.
const NoWait = 0

func open(path string) (*os.File, error) { return os.Open(path) }

// Foreign reports whether a file belongs to another user than this process and root, which is unknown on this platform.
func Foreign(fs.FileInfo) (uid int, foreign bool) { return 0, false }
