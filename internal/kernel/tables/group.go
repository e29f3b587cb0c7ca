package tables

import (
	"cmp"
	"maps"
	"slices"
	"sync"
)

// Member is what a [Group] asks of a process.
type Member interface {
	comparable
	Number() uint64
	Gone() bool // anybody may ask
}

// Group is a set of processes that are told of something. Those that have exited since they were
// added are never more than others and leastSweep together. The zero value is empty.
type Group[P Member] struct {
	mu    sync.Mutex
	m     map[P]struct{} // guarded by mu, and so is sweep
	sweep int            // how many there are when those that have exited are next looked for
}

const leastSweep = 64

// Add adds p.
func (g *Group[P]) Add(p P) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.m == nil {
		g.m = make(map[P]struct{})
	}
	if len(g.m) >= max(g.sweep, leastSweep) {
		maps.DeleteFunc(g.m, func(p P, _ struct{}) bool { return p.Gone() })
		g.sweep = 2 * len(g.m)
	}
	g.m[p] = struct{}{}
}

// Remove takes p out: when it has returned, no Each is about to call its function with p.
func (g *Group[P]) Remove(p P) {
	g.mu.Lock()
	defer g.mu.Unlock()
	delete(g.m, p)
}

// Each calls f for each that has not exited, in the order of their numbers. It forgets the others.
func (g *Group[P]) Each(f func(P)) {
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, p := range slices.SortedFunc(maps.Keys(g.m), func(p, q P) int { return cmp.Compare(p.Number(), q.Number()) }) {
		if p.Gone() {
			delete(g.m, p)
			continue
		}
		f(p)
	}
}

// Len returns how many there are, those included that have exited and are not forgotten yet.
func (g *Group[P]) Len() int {
	g.mu.Lock()
	defer g.mu.Unlock()
	return len(g.m)
}
