package main

import (
	"cmp"
	"crypto/sha256"
	_ "embed"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
)

// budgets has the time budget of each package in make test, one per line: its name and a number of units. Other packages
// have otherBudget.
//
//go:embed budgets.txt
var budgets string

const otherBudget = 10

// unit measures the current speed of the machine: it times a fixed calculation, a SHA-256 of 640 MiB, and returns the
// shorter of two runs.
func unit() time.Duration {
	b := make([]byte, 64<<20)
	best := time.Duration(math.MaxInt64)
	for range 2 {
		begun := time.Now()
		for range 10 {
			sha256.Sum256(b)
		}
		best = min(best, time.Since(begun))
	}
	return best
}

// slowestShown is the number of packages listed.
const slowestShown = 10

// reportPackages prints the slowest packages, and those over their budget.
func (r *run) reportPackages() {
	slowest := slices.SortedFunc(maps.Keys(r.seconds), func(a, b string) int {
		return cmp.Or(cmp.Compare(r.seconds[b], r.seconds[a]), cmp.Compare(a, b))
	})
	if len(slowest) == 0 {
		return
	}
	fmt.Fprintln(r.out, "\nThe slowest packages, in seconds:")
	for _, p := range slowest[:min(slowestShown, len(slowest))] {
		fmt.Fprintf(r.out, "%8.1f  %s\n", r.seconds[p], p)
	}
	if r.tier == "test" {
		r.overBudget(slowest)
	}
}

// overBudget reports packages over their budget. That is not a failure: the machine may be busy.
func (r *run) overBudget(packages []string) {
	may := map[string]float64{}
	for line := range strings.Lines(budgets) {
		if f := strings.Fields(line); len(f) == 2 && f[0] != "#" {
			may[f[0]], _ = strconv.ParseFloat(f[1], 64)
		}
	}
	one := unit().Seconds()
	for _, p := range packages {
		limit, ok := may[p]
		if !ok {
			limit = otherBudget
		}
		if is := r.seconds[p] / one; is > limit {
			fmt.Fprintf(r.out, "over its budget: %s took %.0f units of %.2f s, and may take %.0f: see deploy/tests/budgets.txt\n",
				p, is, one, limit)
		}
	}
}
