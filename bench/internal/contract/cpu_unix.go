//go:build unix

package contract

import (
	"syscall"
	"time"
)

// CPU returns the processor time that this OS process has used, of all its threads,
// the collector's among them, and of the system for it; 0 where there is none to ask.
func CPU() time.Duration {
	var u syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &u) != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
