//go:build unix

package otp

import (
	"syscall"
	"time"
)

// usage returns the CPU time and the number of context switches of this program.
func usage() (cpu time.Duration, switches int64) {
	var r syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &r) != nil {
		return 0, 0
	}
	return time.Duration(r.Utime.Nano() + r.Stime.Nano()), int64(r.Nvcsw) + int64(r.Nivcsw)
}
