package calls

import (
	"strings"
	"sync"
)

// WaitGraph records which waiters of one node wait for which, to find cycles. P is a waiter: a process, or a method of an
// active object, which waits while its process continues. Its zero value is empty, and the zero P is no waiter.
//
// Invariants:
//
//  1. A waiter that waits has one edge. It leads to those without which the wait does not end: to one, or to
//     a method and the process that it runs in. The edge exists from before they can know of the call until
//     the wait has ended. A future of others is a waiter whose edge leads to all of these.
//  2. An edge counts while its call waits for an answer, but not while that is being settled. One for
//     space counts while the message is queued for space; only the process that it leads to makes space, and
//     does not while it waits. An edge that has ceased to count never counts again.
//  3. The edges that count have no cycle: one edge is added at a time, and none that closes one.
//
// So of two calls that would close a cycle together the second is refused (1, 3). A call is refused only if all processes of
// the cycle wait at that moment: the search sees each edge count, none of them ceases to count while the process that it
// leads to waits, and the waiter of the last edge, the caller, adds no other meanwhile.
type WaitGraph[P comparable] struct {
	mu    sync.Mutex
	edges map[P]edge[P]
}

type edge[P comparable] struct {
	kind WaitKind
	aims []WaitAim[P]
}

// WaitAim is whom a waiter waits for, while Waits returns true: one waiter, or a method and its process.
type WaitAim[P comparable] struct {
	To    [2]P
	Waits func() bool
}

// WaitStep is a waiter of a cycle, and what it waits for from the next.
type WaitStep[P comparable] struct {
	Waiter P
	Kind   WaitKind
}

// Add records that p is about to wait for k of all aims. If that closes a cycle it is not recorded, and Add returns the
// cycle, which begins with p. Cycles without p are ignored.
func (g *WaitGraph[P]) Add(p P, k WaitKind, aims ...WaitAim[P]) (cycle []WaitStep[P]) {
	g.mu.Lock()
	defer g.mu.Unlock()
	delete(g.edges, p)
	s := search[P]{edges: g.edges, to: p, path: []WaitStep[P]{{p, k}}, seen: make(map[P]bool)}
	if s.over(aims) {
		return s.path
	}
	if g.edges == nil {
		g.edges = make(map[P]edge[P])
	}
	g.edges[p] = edge[P]{k, aims}
	return nil
}

// search is a search for a path to a waiter, over edges that count.
type search[P comparable] struct {
	edges map[P]edge[P]
	to    P
	path  []WaitStep[P] // so far
	seen  map[P]bool
}

// from reports whether there is a path from a waiter; then it is in s.path.
func (s *search[P]) from(at P) bool {
	if at == s.to {
		return true
	}
	e, ok := s.edges[at]
	if !ok || s.seen[at] {
		return false
	}
	s.seen[at] = true
	s.path = append(s.path, WaitStep[P]{at, e.kind})
	if s.over(e.aims) {
		return true
	}
	s.path = s.path[:len(s.path)-1]
	return false
}

// over reports whether there is a path over one of the aims that count.
func (s *search[P]) over(aims []WaitAim[P]) bool {
	for _, a := range aims {
		if a.Waits() && (s.from(a.To[0]) || s.from(a.To[1])) {
			return true
		}
	}
	return false
}

// CycleText formats a cycle for people: "a calls b awaits a future of a". who names a waiter, with everything known of it if
// full is set.
func CycleText[P comparable](cycle []WaitStep[P], who func(p P, full bool) string) string {
	var text strings.Builder
	for _, s := range cycle {
		text.WriteString(who(s.Waiter, true) + " " + s.Kind.Verb() + " ")
	}
	return text.String() + who(cycle[0].Waiter, false)
}

// Remove ends the wait of p.
func (g *WaitGraph[P]) Remove(p P) {
	g.mu.Lock()
	defer g.mu.Unlock()
	delete(g.edges, p)
}

// Started ends the wait of p for the start of child, unless p waits for something else by now.
func (g *WaitGraph[P]) Started(p, child P) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if e, ok := g.edges[p]; ok && e.kind == WaitStart && e.aims[0].To[0] == child {
		delete(g.edges, p)
	}
}

// Len returns the number of waiters.
func (g *WaitGraph[P]) Len() int {
	g.mu.Lock()
	defer g.mu.Unlock()
	return len(g.edges)
}
