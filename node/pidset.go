package node

import (
	"iter"
	"slices"
)

// pidSet is a set of PIDs: most processes have a link or two, a supervisor a
// hundred thousand.
type pidSet struct {
	few  []PID
	many map[PID]struct{} // instead of few
}

const fewPIDs = 8

func (s *pidSet) len() int { return len(s.few) + len(s.many) }

func (s *pidSet) has(p PID) bool {
	if s.many != nil {
		_, ok := s.many[p]
		return ok
	}
	return slices.Contains(s.few, p)
}

// add reports whether p was not there.
func (s *pidSet) add(p PID) bool {
	switch {
	case s.has(p):
		return false
	case s.many != nil:
		s.many[p] = struct{}{}
	case len(s.few) < fewPIDs:
		s.few = append(s.few, p)
	default:
		s.many = make(map[PID]struct{}, 2*fewPIDs)
		for _, q := range s.few {
			s.many[q] = struct{}{}
		}
		s.few = nil
		s.many[p] = struct{}{}
	}
	return true
}

// remove reports whether p was there.
func (s *pidSet) remove(p PID) bool {
	if s.many != nil {
		n := len(s.many)
		delete(s.many, p)
		return len(s.many) < n
	}
	i := slices.Index(s.few, p)
	if i < 0 {
		return false
	}
	s.few = slices.Delete(s.few, i, i+1)
	return true
}

func (s *pidSet) all() iter.Seq[PID] {
	return func(yield func(PID) bool) {
		for _, p := range s.few {
			if !yield(p) {
				return
			}
		}
		for p := range s.many {
			if !yield(p) {
				return
			}
		}
	}
}
