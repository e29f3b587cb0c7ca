package contract

import (
	"os"
	"runtime/debug"
)

// heapGrowth is the value of GOGC, as in the daemon. Messages are short-lived, and at Go's default of 100 the heap of a
// system that mainly sends messages is so small that it is collected a hundred times a second.
const heapGrowth = 400

// growHeap sets GOGC to heapGrowth, unless the environment sets it.
func growHeap() {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(heapGrowth)
	}
}
