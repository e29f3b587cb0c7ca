package tables

import "iter"

// List is a list of T. The zero value is empty.
type List[T any] struct{ first *ListEntry[T] }

// ListEntry makes a T an element of a list: it is a field of it. The zero value is on no list.
type ListEntry[T any] struct {
	next, prev *ListEntry[T]
	of         *T // nil if on no list
}

// Add puts e, which is on no list, before all others. e is the entry of v.
func (l *List[T]) Add(e *ListEntry[T], v *T) {
	e.of, e.next = v, l.first
	if e.next != nil {
		e.next.prev = e
	}
	l.first = e
}

// Remove removes e from l, the only list that it may be on. It returns false if it is on none.
func (l *List[T]) Remove(e *ListEntry[T]) bool {
	if e.of == nil {
		return false
	}
	if e.prev != nil {
		e.prev.next = e.next
	} else {
		l.first = e.next
	}
	if e.next != nil {
		e.next.prev = e.prev
	}
	*e = ListEntry[T]{}
	return true
}

// IsEmpty reports whether l has no entry.
func (l *List[T]) IsEmpty() bool { return l.first == nil }

// First returns what was added last, or nil if l is empty.
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

// Newest yields all elements, the last added first. A yielded element may be removed.
func (l *List[T]) Newest() iter.Seq[*T] {
	return func(yield func(*T) bool) {
		for e := l.first; e != nil; {
			of := e.of
			if e = e.next; !yield(of) {
				return
			}
		}
	}
}

// Oldest yields all elements, the first added first.
func (l *List[T]) Oldest() iter.Seq[*T] {
	return func(yield func(*T) bool) {
		e := l.first
		for e != nil && e.next != nil {
			e = e.next
		}
		for ; e != nil && yield(e.of); e = e.prev {
		}
	}
}
