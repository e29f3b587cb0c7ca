//go:build unix

package erltest

import "syscall"

// Suspend and Resume are the signals by which the operating system stops a process for a while, and lets it go on.
const (
	Suspend = syscall.SIGSTOP
	Resume  = syscall.SIGCONT
)
