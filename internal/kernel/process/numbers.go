package process

import "sync/atomic"

// batch is how many numbers a supply takes at once.
const batch = 1024

// sequence makes the numbers of a node's references, none of them twice. Any goroutine may use it, by a supply. The zero
// value has made none.
type sequence struct{ made atomic.Uint64 }

// Next makes a number.
func (s *sequence) Next() uint64 { return s.made.Add(batch) }

// supply has numbers in stock. The zero value has none.
type supply struct{ next, end uint64 }

// Next makes a number.
func (r *supply) Next(of *sequence) uint64 {
	if r.next == r.end {
		r.end = of.made.Add(batch)
		r.next = r.end - batch
	}
	r.next++
	return r.next
}
