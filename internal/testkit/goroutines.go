package testkit

import (
	"bytes"
	"runtime"
	"slices"
)

// Goroutines counts the running goroutines started by go statements. runtime.NumGoroutine also counts one that has returned
// until the runtime has recycled it, which may wait for a processor, and the runtime's own, which have no creator and run
// finalizers at unpredictable times. With arguments it counts only goroutines with one of the texts in their stacks, such
// as the name of a package: others may come and go.
func Goroutines(in ...string) int {
	for b := make([]byte, 1<<20); ; b = make([]byte, 2*len(b)) {
		n := runtime.Stack(b, true)
		if n == len(b) {
			continue
		}
		count := 0
		for stack := range bytes.SplitSeq(b[:n], []byte("\n\n")) {
			if bytes.Contains(stack, []byte("\ncreated by ")) && (len(in) == 0 || containsOne(stack, in)) {
				count++
			}
		}
		return count
	}
}

func containsOne(stack []byte, texts []string) bool {
	return slices.ContainsFunc(texts, func(x string) bool { return bytes.Contains(stack, []byte(x)) })
}
