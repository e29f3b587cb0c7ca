package contract

import (
	"os"
	"runtime/debug"
)

// heapGrowth is how many percent the heap may grow until it is collected, Go's GOGC,
// as the daemon has it. Messages live for a moment, and at Go's default of 100 the
// heap of a system that does little but send them is so small that it is collected
// a hundred times a second.
const heapGrowth = 400

// growHeap sets heapGrowth, unless the environment says something.
func growHeap() {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(heapGrowth)
	}
}
