package tables

import (
	"sync"

	"github.com/actornode/actornode/wire"
)

// Lent are the references by which other nodes know things of this one that are not processes: the calls whose From has left
// the node, and futures. Its zero value is empty. T identifies the thing; it is a key. All methods may be called with any
// lock held, and call only mint and over, which must lock nothing.
type Lent[T comparable] struct {
	mu    sync.Mutex
	refs  map[T]wire.Ref
	of    map[wire.Ref]T
	sweep int // size at which those that are over are dropped
}

// leastLent is the minimum number of things before Lend searches for those that are over.
const leastLent = 64

// Lend returns the reference of x; if it has none, the result of mint. Those that are over are dropped when there are twice
// as many as were left the last time.
func (l *Lent[T]) Lend(x T, mint func() wire.Ref, over func(T) bool) wire.Ref {
	l.mu.Lock()
	defer l.mu.Unlock()
	if ref, ok := l.refs[x]; ok {
		return ref
	}
	if l.refs == nil {
		l.refs, l.of, l.sweep = make(map[T]wire.Ref), make(map[wire.Ref]T), leastLent
	}
	if len(l.refs) >= l.sweep {
		for y, ref := range l.refs {
			if over(y) {
				delete(l.refs, y)
				delete(l.of, ref)
			}
		}
		l.sweep = max(leastLent, 2*len(l.refs))
	}
	ref := mint()
	l.refs[x], l.of[ref] = ref, x
	return ref
}

// Find returns the thing with the reference ref.
func (l *Lent[T]) Find(ref wire.Ref) (x T, ok bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	x, ok = l.of[ref]
	return x, ok
}

// Take is Find, and drops the reference.
func (l *Lent[T]) Take(ref wire.Ref) (x T, ok bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if x, ok = l.of[ref]; ok {
		delete(l.refs, x)
		delete(l.of, ref)
	}
	return x, ok
}

// Len returns the number of things.
func (l *Lent[T]) Len() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.of)
}
