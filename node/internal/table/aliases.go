package table

import "sync"

// Aliases is the table of active aliases, by reference number. Its zero value is empty. P
// is the process. It may be locked with any process locked, and locks nothing itself.
type Aliases[P any] struct {
	mu sync.Mutex
	m  map[uint64]alias[P]
}

type alias[P any] struct {
	p    *P
	once bool
}

// Add makes a reference an alias of p; once: of which the first message uses it up.
func (t *Aliases[P]) Add(ref uint64, p *P, once bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.m == nil {
		t.m = make(map[uint64]alias[P])
	}
	t.m[ref] = alias[P]{p, once}
}

// Remove takes an alias away, and reports whether it was active.
func (t *Aliases[P]) Remove(ref uint64) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	_, ok := t.m[ref]
	delete(t.m, ref)
	return ok
}

// Peek returns the process of an alias, without using it up; nil: there is none.
func (t *Aliases[P]) Peek(ref uint64) *P {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.m[ref].p
}

// Take returns the process of an alias for a message to it, nil: there is none, and whether
// the message has used it up.
func (t *Aliases[P]) Take(ref uint64) (p *P, used bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	a := t.m[ref]
	if a.once {
		delete(t.m, ref)
	}
	return a.p, a.once
}

// Len returns how many there are.
func (t *Aliases[P]) Len() int {
	t.mu.Lock()
	defer t.mu.Unlock()
	return len(t.m)
}
