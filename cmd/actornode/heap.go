package main

import "runtime/debug"

// heapGrowth is how many percent the heap may grow until it is collected, Go's GOGC.
// Messages live for a moment: at the default of 100 a node with little else in its
// heap would collect it a hundred times a second, and talk to others at half the
// speed.
const heapGrowth = 400

// growHeap sets heapGrowth, unless the environment says something.
func growHeap(lookup func(string) (string, bool)) {
	if _, said := lookup("GOGC"); !said {
		debug.SetGCPercent(heapGrowth)
	}
}
