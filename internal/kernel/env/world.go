package env

import (
	"cmp"
	"context"
	"sync"
	"sync/atomic"
	"time"
)

// channelTimer is a timer of a world with a channel: like with a time.Timer, what was sent before Stop or Reset is not
// received after it.
type channelTimer struct {
	Timer
	c chan time.Time
}

func (t *channelTimer) send(now time.Time) {
	select {
	case t.c <- now:
	default: // the last one has not been received yet
	}
}

// Stop implements Timer.
func (t *channelTimer) Stop() bool {
	was := t.Timer.Stop()
	t.drain()
	return was
}

// Reset implements Timer.
func (t *channelTimer) Reset(d time.Duration) bool {
	was := t.Timer.Stop()
	t.drain()
	t.Timer.Reset(d)
	return was
}

func (t *channelTimer) drain() {
	select {
	case <-t.c:
	default:
	}
}

// newTicker is NewTicker for a world.
func (e Env) newTicker(d time.Duration) (ticks <-chan time.Time, stop func()) {
	var mu sync.Mutex // guards next and over
	var next Timer
	over := false
	t := &channelTimer{c: make(chan time.Time, 1)}
	mu.Lock()
	defer mu.Unlock()
	next = e.world.AfterFunc(d, func() {
		mu.Lock()
		defer mu.Unlock()
		if !over {
			t.send(e.world.Now())
			next.Reset(d)
		}
	})
	return t.c, func() {
		mu.Lock()
		defer mu.Unlock()
		over = true
		next.Stop()
	}
}

// deadlined is a context with a deadline in a world.
type deadlined struct {
	context.Context
	at   time.Time
	late *atomic.Bool // the deadline has ended it
}

// Deadline implements context.Context.
func (d deadlined) Deadline() (time.Time, bool) { return d.at, true }

// Err implements context.Context.
func (d deadlined) Err() error {
	err := d.Context.Err()
	if err != nil && d.late.Load() {
		return context.DeadlineExceeded
	}
	return err
}

// withTimeout is WithTimeoutCause for a world.
func (e Env) withTimeout(parent context.Context, d time.Duration, cause error) (context.Context, context.CancelFunc) {
	at := e.world.Now().Add(d)
	if earlier, ok := parent.Deadline(); ok && earlier.Before(at) {
		return context.WithCancel(parent)
	}
	ctx, cancel := context.WithCancelCause(parent)
	var late atomic.Bool
	t := e.world.AfterFunc(d, func() {
		late.Store(ctx.Err() == nil)
		cancel(cmp.Or(cause, context.DeadlineExceeded))
	})
	return deadlined{ctx, at, &late}, func() {
		t.Stop()
		cancel(nil)
	}
}
