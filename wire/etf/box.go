package etf

import "github.com/actornode/actornode/wire/box"

// maxInts is how many integers are made at a time, at most: who keeps one of them
// keeps them all.
const maxInts = 128

// boxInt returns n. Integers that take room are made several at a time, no more
// than terms are still to come.
func (r *reading) boxInt(n int) any {
	if uint(n) < 256 {
		return n // Go has these
	}
	if len(r.ints) == 0 {
		r.ints = make([]int, min(r.owed+1, maxInts))
	}
	p := &r.ints[0]
	*p = n
	r.ints = r.ints[1:]
	return box.Int(p)
}
