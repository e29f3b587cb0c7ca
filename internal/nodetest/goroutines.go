package nodetest

import (
	"bytes"
	"runtime"
)

// Goroutines counts the goroutines that there are. runtime.NumGoroutine counts one that
// has returned, too, until the runtime has put it away: for as long as its thread waits
// for a processor.
func Goroutines() int {
	for b := make([]byte, 1<<20); ; b = make([]byte, 2*len(b)) {
		if n := runtime.Stack(b, true); n < len(b) {
			return 1 + bytes.Count(b[:n], []byte("\n\ngoroutine "))
		}
	}
}
