// Package export is what a node offers by module, function and arity, and what a request by
// name means. Nothing that is not in the [Table] can be run by name.
package export

import (
	"cmp"
	"slices"
	"sync"

	"github.com/actornode/actornode/wire"
)

// Table has a value for each name. Its zero value is empty. It may be used from anywhere.
type Table[V any] struct {
	mu sync.RWMutex
	m  map[wire.Export]V
}

// Valid reports whether something may be offered under a name.
func Valid(e wire.Export) bool {
	return e.Module != "" && e.Function != "" && e.Arity >= 0 && e.Arity <= 255
}

// Change changes what is offered under a name, at first the zero value; if change returns an
// error nothing is.
func (t *Table[V]) Change(e wire.Export, change func(*V) error) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.m == nil {
		t.m = make(map[wire.Export]V)
	}
	v := t.m[e]
	if err := change(&v); err != nil {
		return err
	}
	t.m[e] = v
	return nil
}

// Get returns what is offered under a name; the zero value: nothing.
func (t *Table[V]) Get(e wire.Export) V {
	t.mu.RLock()
	defer t.mu.RUnlock()
	return t.m[e]
}

// Remove takes back what is offered under a name, and reports whether there was anything.
func (t *Table[V]) Remove(e wire.Export) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	_, was := t.m[e]
	delete(t.m, e)
	return was
}

// List returns the names of what is wanted, in alphabetical order.
func (t *Table[V]) List(wanted func(V) bool) []wire.Export {
	t.mu.RLock()
	defer t.mu.RUnlock()
	all := make([]wire.Export, 0, len(t.m))
	for e, v := range t.m {
		if wanted(v) {
			all = append(all, e)
		}
	}
	slices.SortFunc(all, func(a, b wire.Export) int {
		return cmp.Or(cmp.Compare(a.Module, b.Module), cmp.Compare(a.Function, b.Function), cmp.Compare(a.Arity, b.Arity))
	})
	return all
}
