package watch

import (
	"sync"
	"time"

	"github.com/actornode/actornode/internal/kernel/env"
)

// every is the interval of the log lines of this package: a kind has one line in each.
const every = time.Second

// Pace is the rate of a [Throttle]: Lines, at least 1, are written at once in an interval of Every, which begins with the first.
type Pace struct {
	Lines int
	Every time.Duration
}

// Throttle limits the log lines on events of one kind: in each interval of its Pace the first events are written at once. Of
// those that come after them, only the last is written, when the interval is over, with the number of the others: an operator
// sees that it happens and how often, and a loop does not fill the disk. It may be used concurrently. If a line takes longer to
// write than the interval, lines may be out of order.
type Throttle[E any] struct {
	env   env.Env
	pace  Pace
	write func(e E, not uint64)

	mu     sync.Mutex
	timer  env.Timer // until the interval is over; nil: there is none, and nothing is held
	lines  int       // in the interval
	last   E         // the last event that is not written yet
	held   uint64    // number of events since the last line
	closed bool
}

// Init is called once, before any other method. write writes a line on an event; not is the number of events since the last
// line which have none. It is called with no lock held, for events that were held on a goroutine of its own.
func (t *Throttle[E]) Init(e env.Env, p Pace, write func(e E, not uint64)) {
	t.env, t.pace, t.write = e, p, write
}

// Add writes an event, now or later.
func (t *Throttle[E]) Add(e E) {
	t.mu.Lock()
	switch {
	case t.closed:
		t.mu.Unlock()
		return
	case t.timer == nil:
		t.timer, t.lines = t.env.AfterFunc(t.pace.Every, t.over), 0
	case t.lines >= t.pace.Lines:
		t.last = e
		t.held++
		t.mu.Unlock()
		return
	}
	t.lines++
	not := t.takeLocked()
	t.mu.Unlock()
	t.write(e, not)
}

// Free reports whether an event that is added now is written at once, if no other comes before it.
func (t *Throttle[E]) Free() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return !t.closed && (t.timer == nil || t.lines < t.pace.Lines)
}

// over is called when an interval is over. The next one begins with the line on what is held.
func (t *Throttle[E]) over() {
	t.mu.Lock()
	if t.closed || t.held == 0 {
		t.timer = nil
		t.mu.Unlock()
		return
	}
	t.timer = t.env.AfterFunc(t.pace.Every, t.over)
	t.lines = t.pace.Lines // no later event is written before it
	t.flush()
	t.mu.Lock()
	t.lines = 1
	t.mu.Unlock()
}

// flush writes what is held. It is called with mu locked, and unlocks it.
func (t *Throttle[E]) flush() {
	e := t.last
	held := t.takeLocked()
	t.mu.Unlock()
	if held > 0 {
		t.write(e, held-1)
	}
}

// takeLocked forgets what is held. It returns the number of those events.
func (t *Throttle[E]) takeLocked() (held uint64) {
	held, t.held, t.last = t.held, 0, *new(E)
	return held
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
