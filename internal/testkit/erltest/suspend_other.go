//go:build !unix

package erltest

import "syscall"

// Suspend and Resume are signals that this system does not have: sending one fails.
const (
	Suspend = syscall.Signal(0)
	Resume  = syscall.Signal(0)
)
