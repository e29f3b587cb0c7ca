package watch

import (
	"sync"
	"sync/atomic"
)

// Feed is a stream of events for one reader.
type Feed[E any] struct {
	ch     chan E
	stamp  func(E) E // may be nil
	missed atomic.Uint64

	mu   sync.Mutex
	over bool // ch is closed

	at int // index in its hub; guarded by that
}

// NewFeed returns a feed that buffers buffer events. stamp, if it is not nil, converts each event to the one that is sent,
// with the feed locked.
func NewFeed[E any](buffer int, stamp func(E) E) *Feed[E] {
	return &Feed[E]{ch: make(chan E, buffer), stamp: stamp}
}

// C returns the channel of the events. Close closes it; buffered events can still be received.
func (f *Feed[E]) C() <-chan E { return f.ch }

// Send adds an event, or drops it if there is no room. After Close it does nothing.
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

// Missed returns the number of events that did not fit.
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

// Hub sends the same events to several readers. Its zero value has none.
type Hub[E any] struct {
	mu    sync.Mutex
	feeds []*Feed[E]
	over  bool
}

// Open opens a feed of the events to come. If the hub is closed, so is the feed.
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

// Send sends an event to all feeds.
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
