package env_test

import (
	"cmp"
	"context"
	"errors"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/internal/kernel/env"
)

// world is a World whose time stands still until a test advances it. It does everything on the goroutine of the test.
type world struct {
	mu     sync.Mutex
	now    time.Time
	random *rand.Rand
	timers []*timer
	ran    int
}

type timer struct {
	w  *world
	at time.Time // zero: it is not running
	f  func()
}

func newWorld() *world { return &world{now: time.Unix(1000, 0), random: rand.New(rand.NewPCG(1, 2))} }

func (w *world) Now() time.Time { w.mu.Lock(); defer w.mu.Unlock(); return w.now }
func (w *world) Uint64() uint64 { return w.random.Uint64() }
func (w *world) Go(f func())    { w.ran++; f() }

func (w *world) AfterFunc(d time.Duration, f func()) env.Timer {
	t := &timer{w: w, f: f}
	w.mu.Lock()
	w.timers = append(w.timers, t)
	w.mu.Unlock()
	t.Reset(d)
	return t
}

func (t *timer) Stop() bool { return t.set(time.Time{}) }

func (t *timer) Reset(d time.Duration) bool { return t.set(t.w.Now().Add(d)) }

func (t *timer) set(at time.Time) bool {
	t.w.mu.Lock()
	defer t.w.mu.Unlock()
	was := !t.at.IsZero()
	t.at = at
	return was
}

// pass advances the time.
func (w *world) pass(d time.Duration) {
	until := w.Now().Add(d)
	for {
		var due []*timer
		for _, t := range w.timers {
			if !t.at.IsZero() && !t.at.After(until) {
				due = append(due, t)
			}
		}
		if due == nil {
			w.now = until
			return
		}
		t := slices.MinFunc(due, func(a, b *timer) int { return cmp.Compare(a.at.UnixNano(), b.at.UnixNano()) })
		w.now, t.at = t.at, time.Time{}
		t.f()
	}
}

func TestWorld(t *testing.T) {
	w := newWorld()
	e := env.Of(w)
	start := e.Now()
	fired := 0
	tm := e.AfterFunc(time.Second, func() { fired++ })
	w.pass(time.Second - 1)
	require.Zero(t, fired)
	w.pass(1)
	require.Equal(t, 1, fired)
	require.Equal(t, time.Second, e.Since(start))
	require.Equal(t, -time.Second, e.Until(start))
	require.False(t, tm.Reset(time.Hour))
	require.True(t, tm.Stop())
	e.Go(func() { fired++ })
	require.Equal(t, 2, fired)
	require.Equal(t, 1, w.ran)

	same := rand.New(rand.NewPCG(1, 2))
	require.Equal(t, same.Uint64(), e.Uint64())
	require.Equal(t, uint32(same.Uint64()>>32), e.Uint32())
	for range 100 {
		f := e.Float64()
		require.True(t, 0 <= f && f < 1, f)
	}
}

// Nobody receives, after Stop or Reset, what a timer sent before.
func TestTimerChannel(t *testing.T) {
	w := newWorld()
	e := env.Of(w)
	tm, c := e.NewTimer(time.Second)
	require.Empty(t, c)
	w.pass(time.Second)
	require.Len(t, c, 1)
	tm.Reset(time.Second)
	require.Empty(t, c)
	w.pass(time.Second)
	require.Equal(t, w.now, <-c)
	tm.Reset(time.Second)
	w.pass(time.Second)
	tm.Stop()
	require.Empty(t, c)
	after := e.After(time.Minute)
	w.pass(time.Minute)
	require.Len(t, after, 1)
}

func TestTicker(t *testing.T) {
	w := newWorld()
	ticks, stop := env.Of(w).NewTicker(time.Second)
	for range 3 {
		w.pass(time.Second)
		require.Equal(t, w.now, <-ticks)
	}
	w.pass(10 * time.Second)
	require.Len(t, ticks, 1, "those that nobody takes are dropped")
	<-ticks
	stop()
	w.pass(time.Minute)
	require.Empty(t, ticks)
}

func TestTimeouts(t *testing.T) {
	w := newWorld()
	e := env.Of(w)
	slow := errors.New("slow")
	ctx, cancel := e.WithTimeoutCause(t.Context(), time.Second, slow)
	defer cancel()
	at, ok := ctx.Deadline()
	require.True(t, ok)
	require.Equal(t, w.now.Add(time.Second), at)
	inner, cancelInner := e.WithTimeout(ctx, time.Minute)
	defer cancelInner()
	require.NoError(t, ctx.Err())
	w.pass(time.Second)
	require.Equal(t, context.DeadlineExceeded, ctx.Err())
	require.Equal(t, slow, context.Cause(ctx))
	require.Error(t, inner.Err())

	ctx, cancel = e.WithTimeout(t.Context(), time.Second)
	cancel()
	require.Equal(t, context.Canceled, ctx.Err())
	w.pass(time.Second)
	require.Equal(t, context.Canceled, ctx.Err(), "it had ended")
	require.Equal(t, context.Canceled, context.Cause(ctx))

	ctx, cancel = e.WithTimeout(t.Context(), time.Second)
	defer cancel()
	w.pass(time.Second)
	require.Equal(t, context.DeadlineExceeded, context.Cause(ctx))
}

// The zero Env is the machine; in a bubble its time is the bubble's.
func TestMachine(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var e env.Env
		start := e.Now()
		done := make(chan struct{})
		e.Go(func() { e.Sleep(time.Second); close(done) })
		<-done
		require.Equal(t, time.Second, e.Since(start))
		require.Equal(t, -time.Second, e.Until(start))
		fired := make(chan struct{})
		e.AfterFunc(time.Second, func() { close(fired) })
		<-fired
		<-e.After(time.Second)
		require.Equal(t, 3*time.Second, e.Since(start))
		tm, c := e.NewTimer(time.Hour)
		require.True(t, tm.Stop())
		require.Empty(t, c)
		ticks, stop := e.NewTicker(time.Second)
		<-ticks
		stop()
		ctx, cancel := e.WithTimeout(t.Context(), time.Second)
		defer cancel()
		<-ctx.Done()
		require.Equal(t, context.DeadlineExceeded, ctx.Err())
		require.NotEqual(t, e.Uint64(), e.Uint64())
	})
}

// On the machine nothing allocates.
func TestMachineAllocates(t *testing.T) {
	var e env.Env
	var sum int64
	require.Zero(t, testing.AllocsPerRun(100, func() {
		sum += int64(e.Since(e.Now())) + int64(e.Uint32()) + int64(e.Float64())
	}))
}

// The clock is right from the start and at any time, and within a second after the wall clock has been set.
func TestClock(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var c env.Clock
		c.Init(env.Env{})
		for _, d := range []time.Duration{0, 1, time.Second, time.Millisecond, time.Hour, time.Second / 2} {
			time.Sleep(d)
			require.Equal(t, time.Now().UnixNano(), c.Now())
		}
		env.SetAhead(&c, time.Hour)
		require.NotEqual(t, time.Now().UnixNano(), c.Now())
		time.Sleep(time.Second + 1)
		require.Equal(t, time.Now().UnixNano(), c.Now())
	})
}
