package tables

import (
	"iter"
	"maps"
	"slices"

	"github.com/actornode/actornode/wire"
)

// PIDs is a set of PIDs with one owner; its zero value is empty. Most processes have a link or two, a supervisor a hundred
// thousand. In a large set local PIDs are stored by their numbers, which takes half the memory.
type PIDs struct {
	few  []wire.PID          // all of a small set
	near map[uint64]struct{} // nil for a small set
	far  map[wire.PID]struct{}
	home wire.Origin // of near
}

const fewPIDs = 8

// Len returns the size of the set.
func (s *PIDs) Len() int { return len(s.few) + len(s.near) + len(s.far) }

// Has reports whether p is in the set.
func (s *PIDs) Has(p wire.PID) (ok bool) {
	switch {
	case s.near == nil:
		return slices.Contains(s.few, p)
	case s.home.Minted(p):
		_, ok = s.near[p.Number()]
	default:
		_, ok = s.far[p]
	}
	return ok
}

// Add adds p, and reports whether it was not in the set. home mints the PIDs of this node.
func (s *PIDs) Add(home wire.Origin, p wire.PID) bool {
	if s.Has(p) {
		return false
	}
	if s.near == nil {
		if len(s.few) < fewPIDs {
			s.few = append(s.few, p)
			return true
		}
		s.near, s.home = make(map[uint64]struct{}, 2*fewPIDs), home
		for _, q := range s.few {
			s.put(q)
		}
		s.few = nil
	}
	s.put(p)
	return true
}

// put adds p to the maps.
func (s *PIDs) put(p wire.PID) {
	if s.home.Minted(p) {
		s.near[p.Number()] = struct{}{}
		return
	}
	if s.far == nil {
		s.far = make(map[wire.PID]struct{})
	}
	s.far[p] = struct{}{}
}

// Remove removes p, and reports whether it was in the set.
func (s *PIDs) Remove(p wire.PID) bool {
	n := s.Len()
	switch {
	case s.near == nil:
		i := slices.Index(s.few, p)
		if i < 0 {
			return false
		}
		s.few = slices.Delete(s.few, i, i+1)
	case s.home.Minted(p):
		delete(s.near, p.Number())
	default:
		delete(s.far, p)
	}
	return s.Len() < n
}

// All yields the PIDs: those of a small set in the order in which they were added, those of a large one in that of their
// numbers, those of other nodes last.
func (s *PIDs) All() iter.Seq[wire.PID] {
	return func(yield func(wire.PID) bool) {
		for _, p := range s.few {
			if !yield(p) {
				return
			}
		}
		if s.near == nil {
			return
		}
		for _, number := range slices.Sorted(maps.Keys(s.near)) {
			if !yield(s.home.PID(number)) {
				return
			}
		}
		for _, p := range slices.SortedFunc(maps.Keys(s.far), func(a, b wire.PID) int { return wire.Compare(a, b) }) {
			if !yield(p) {
				return
			}
		}
	}
}
