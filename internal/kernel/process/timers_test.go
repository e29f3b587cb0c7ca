package process_test

import (
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/internal/kernel/env"
	"github.com/actornode/actornode/internal/kernel/process"
	"github.com/actornode/actornode/internal/testkit"
	"github.com/actornode/actornode/mailbox"
)

// box is a mailbox in a test.
type box struct {
	waits bool
	mu    sync.Mutex
	space int
	got   []any
	tries int
}

func (b *box) Waits() bool { return b.waits }

func (b *box) TryPush(msg any) mailbox.Result {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.tries++
	if len(b.got) >= b.space {
		return mailbox.Full
	}
	b.got = append(b.got, msg)
	return mailbox.Queued
}

// all returns the messages that have come.
func (b *box) all() []any {
	b.mu.Lock()
	defer b.mu.Unlock()
	return slices.Clone(b.got)
}

func (b *box) Pushed(mailbox.Result, any) {}

func (b *box) Put(msg any) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.got = append(b.got, msg)
}

func set(b *box) (*process.Timers, *process.CountTimers) {
	var c process.CountTimers
	return process.New(b, env.Env{}, &c), &c
}

// A timer sends once, reports its remaining time, and is over then.
func TestOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := new(box)
		s, c := set(b)
		var x process.Timer
		require.True(t, s.Start(&x, time.Minute, 0, "a"))
		require.Equal(t, 1, c.Len())
		require.Equal(t, 1, s.Len())
		require.False(t, s.HasDue(time.Now()))
		require.True(t, s.HasDue(time.Now().Add(time.Minute)))
		time.Sleep(20 * time.Second)
		left, ok := x.Left()
		require.True(t, ok)
		require.Equal(t, 40*time.Second, left)
		time.Sleep(40 * time.Second)
		synctest.Wait()
		require.Equal(t, []any{"a"}, b.all())
		_, ok = x.Left()
		require.False(t, ok)
		_, ok = x.Cancel()
		require.False(t, ok)
		require.Zero(t, c.Len())
		require.Zero(t, s.Len())
		require.False(t, s.HasDue(time.Now().Add(time.Hour)))
		require.Empty(t, s.End())
		require.False(t, (*process.Timers)(nil).HasDue(time.Now()))
	})
}

// A cancelled timer sends nothing; a repeating one goes on until it is cancelled.
func TestCancel(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := new(box)
		s, c := set(b)
		var once, often process.Timer
		require.True(t, s.Start(&once, time.Minute, 0, "never"))
		require.True(t, s.Start(&often, time.Second, time.Second, "tick"))
		time.Sleep(3500 * time.Millisecond)
		left, ok := once.Cancel()
		require.True(t, ok)
		require.Equal(t, 56500*time.Millisecond, left)
		left, ok = often.Cancel()
		require.True(t, ok)
		require.Equal(t, 500*time.Millisecond, left)
		time.Sleep(time.Hour)
		synctest.Wait()
		require.Equal(t, []any{"tick", "tick", "tick"}, b.all())
		require.Zero(t, c.Len())
	})
}

// lateWorld is a clock whose timers fire late.
type lateWorld struct {
	env.World
	now  time.Time
	late time.Duration
	next *pending
}

// pending is the timer that a lateWorld fires next.
type pending struct {
	env.Timer
	w  *lateWorld
	in time.Duration
	f  func()
}

func (w *lateWorld) Now() time.Time { return w.now }

func (w *lateWorld) AfterFunc(d time.Duration, f func()) env.Timer {
	w.next = &pending{w: w, in: d, f: f}
	return w.next
}

func (p *pending) Reset(d time.Duration) bool { p.in = d; return true }
func (p *pending) Stop() bool                 { return true }

func (w *lateWorld) fire() {
	w.now = w.now.Add(w.next.in + w.late)
	w.next.f()
}

// A repeating timer keeps its times, however late it is handled.
func TestKeepsTime(t *testing.T) {
	w := &lateWorld{now: time.Unix(1000, 0), late: 300 * time.Millisecond}
	b := new(box)
	s := process.New(b, env.Of(w), new(process.CountTimers))
	var x process.Timer
	require.True(t, s.Start(&x, time.Second, time.Second, "tick"))
	for range 10 {
		w.fire()
		require.Equal(t, time.Second-w.late, w.next.in)
	}
	require.Len(t, b.all(), 10)
	s.End()
}

// The end of a set ends its timers. It returns the messages of those that were to send once, oldest first, and nothing
// can be started any more.
func TestEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := new(box)
		s, c := set(b)
		var all [4]process.Timer
		for i := range 3 {
			require.True(t, s.Start(&all[i], time.Duration(9-i)*time.Second, 0, i))
		}
		require.True(t, s.Start(&all[3], time.Minute, time.Minute, "tick"))
		require.Equal(t, []any{0, 1, 2}, s.End())
		require.Empty(t, s.End())
		require.False(t, s.Start(new(process.Timer), time.Second, 0, "late"))
		time.Sleep(time.Hour)
		require.Empty(t, b.all())
		require.Zero(t, c.Len())
		for i := range all {
			_, ok := all[i].Left()
			require.False(t, ok)
		}
	})
}

// If the mailbox makes its senders wait, a timer that sends once waits for space and can be cancelled meanwhile; a
// repeating one does not wait.
func TestFull(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := &box{waits: true}
		s, c := set(b)
		var first, second, often process.Timer
		require.True(t, s.Start(&first, time.Second, 0, "first"))
		require.True(t, s.Start(&second, time.Second, 0, "second"))
		time.Sleep(10 * time.Second)
		left, ok := second.Cancel()
		require.True(t, ok)
		require.Zero(t, left)
		synctest.Wait()
		b.mu.Lock()
		tries := b.tries
		b.space = 1
		b.mu.Unlock()
		require.Less(t, tries, 250, "it tries less often the longer it takes")
		time.Sleep(100 * time.Millisecond)
		synctest.Wait()
		require.Equal(t, []any{"first"}, b.all())
		require.Zero(t, c.Len())
		require.True(t, s.Start(&often, time.Second, time.Hour, "tick"))
		time.Sleep(time.Second)
		synctest.Wait()
		require.Equal(t, []any{"first", "tick"}, b.all())
		s.End()
	})
}

// Of Cancel, the end of the set and the timer itself, exactly one gets the message.
func TestRace(t *testing.T) {
	for range 200 {
		b := new(box)
		s, c := set(b)
		var x process.Timer
		require.True(t, s.Start(&x, time.Microsecond, 0, "a"))
		var wg sync.WaitGroup
		var cancelled bool
		var unsent []any
		wg.Go(func() { _, cancelled = x.Cancel() })
		wg.Go(func() { unsent = s.End() })
		wg.Wait()
		require.Zero(t, c.Len())
		ends := len(unsent)
		if cancelled {
			ends++
		}
		if ends == 0 {
			testkit.UntilTrue(t, func() bool { return len(b.all()) == 1 }, "the message is sent")
		}
		require.Equal(t, 1, ends+len(b.all()))
	}
}
