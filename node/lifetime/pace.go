package lifetime

import (
	"runtime"
	"runtime/metrics"
	"sync"
	"sync/atomic"
	"time"
)

// paced runs the collector when many processes with owners have been started since its last run, and makes callers that
// start more meanwhile wait.
//
// The collector's own pace is not enough. The object that it finds unreachable is small. Its process is in use until it
// has ended, and its memory is free after one more cycle. So each cycle would see everything made since the previous
// one as in use, and with GOGC above 100 wait for a multiple of that: the heap would grow with each cycle. A program
// that starts processes without a pause is also faster than the goroutines that end them.
var paced = pacer{samples: []metrics.Sample{{Name: "/gc/cycles/total:gc-cycles"}, {Name: "/gc/heap/live:bytes"}}}

type pacer struct {
	started atomic.Uint64

	mu      sync.Mutex
	samples []metrics.Sample
	cycles  uint64        // of the collector, at the last look
	since   uint64        // processes started since then, about
	over    chan struct{} // closed at the end of the requested cycle; nil: none was requested
}

const (
	lookEvery  = 256     // processes
	ownedBytes = 1024    // per process, about
	minBytes   = 4 << 20 // a cycle is due when new processes take at least this much,
	liveShare  = 4       // and at least a quarter of the heap's live bytes
	maxBehind  = 2       // at this many times as much, callers wait for the end of the cycle

	// maxCleanup is how long the end of a cycle waits for the program's cleanups: one of them may block,
	// and pacing must not wait for that.
	maxCleanup = 100 * time.Millisecond
)

// count counts a process that has been started.
func (p *pacer) count() {
	if p.started.Add(1)%lookEvery == 0 {
		if over := p.look(); over != nil {
			<-over
		}
	}
}

// look starts a cycle if one is due. It returns what the caller must wait for, or nil.
func (p *pacer) look() (over <-chan struct{}) {
	p.mu.Lock()
	defer p.mu.Unlock()
	metrics.Read(p.samples)
	cycles, live := p.samples[0].Value.Uint64(), p.samples[1].Value.Uint64()
	if cycles != p.cycles {
		p.cycles, p.since = cycles, 0
	}
	p.since += lookEvery
	size, due := p.since*ownedBytes, max(minBytes, live/liveShare)
	if size < due {
		return nil
	}
	if p.over == nil {
		p.over = make(chan struct{})
		go p.run() // ends by itself, when the collector has run once
	}
	if size < maxBehind*due {
		return nil
	}
	return p.over
}

// run runs the collector, and waits for the cleanups of the objects that it found.
func (p *pacer) run() {
	cleaned := make(chan struct{})
	runtime.AddCleanup(new(struct{ _ [2]*byte }), func(c chan struct{}) { close(c) }, cleaned)
	runtime.GC()
	limit := time.NewTimer(maxCleanup)
	defer limit.Stop()
	select {
	case <-cleaned:
	case <-limit.C:
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	close(p.over)
	p.over = nil
}
