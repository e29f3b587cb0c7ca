package process

import (
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/actornode/actornode/internal/kernel/env"
	"github.com/actornode/actornode/internal/kernel/tables"
	"github.com/actornode/actornode/internal/mailbox/inbox"
	"github.com/actornode/actornode/mailbox"
)

// Pauses between attempts while there is no space.
const (
	minPause = time.Millisecond
	maxPause = 100 * time.Millisecond
)

// TimerOwner is the mailbox of a process. Its methods may be called concurrently.
type TimerOwner interface {
	// Waits reports whether the mailbox makes senders wait for space.
	Waits() bool
	// TryPush puts msg into a mailbox that Waits; Pushed is called with any result except Full.
	TryPush(msg any) mailbox.Result
	Pushed(r mailbox.Result, msg any)
	// Put puts msg into a mailbox that does not wait, or loses it.
	Put(msg any)
}

// CountTimers counts the timers that have not ended. The zero value is 0.
type CountTimers struct{ n atomic.Int64 }

// Len returns the number.
func (c *CountTimers) Len() int { return int(c.n.Load()) }

// Timers is the set of timers of one process.
type Timers struct {
	owner TimerOwner
	env   env.Env
	count *CountTimers

	mu   sync.Mutex
	over bool
	all  tables.List[Timer]
}

// New returns an empty set, whose timers are also counted by count.
func New(owner TimerOwner, e env.Env, count *CountTimers) *Timers {
	return &Timers{owner: owner, env: e, count: count}
}

// Timer is a message that will be sent.
type Timer struct {
	set   atomic.Pointer[Timers] // nil if it has ended
	every time.Duration          // 0 for a one-shot timer

	// Guarded by the lock of the set.
	msg   any
	t     env.Timer
	due   time.Time
	pause time.Duration // between attempts while there is no space; 0 before the first
	entry tables.ListEntry[Timer]
}

// Start makes t, which is new, send msg after d, and if every is not 0, again after each interval of every. It returns false
// if the set has ended; so has t then.
func (s *Timers) Start(t *Timer, d, every time.Duration, msg any) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.over {
		return false
	}
	t.every, t.msg, t.due = every, msg, s.env.Now().Add(d)
	s.all.Add(&t.entry, t)
	t.set.Store(s)
	t.t = s.env.AfterFunc(d, t.fire)
	s.count.n.Add(1)
	return true
}

// End ends all timers, including those started later. It returns the messages of the one-shot ones, the oldest first: the
// caller then owns them.
func (s *Timers) End() (unsent []any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.over = true
	for t := s.all.First(); t != nil; t = s.all.First() {
		if t.every == 0 {
			unsent = append(unsent, t.msg)
		}
		s.endLocked(t)
	}
	slices.Reverse(unsent)
	return unsent
}

// Len returns the number of timers that have not ended. s may be nil.
func (s *Timers) Len() int {
	if s == nil {
		return 0
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.all.Len()
}

// HasDue reports whether a timer should have fired by now. s may be nil.
func (s *Timers) HasDue(now time.Time) bool {
	if s == nil {
		return false
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for t := range s.all.Oldest() {
		if !t.due.After(now) {
			return true
		}
	}
	return false
}

// Cancel stops the timer. It returns how long it still had to run, and false if it had ended.
func (t *Timer) Cancel() (left time.Duration, ok bool) {
	s := t.lock()
	if s == nil {
		return 0, false
	}
	defer s.mu.Unlock()
	left = s.leftLocked(t)
	s.endLocked(t)
	return left, true
}

// Left returns how long the timer still has to run, and false if it has ended.
func (t *Timer) Left() (left time.Duration, ok bool) {
	s := t.lock()
	if s == nil {
		return 0, false
	}
	defer s.mu.Unlock()
	return s.leftLocked(t), true
}

// fire runs on a goroutine of package time.
func (t *Timer) fire() {
	s := t.lock()
	if s == nil {
		return
	}
	msg, result := t.msg, mailbox.Full
	waits := t.every == 0 && s.owner.Waits()
	if waits {
		result = s.owner.TryPush(msg)
	}
	switch {
	case waits && result == mailbox.Full:
		t.pause = min(max(minPause, 2*t.pause), maxPause)
		t.t.Reset(t.pause)
		s.mu.Unlock()
		return
	case t.every > 0:
		t.due = t.due.Add(t.every)
		t.t.Reset(s.env.Until(t.due))
	default:
		s.endLocked(t)
	}
	s.mu.Unlock()
	if waits {
		s.owner.Pushed(result, msg)
	} else {
		s.owner.Put(inbox.BareExpected(msg))
		runtime.KeepAlive(msg) // until then it keeps the process alive, which an owner may hold
	}
}

// lock locks the set of t and returns it. It returns nil, and locks nothing, if t has ended.
func (t *Timer) lock() *Timers {
	s := t.set.Load()
	if s == nil {
		return nil
	}
	s.mu.Lock()
	if t.set.Load() == nil {
		s.mu.Unlock()
		return nil
	}
	return s
}

// endLocked removes t, which has not ended, from the set.
func (s *Timers) endLocked(t *Timer) {
	t.t.Stop()
	s.all.Remove(&t.entry)
	t.msg, t.t = nil, nil
	t.set.Store(nil)
	s.count.n.Add(-1)
}

func (s *Timers) leftLocked(t *Timer) time.Duration { return max(0, s.env.Until(t.due)) }
