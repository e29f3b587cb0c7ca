package tables

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
	as   As
}

// As is what a message to an alias becomes; false: it is refused. Nil: each stays what it is.
type As func(msg any) (any, bool)

// Taken says what has become of an alias for a message.
type Taken int

// All of these but Active come without a process, or with an alias that is no more.
const (
	Missing Taken = iota // there is no such alias
	Active               // and stays so
	Used                 // used up
	Refused              // does not take the message
)

// Add makes a reference an alias of p; once: of which the first message uses it up.
func (t *Aliases[P]) Add(ref uint64, p *P, once bool, as As) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.m == nil {
		t.m = make(map[uint64]alias[P])
	}
	t.m[ref] = alias[P]{p, once, as}
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

// Take returns the process of an alias for a message to it, and the message as it is to get it. A message
// that is refused does not use an alias up.
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

// use returns an alias, for which its message has come. try: that is yet to be looked at, if the alias
// does not take each.
func (t *Aliases[P]) use(ref uint64, try bool) alias[P] {
	t.mu.Lock()
	defer t.mu.Unlock()
	a := t.m[ref]
	if a.once && (!try || a.as == nil) {
		delete(t.m, ref)
	}
	return a
}

// Len returns how many there are.
func (t *Aliases[P]) Len() int {
	t.mu.Lock()
	defer t.mu.Unlock()
	return len(t.m)
}
