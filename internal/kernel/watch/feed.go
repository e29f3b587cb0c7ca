package watch

import (
	"sync"
	"sync/atomic"
	"time"
)

// Feed is a stream of events for one reader.
type Feed[E any] struct {
	ch     chan E
	stamp  func(E) E // nil: none
	missed atomic.Uint64

	mu   sync.Mutex
	over bool // ch is closed

	at int // the place in its hub; guarded by that
}

// NewFeed returns a feed that holds buffer events. stamp makes of each event the one that is sent,
// with the feed locked; nil: the same.
func NewFeed[E any](buffer int, stamp func(E) E) *Feed[E] {
	return &Feed[E]{ch: make(chan E, buffer), stamp: stamp}
}

// C is where the events are read. It is closed by Close; what is in it can still be read.
func (f *Feed[E]) C() <-chan E { return f.ch }

// Send adds an event, or drops it if there is no room. Once closed, it does nothing.
func (f *Feed[E]) Send(e E) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.over {
		return
	}
	if f.stamp != nil {
		e = f.stamp(e)
	}
	select {
	case f.ch <- e:
	default:
		f.missed.Add(1)
	}
}

// Full reports whether an event would be dropped, so that it need not be made.
func (f *Feed[E]) Full() bool { return len(f.ch) == cap(f.ch) }

// Miss counts an event that was not made.
func (f *Feed[E]) Miss() { f.missed.Add(1) }

// Missed returns how many events did not fit.
func (f *Feed[E]) Missed() uint64 { return f.missed.Load() }

// Close ends the feed.
func (f *Feed[E]) Close() {
	f.mu.Lock()
	defer f.mu.Unlock()
	if !f.over {
		f.over = true
		close(f.ch)
	}
}

// Hub gives the same events to several readers. Its zero value has none.
type Hub[E any] struct {
	mu    sync.Mutex
	feeds []*Feed[E]
	over  bool
}

// Open opens a feed of the events to come. Of a hub that is closed it is closed, too.
func (h *Hub[E]) Open(buffer int) *Feed[E] {
	f := NewFeed[E](buffer, nil)
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.over {
		f.Close()
	} else {
		f.at = len(h.feeds)
		h.feeds = append(h.feeds, f)
	}
	return f
}

// Send gives an event to all.
func (h *Hub[E]) Send(e E) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, f := range h.feeds {
		f.Send(e)
	}
}

// Drop closes a feed.
func (h *Hub[E]) Drop(f *Feed[E]) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if f.at < len(h.feeds) && h.feeds[f.at] == f {
		last := len(h.feeds) - 1
		h.feeds[f.at] = h.feeds[last]
		h.feeds[f.at].at = f.at
		h.feeds[last] = nil
		h.feeds = h.feeds[:last]
	}
	f.Close()
}

// Close closes all feeds.
func (h *Hub[E]) Close() {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, f := range h.feeds {
		f.Close()
	}
	h.feeds, h.over = nil, true
}

// Throttle decides which of many events of one kind are logged: the first, and then one in a
// time, with the number of those that were not. It may be used from anywhere. The zero
// value has logged nothing.
type Throttle struct {
	mu   sync.Mutex
	last time.Time // that one was logged
	not  uint64    // logged since
}

// Due is told of an event. It reports whether it is to be logged, and how many like it have
// not been since the last that was.
func (t *Throttle) Due(now time.Time, every time.Duration) (not uint64, due bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if now.Sub(t.last) < every {
		t.not++
		return 0, false
	}
	not, t.not, t.last = t.not, 0, now
	return not, true
}
