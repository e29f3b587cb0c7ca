//go:build unix

package contract

import (
	"syscall"
	"time"
)

// CPU returns the processor time of this OS process, of all its threads including the collector's, and of the kernel on its
// behalf, or 0 if unknown.
func CPU() time.Duration { return used(syscall.RUSAGE_SELF) }

// ChildrenCPU returns the processor time of ended child processes of this OS process and their descendants, or 0 if
// unknown.
func ChildrenCPU() time.Duration { return used(syscall.RUSAGE_CHILDREN) }

func used(who int) time.Duration {
	var u syscall.Rusage
	if syscall.Getrusage(who, &u) != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
