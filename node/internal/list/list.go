// Package list has a list whose entries stand in what it lists, so that an entry is added and
// removed without a search and without memory of its own.
//
// A [List] is what hangs on one process: its calls, its timers. Its owner guards it, and each
// entry that is on it, by a lock; the package has none, and no goroutine.
//
// Invariants:
//
//  1. An [Entry] is on one list at most.
//  2. The entry that was added last comes first.
package list

// List is a list of T. The zero value is empty.
type List[T any] struct{ first *Entry[T] }

// Entry is what makes a T one of a list: a field of it. The zero value is on none.
type Entry[T any] struct {
	next, prev *Entry[T]
	on         *List[T]
	of         *T
}

// Add puts e, which is on no list, before all others. It is an entry of v.
func (l *List[T]) Add(e *Entry[T], v *T) {
	e.on, e.of, e.next = l, v, l.first
	if e.next != nil {
		e.next.prev = e
	}
	l.first = e
}

// Remove takes e off its list; false: it is on none.
func (e *Entry[T]) Remove() bool {
	if e.on == nil {
		return false
	}
	if e.prev != nil {
		e.prev.next = e.next
	} else {
		e.on.first = e.next
	}
	if e.next != nil {
		e.next.prev = e.prev
	}
	*e = Entry[T]{}
	return true
}

// First returns what was added last; nil: l is empty.
func (l *List[T]) First() *T {
	if l.first == nil {
		return nil
	}
	return l.first.of
}

// Len counts the entries, one by one.
func (l *List[T]) Len() (n int) {
	for e := l.first; e != nil; e = e.next {
		n++
	}
	return n
}
