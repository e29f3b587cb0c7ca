//go:build !linux

package bias

import "runtime"

// pause leaves the processor to others. It is no time.Sleep: see pause_linux.go.
func pause() { runtime.Gosched() }
