package lifetime

import (
	"runtime"
	"slices"
	"sync"
)

// sweeps holds the processes of all nodes that are kept by something other than an Owner, or that are lost: each cycle of
// the collector reviews them again. So nobody needs to report that a name or a link is gone.
var sweeps sweeper

type sweeper struct {
	mu    sync.Mutex
	all   []*hold
	armed bool // the end of a cycle calls sweep
}

// add adds h to the list.
func (s *sweeper) add(h *hold) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.all = append(s.all, h)
	s.arm()
}

// arm schedules sweep after the next cycle of the collector. The caller has the lock.
func (s *sweeper) arm() {
	if s.armed || len(s.all) == 0 {
		return
	}
	s.armed = true
	cycle := new(struct{ _ [2]*byte }) // with pointers: otherwise it could share its memory with others
	runtime.AddCleanup(cycle, (*sweeper).sweep, s)
}

// sweep reviews all.
func (s *sweeper) sweep() {
	s.mu.Lock()
	all := s.all
	s.all, s.armed = nil, false
	s.mu.Unlock()
	all = slices.DeleteFunc(all, func(h *hold) bool { return !h.review() })
	s.mu.Lock()
	defer s.mu.Unlock()
	s.all = append(all, s.all...)
	s.arm()
}
