package watch

import (
	"sync"
	"time"

	"github.com/actornode/actornode/internal/kernel/env"
)

// every is the minimum interval between log lines of each kind.
const every = time.Second

// Throttle limits the log lines on events of one kind: the first event is written at once. Of those that come within a second
// of a line, only the last is written, when the second is over, with the number of the others: an operator sees that it
// happens and how often, and a loop does not fill the disk. It may be used concurrently.
type Throttle[E any] struct {
	env   env.Env
	write func(e E, not uint64)

	mu     sync.Mutex
	timer  env.Timer // until a second after the last line; nil if that is over
	last   E         // the last event that is not written yet
	held   uint64    // number of events since the last line
	closed bool
}

// Init is called once, before any other method. write writes a line on an event; not is the number of events since the last
// line which have none. It is called with no lock held, for all but the first event on a goroutine of its own.
func (t *Throttle[E]) Init(e env.Env, write func(e E, not uint64)) { t.env, t.write = e, write }

// Add writes an event, now or later.
func (t *Throttle[E]) Add(e E) {
	t.mu.Lock()
	switch {
	case t.closed:
		t.mu.Unlock()
		return
	case t.timer != nil:
		t.last = e
		t.held++
		t.mu.Unlock()
		return
	}
	t.timer = t.env.AfterFunc(every, t.over)
	t.mu.Unlock()
	t.write(e, 0)
}

// Free reports whether an event that is added now is written at once, if no other comes before it.
func (t *Throttle[E]) Free() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.timer == nil && !t.closed
}

// over is called a second after a line.
func (t *Throttle[E]) over() {
	t.mu.Lock()
	t.timer = nil
	if t.held > 0 && !t.closed {
		t.timer = t.env.AfterFunc(every, t.over)
	}
	t.flush()
}

// flush writes what is held. It is called with mu locked, and unlocks it.
func (t *Throttle[E]) flush() {
	e, held := t.last, t.held
	t.last, t.held = *new(E), 0
	t.mu.Unlock()
	if held > 0 {
		t.write(e, held-1)
	}
}

// Close writes what is held. Later events are not written.
func (t *Throttle[E]) Close() {
	t.mu.Lock()
	t.closed = true
	if t.timer != nil {
		t.timer.Stop()
		t.timer = nil
	}
	t.flush()
}
