package systemd

import (
	"time"

	"golang.org/x/sys/unix"
)

// monotonic is the time of CLOCK_MONOTONIC, by which the manager tells an old reload from the one that it asked for.
func monotonic() time.Duration {
	var now unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_MONOTONIC, &now); err != nil {
		return 0
	}
	return time.Duration(now.Nano())
}
