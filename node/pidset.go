package node

import (
	"iter"
	"slices"

	"github.com/actornode/actornode/wire"
)

// pidSet is a set of PIDs: most processes have a link or two, a supervisor a
// hundred thousand. Those of this node are known by their numbers then, which
// takes half the memory.
type pidSet struct {
	few  []PID               // all, until they are many
	near map[uint64]struct{} // nil: not many
	far  map[PID]struct{}
	home wire.Origin // of near
}

const fewPIDs = 8

func (s *pidSet) len() int { return len(s.few) + len(s.near) + len(s.far) }

func (s *pidSet) has(p PID) (ok bool) {
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

// add reports whether p was not there. home mints the PIDs of this node.
func (s *pidSet) add(home wire.Origin, p PID) bool {
	if s.has(p) {
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
func (s *pidSet) put(p PID) {
	if s.home.Minted(p) {
		s.near[p.Number()] = struct{}{}
		return
	}
	if s.far == nil {
		s.far = make(map[PID]struct{})
	}
	s.far[p] = struct{}{}
}

// remove reports whether p was there.
func (s *pidSet) remove(p PID) bool {
	n := s.len()
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
	return s.len() < n
}

func (s *pidSet) all() iter.Seq[PID] {
	return func(yield func(PID) bool) {
		for _, p := range s.few {
			if !yield(p) {
				return
			}
		}
		for number := range s.near {
			if !yield(s.home.PID(number)) {
				return
			}
		}
		for p := range s.far {
			if !yield(p) {
				return
			}
		}
	}
}
