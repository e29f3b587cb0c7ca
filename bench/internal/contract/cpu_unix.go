//go:build unix

package contract

import (
	"syscall"
	"time"
)

// CPU returns the processor time that this OS process has used, of all its threads,
// the collector's among them, and of the system for it; 0 where there is none to ask.
func CPU() time.Duration { return used(syscall.RUSAGE_SELF) }

// ChildrenCPU returns the processor time of the OS processes that this one has started and
// that have ended, with those that they have started; 0 where there is none to ask.
func ChildrenCPU() time.Duration { return used(syscall.RUSAGE_CHILDREN) }

func used(who int) time.Duration {
	var u syscall.Rusage
	if syscall.Getrusage(who, &u) != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
