package process

import "sync/atomic"

// batch is the number of numbers that a supply takes at once.
const batch = 1024

// sequence makes the unique numbers of a node's references. It may be used concurrently, by a supply per goroutine. The zero
// value is ready.
type sequence struct{ made atomic.Uint64 }

// Next returns a new number.
func (s *sequence) Next() uint64 { return s.made.Add(batch) }

// supply has numbers in stock. The zero value has none.
type supply struct{ next, end uint64 }

// Next returns a new number.
func (r *supply) Next(of *sequence) uint64 {
	if r.next == r.end {
		r.end = of.made.Add(batch)
		r.next = r.end - batch
	}
	r.next++
	return r.next
}
