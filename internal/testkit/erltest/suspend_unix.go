//go:build unix

package erltest

import "syscall"

// Suspend and Resume are the signals that stop and continue a process of the operating system.
const (
	Suspend = syscall.SIGSTOP
	Resume  = syscall.SIGCONT
)
