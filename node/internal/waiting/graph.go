package waiting

import "sync"

// Graph has what processes of one node wait for of each other, for the search of cycles. P stands for a
// process. Its zero value has none.
//
// Invariants:
//
//  1. A process that waits has one edge, to the process that it waits for. It has it from before that
//     process can know of the call until the wait is over.
//  2. An edge counts while its call waits for an answer: one that is being settled does not. One for
//     space counts while there is none; only the process that it leads to makes some, and while
//     that waits it makes none.
//  3. The edges that count, but for those for space, have no cycle: one edge is added at a time, and none
//     that closes one. One for space may count again when another process has taken the space. Who
//     waits for space therefore adds its edge again now and then.
//
// So of two calls that would close a cycle together the second is refused (1, 3). A call is refused
// only if all processes of the cycle wait at that moment: the walk sees each edge count, none of them
// ceases to count while the process that it leads to waits, and the process of the last edge, the caller,
// adds no other meanwhile.
type Graph[P comparable] struct {
	mu    sync.Mutex
	edges map[P]edge[P]
}

type edge[P comparable] struct {
	to    P
	kind  Kind
	waits func() bool
}

// Step is a process of a cycle, and for what it waits of the next.
type Step[P comparable] struct {
	Process P
	Kind    Kind
}

// Add notes that p is about to wait for k of to, as long as waits says so. If that closes a cycle it
// is not noted, and Add returns the cycle, which begins with p. A cycle of others is none of p's.
func (g *Graph[P]) Add(p, to P, k Kind, waits func() bool) (cycle []Step[P]) {
	g.mu.Lock()
	defer g.mu.Unlock()
	delete(g.edges, p)
	cycle = []Step[P]{{p, k}}
	for at := to; at != p; {
		e, ok := g.edges[at]
		if !ok || len(cycle) > len(g.edges) || !e.waits() {
			if g.edges == nil {
				g.edges = make(map[P]edge[P])
			}
			g.edges[p] = edge[P]{to, k, waits}
			return nil
		}
		cycle = append(cycle, Step[P]{at, e.kind})
		at = e.to
	}
	return cycle
}

// Remove is the end of the wait of p.
func (g *Graph[P]) Remove(p P) {
	g.mu.Lock()
	defer g.mu.Unlock()
	delete(g.edges, p)
}

// Len is how many processes wait.
func (g *Graph[P]) Len() int {
	g.mu.Lock()
	defer g.mu.Unlock()
	return len(g.edges)
}
