//go:build !unix

package contract

import "time"

// CPU returns 0: this system does not report processor time.
func CPU() time.Duration { return 0 }

// ChildrenCPU returns 0, like CPU.
func ChildrenCPU() time.Duration { return 0 }
