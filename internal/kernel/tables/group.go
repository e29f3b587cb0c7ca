package tables

import (
	"cmp"
	"maps"
	"slices"
	"sync"
)

// Member is a process in a [Group].
type Member interface {
	comparable
	Number() uint64
	Gone() bool // may be called concurrently
}

// Group is a set of processes that are notified of something. The number of members that have exited since they were added is
// never more than that of the others plus leastSweep. The zero value is empty.
type Group[P Member] struct {
	mu    sync.Mutex
	m     map[P]struct{} // guarded by mu, like sweep
	sweep int            // size at which exited members are next searched for
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

// Remove removes p: when it has returned, no Each is about to call its function with p.
func (g *Group[P]) Remove(p P) {
	g.mu.Lock()
	defer g.mu.Unlock()
	delete(g.m, p)
}

// Each calls f for each member that has not exited, in the order of their numbers. It removes the others.
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

// Len returns the number of members, including those that have exited and are not removed yet.
func (g *Group[P]) Len() int {
	g.mu.Lock()
	defer g.mu.Unlock()
	return len(g.m)
}
