package nodetest

import (
	"bytes"
	"runtime"
	"slices"
)

// Goroutines counts the goroutines that a go statement has started and that run still.
// runtime.NumGoroutine counts one that has returned, too, until the runtime has put it
// away: for as long as its thread waits for a processor. The runtime's own, which has
// no creator, runs finalizers at times that no test knows. With texts it counts those that have
// one of them in their stacks, such as the name of a package: others may come and go.
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
