// Package numbers makes the numbers of a node's references.
//
// Nouns: a Sequence is that of a node. A Supply is a worker's: it takes many numbers of the Sequence at once.
//
// Invariant: no number is made twice.
//
// It has no goroutines. A Sequence is used by any, a Supply by one at a time.
package numbers

import "sync/atomic"

// batch is how many numbers a Supply takes at once.
const batch = 1024

// Sequence makes numbers. The zero value has made none.
type Sequence struct{ made atomic.Uint64 }

// Next makes a number.
func (s *Sequence) Next() uint64 { return s.made.Add(batch) }

// Supply has numbers in stock. The zero value has none.
type Supply struct{ next, end uint64 }

// Next makes a number.
func (r *Supply) Next(of *Sequence) uint64 {
	if r.next == r.end {
		r.end = of.made.Add(batch)
		r.next = r.end - batch
	}
	r.next++
	return r.next
}
