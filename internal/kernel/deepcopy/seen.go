package deepcopy

import "unsafe"

// seen records the copied objects, by their address.
type seen struct {
	all   []copied
	index []int32 // by hash, 1 more than the index in all; empty while there are few
}

// copied is an object and its copy.
type copied struct {
	old, now unsafe.Pointer
	plan     *plan // of the object; for a slice that of the slice
	n        int   // elements of a slice
}

// few is the number of objects up to which the search is linear.
const few = 8

func hash(p unsafe.Pointer, mask uint64) uint64 {
	return uint64(uintptr(p)) * 0x9e3779b97f4a7c15 >> 32 & mask
}

// get returns the copy of an object, or nil if it has none.
func (s *seen) get(old unsafe.Pointer, p *plan, n int) unsafe.Pointer {
	if len(s.index) == 0 {
		for i := range s.all {
			if c := &s.all[i]; c.old == old && c.plan == p && c.n == n {
				return c.now
			}
		}
		return nil
	}
	mask := uint64(len(s.index) - 1)
	for h := hash(old, mask); s.index[h] != 0; h = (h + 1) & mask {
		if c := &s.all[s.index[h]-1]; c.old == old && c.plan == p && c.n == n {
			return c.now
		}
	}
	return nil
}

// put adds an object that has not been added yet.
func (s *seen) put(old unsafe.Pointer, p *plan, n int, now unsafe.Pointer) {
	s.all = append(s.all, copied{old, now, p, n})
	switch {
	case len(s.all) <= few:
	case 2*len(s.all) > len(s.index):
		s.rehash()
	default:
		s.enter(len(s.all))
	}
}

func (s *seen) enter(i int) {
	mask := uint64(len(s.index) - 1)
	h := hash(s.all[i-1].old, mask)
	for s.index[h] != 0 {
		h = (h + 1) & mask
	}
	s.index[h] = int32(i)
}

func (s *seen) rehash() {
	n := max(4*len(s.index), 8*few)
	if n <= cap(s.index) {
		s.index = s.index[:n]
		clear(s.index)
	} else {
		s.index = make([]int32, n)
	}
	for i := range s.all {
		s.enter(i + 1)
	}
}

// mostKept is the capacity up to which a seen is kept for the next copy.
const mostKept = 4096

// reset removes all objects.
func (s *seen) reset() {
	if cap(s.all) > mostKept {
		*s = seen{}
		return
	}
	clear(s.all)
	s.all, s.index = s.all[:0], s.index[:0]
}
