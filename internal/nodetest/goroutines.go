package nodetest

import (
	"bytes"
	"runtime"
)

// Goroutines counts the goroutines that a go statement has started and that run still.
// runtime.NumGoroutine counts one that has returned, too, until the runtime has put it
// away: for as long as its thread waits for a processor. The runtime's own, which has
// no creator, runs finalizers at times that no test knows.
func Goroutines() int {
	for b := make([]byte, 1<<20); ; b = make([]byte, 2*len(b)) {
		if n := runtime.Stack(b, true); n < len(b) {
			return bytes.Count(b[:n], []byte("\ncreated by "))
		}
	}
}
