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

// Pauses between tries while there is no space.
const (
	minPause = time.Millisecond
	maxPause = 100 * time.Millisecond
)

// TimerOwner is the mailbox of a process. Its methods are called from any goroutine.
type TimerOwner interface {
	// Waits reports whether the mailbox makes senders wait for space.
	Waits() bool
	// TryPush puts msg into a mailbox that Waits; of another result than Full, Pushed is told.
	TryPush(msg any) mailbox.Result
	Pushed(r mailbox.Result, msg any)
	// Put puts msg into a mailbox that does not wait, or loses it.
	Put(msg any)
}

// CountTimers is how many timers there are that are not over. The zero value is 0.
type CountTimers struct{ n atomic.Int64 }

// Len returns it.
func (c *CountTimers) Len() int { return int(c.n.Load()) }

// Timers is the timers of one process.
type Timers struct {
	owner TimerOwner
	env   env.Env
	count *CountTimers

	mu   sync.Mutex
	over bool
	all  tables.List[Timer]
}

// New returns an empty set, whose timers are counted by count, too.
func New(owner TimerOwner, e env.Env, count *CountTimers) *Timers {
	return &Timers{owner: owner, env: e, count: count}
}

// Timer is a message that will be sent.
type Timer struct {
	set   atomic.Pointer[Timers] // nil: it is over
	every time.Duration          // 0: once

	// Guarded by the lock of the set.
	msg   any
	t     env.Timer
	due   time.Time
	pause time.Duration // between tries while there is no space; 0: not tried yet
	entry tables.ListEntry[Timer]
}

// Start has t, which is new, send msg after d, and if every is not 0 again each time that this has
// passed. False: the set has ended, and t is over.
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

// End ends all timers, and those that are started from now on. It returns the messages of those that
// were to send once, the oldest first: nobody else has them.
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

// Len returns how many there are that are not over. s may be nil.
func (s *Timers) Len() int {
	if s == nil {
		return 0
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.all.Len()
}

// HasDue reports whether one of them should have sent by now. s may be nil.
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

// Cancel stops the timer. It returns how long it still had to run, and false if it was over.
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

// Left returns how long the timer still has to run; false if it is over.
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
		runtime.KeepAlive(msg) // till then it keeps the process, which an owner may hold
	}
}

// lock locks the set that t is in, and returns it; nil, and nothing is locked: t is over.
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

// endLocked takes t, which is not over, from the set.
func (s *Timers) endLocked(t *Timer) {
	t.t.Stop()
	s.all.Remove(&t.entry)
	t.msg, t.t = nil, nil
	t.set.Store(nil)
	s.count.n.Add(-1)
}

func (s *Timers) leftLocked(t *Timer) time.Duration { return max(0, s.env.Until(t.due)) }
