//go:build !unix

package erltest

import "syscall"

// Suspend and Resume do not exist on this system: sending one fails.
const (
	Suspend = syscall.Signal(0)
	Resume  = syscall.Signal(0)
)
