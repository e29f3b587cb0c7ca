package pg

import (
	"iter"
	"slices"
)

// bag is a list that may hold an item several times, and removes the first of these without a walk. The zero value is
// empty.
type bag[K comparable] struct {
	slots []slot[K] // in order; those that are not used are where something was taken out
	n     int
	index map[K]ends // nil: there are few slots, all of them used
}

// slot is a place of one item.
type slot[K comparable] struct {
	item K
	used bool
	next int // the next slot with an equal item, if this is not the last of them
}

// ends are the first and the last slot with an item.
type ends struct{ first, last int }

// few is how many items are looked for one by one.
const few = 8

func (b *bag[K]) len() int { return b.n }

// all yields the items in order.
func (b *bag[K]) all() iter.Seq[K] {
	return func(yield func(K) bool) {
		for _, s := range b.slots {
			if s.used && !yield(s.item) {
				return
			}
		}
	}
}

// list returns the items in order.
func (b *bag[K]) list() []K { return slices.AppendSeq(make([]K, 0, b.n), b.all()) }

// add puts an item behind all others.
func (b *bag[K]) add(item K) {
	if b.index == nil && len(b.slots) == few {
		b.tidy(few + 1)
	}
	b.slots = append(b.slots, slot[K]{item: item, used: true})
	b.n++
	b.note(len(b.slots) - 1)
}

// note enters a slot that is the last into the index.
func (b *bag[K]) note(at int) {
	if b.index == nil {
		return
	}
	item := b.slots[at].item
	e, ok := b.index[item]
	if ok {
		b.slots[e.last].next = at
	} else {
		e.first = at
	}
	e.last = at
	b.index[item] = e
}

// remove takes out the first of the items that are equal to item, and reports whether there was one.
func (b *bag[K]) remove(item K) bool {
	if b.index == nil {
		i := slices.IndexFunc(b.slots, func(s slot[K]) bool { return s.item == item })
		if i >= 0 {
			b.slots = slices.Delete(b.slots, i, i+1)
			b.n--
		}
		return i >= 0
	}
	e, ok := b.index[item]
	if !ok {
		return false
	}
	if e.first == e.last {
		delete(b.index, item)
	} else {
		b.index[item] = ends{b.slots[e.first].next, e.last}
	}
	b.slots[e.first] = slot[K]{}
	if b.n--; len(b.slots) > 2*b.n+few {
		b.tidy(b.n)
	}
	return true
}

// tidy forgets the slots that are not used, and rebuilds the index if there are to be more than few.
func (b *bag[K]) tidy(n int) {
	items := b.list()
	b.slots, b.index = make([]slot[K], 0, max(n, len(items))), nil
	if n > few {
		b.index = make(map[K]ends, len(items))
	}
	for i, item := range items {
		b.slots = append(b.slots, slot[K]{item: item, used: true})
		b.note(i)
	}
}
