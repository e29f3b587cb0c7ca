//go:build !unix

package otp

import "time"

// usage is not known here.
func usage() (cpu time.Duration, switches int64) { return 0, 0 }
