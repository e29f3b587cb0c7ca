//go:build !linux

package systemd

import "time"

// monotonic returns 0. systemd runs only on Linux.
func monotonic() time.Duration { return 0 }
