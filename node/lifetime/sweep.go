package lifetime

import (
	"runtime"
	"runtime/metrics"
	"slices"
	"sync"
	"sync/atomic"
)

// sweeps are the processes of all nodes that are kept by something else than an Owner, or that are lost: each cycle of
// the collector has them looked at again. Nobody need tell when a name or a link is gone.
var sweeps sweeper

type sweeper struct {
	mu    sync.Mutex
	all   []*hold
	armed bool // the end of a cycle calls sweep
}

// add puts h in.
func (s *sweeper) add(h *hold) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.all = append(s.all, h)
	s.arm()
}

// arm has sweep called when the collector has gone through memory once more. The caller has the lock.
func (s *sweeper) arm() {
	if s.armed || len(s.all) == 0 {
		return
	}
	s.armed = true
	cycle := new(struct{ _ [2]*byte }) // with pointers: else it could share its memory with others
	runtime.AddCleanup(cycle, (*sweeper).sweep, s)
}

// sweep looks at all.
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

// paced starts a cycle of the collector when many processes with owners have been started since the last.
//
// The collector's own pace is not enough. What it finds unreachable is small, while the process that belongs to it
// is in use until it has ended, and its memory is free after one more cycle. So each cycle would see what has been made
// since the one before as in use, and wait for a multiple of that with GOGC above 100: the heap would grow with
// each cycle.
var paced = pacer{samples: []metrics.Sample{{Name: "/gc/cycles/total:gc-cycles"}, {Name: "/gc/heap/live:bytes"}}}

type pacer struct {
	started atomic.Uint64

	mu      sync.Mutex
	samples []metrics.Sample
	cycles  uint64 // of the collector, when somebody looked last
	since   uint64 // processes started since then, about
	running bool   // a cycle that has been asked for
}

const (
	lookEvery  = 256     // processes
	ownedBytes = 1024    // that one takes, about
	minBytes   = 4 << 20 // of those started in a cycle, at least
	liveShare  = 2       // of the heap's live bytes these are half
)

// count counts a process that has been started.
func (p *pacer) count() {
	if p.started.Add(1)%lookEvery != 0 {
		return
	}
	p.mu.Lock()
	metrics.Read(p.samples)
	cycles, live := p.samples[0].Value.Uint64(), p.samples[1].Value.Uint64()
	if cycles != p.cycles {
		p.cycles, p.since = cycles, 0
	}
	p.since += lookEvery
	due := !p.running && p.since*ownedBytes >= max(minBytes, live/liveShare)
	p.running = p.running || due
	p.mu.Unlock()
	if due {
		go p.run() // ends by itself, when the collector has run once
	}
}

func (p *pacer) run() {
	runtime.GC()
	p.mu.Lock()
	p.running = false
	p.mu.Unlock()
}
