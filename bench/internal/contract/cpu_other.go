//go:build !unix

package contract

import "time"

// CPU returns 0: there is no processor time to ask for.
func CPU() time.Duration { return 0 }

// ChildrenCPU returns 0, as CPU does.
func ChildrenCPU() time.Duration { return 0 }
