package tables

import "sync"

// Aliases is the table of active aliases, by reference number. Its zero value is empty. P is the process. It may be locked
// with any process locked, and locks nothing itself.
type Aliases[P any] struct {
	mu sync.Mutex
	m  map[uint64]alias[P]
}

type alias[P any] struct {
	p    *P
	once bool
	as   As
}

// As converts a message to an alias, or returns false to refuse it. If nil, messages are not converted.
type As func(msg any) (any, bool)

// Taken is the outcome of a message to an alias.
type Taken int

// All of these except Active come without a process, or with an alias that no longer exists.
const (
	Missing Taken = iota // there is no such alias
	Active               // it stays active
	Used                 // used up
	Refused              // the alias refuses the message
)

// Add makes a reference an alias of p; if once, the first message uses it up.
func (t *Aliases[P]) Add(ref uint64, p *P, once bool, as As) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.m == nil {
		t.m = make(map[uint64]alias[P])
	}
	t.m[ref] = alias[P]{p, once, as}
}

// Remove removes an alias, and reports whether it was active.
func (t *Aliases[P]) Remove(ref uint64) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	_, ok := t.m[ref]
	delete(t.m, ref)
	return ok
}

// Peek returns the process of an alias, without using it up, or nil if there is none.
func (t *Aliases[P]) Peek(ref uint64) *P {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.m[ref].p
}

// Take returns the process of an alias for a message to it, and the message to deliver. A refused message does not use an
// alias up.
func (t *Aliases[P]) Take(ref uint64, msg any) (p *P, m any, how Taken) {
	a := t.use(ref, true)
	if a.as != nil {
		var ok bool
		if msg, ok = a.as(msg); !ok {
			return nil, nil, Refused
		}
		a = t.use(ref, false)
	}
	switch {
	case a.p == nil:
		return nil, nil, Missing
	case a.once:
		return a.p, msg, Used
	}
	return a.p, msg, Active
}

// use returns an alias for a message, and uses it up if necessary. try reports that the alias may still refuse the message.
func (t *Aliases[P]) use(ref uint64, try bool) alias[P] {
	t.mu.Lock()
	defer t.mu.Unlock()
	a := t.m[ref]
	if a.once && (!try || a.as == nil) {
		delete(t.m, ref)
	}
	return a
}

// Len returns the number of aliases.
func (t *Aliases[P]) Len() int {
	t.mu.Lock()
	defer t.mu.Unlock()
	return len(t.m)
}
