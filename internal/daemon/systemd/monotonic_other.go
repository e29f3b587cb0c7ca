//go:build !linux

package systemd

import "time"

// monotonic returns 0: it is not known. systemd is on Linux only.
func monotonic() time.Duration { return 0 }
