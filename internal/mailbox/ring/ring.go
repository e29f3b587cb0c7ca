// Package ring has a queue in a ring buffer: adding at one end and taking from the other takes constant time.
//
// A [Ring] has no lock and no goroutine: its owner guards it.
package ring

// Ring is a queue of T. The zero value is empty.
type Ring[T any] struct {
	items []T // a power of two, or none
	first int
	n     int
}

// leastRing is the size of the first slice.
const leastRing = 4

// mostKept is the length of the longest slice that an empty ring keeps.
const mostKept = 1 << 10

// Len returns the number of items.
func (r *Ring[T]) Len() int { return r.n }

// Cap returns the number of items that fit without an allocation.
func (r *Ring[T]) Cap() int { return len(r.items) }

// Push appends v.
func (r *Ring[T]) Push(v T) {
	if r.n == len(r.items) {
		r.grow()
	}
	r.items[(r.first+r.n)&(len(r.items)-1)] = v
	r.n++
}

func (r *Ring[T]) grow() {
	items := make([]T, max(leastRing, 2*len(r.items)))
	k := copy(items, r.items[r.first:])
	copy(items[k:], r.items[:r.first])
	r.items, r.first = items, 0
}

// Unshift puts v before the oldest item.
func (r *Ring[T]) Unshift(v T) {
	if r.n == len(r.items) {
		r.grow()
	}
	r.first = (r.first - 1) & (len(r.items) - 1)
	r.items[r.first] = v
	r.n++
}

// First returns the oldest item. The ring must not be empty.
func (r *Ring[T]) First() T { return r.items[r.first] }

// Shift removes and returns the oldest item. The ring must not be empty.
func (r *Ring[T]) Shift() T {
	v := r.items[r.first]
	var none T
	r.items[r.first] = none
	r.first = (r.first + 1) & (len(r.items) - 1)
	if r.n--; r.n == 0 && len(r.items) > mostKept {
		r.items, r.first = nil, 0
	}
	return v
}
