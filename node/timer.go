package node

import (
	"sync/atomic"
	"time"

	"github.com/actornode/actornode/internal/inbox"
	"github.com/actornode/actornode/mailbox"
	"github.com/actornode/actornode/node/internal/env"
	"github.com/actornode/actornode/node/internal/list"
)

// Timer is a message that will be sent. It ends with the process that it is for, and
// with the node: [Timer.Left] says false then, and it holds no message.
//
// A timer is on the list of its process, and all that changes is guarded by the mu of
// that process: timers of different processes share no lock. A timer that is over is not
// on the list, and refers neither to the process nor to the message.
type Timer struct {
	p     atomic.Pointer[proc] // nil: it is over
	every time.Duration        // 0: once

	msg   any
	t     env.Timer
	due   time.Time
	pause time.Duration     // between tries while there is no room; 0: not tried yet
	entry list.Entry[Timer] // of p.cold.timers
}

// While a mailbox that makes its senders wait has no room, a timer tries again, first after
// minPause, then after twice as long each time.
const (
	minPause = time.Millisecond
	maxPause = 100 * time.Millisecond
)

func (n *Node) timer(d, every time.Duration, to Dest, msg any) (*Timer, error) {
	switch {
	case d < 0:
		return nil, ErrBadTimeout
	case n.stopped.Load():
		return nil, ErrNodeStopped
	}
	t := &Timer{every: every, msg: msg, due: n.env.Now().Add(d)}
	pid, _ := n.resolve(to)
	p := n.lookup(pid)
	if p != nil && p.time(t, d) {
		return t, nil
	}
	if n.stopped.Load() {
		return nil, ErrNodeStopped
	}
	t.msg = nil
	if every == 0 {
		n.undeliverable(pid, msg)
	}
	return t, nil
}

// time starts a timer for p; false: p is gone.
func (p *proc) time(t *Timer, d time.Duration) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.gone() || p.node.stopped.Load() { // Stop may have looked for timers already
		return false
	}
	p.coldPart().timers.Add(&t.entry, t)
	t.p.Store(p)
	t.t = p.node.env.AfterFunc(d, t.fire)
	p.node.timers.Add(1)
	return true
}

// fire runs on a goroutine of package time, which nothing may hold up.
func (t *Timer) fire() {
	p := t.lock()
	if p == nil {
		return
	}
	msg := t.msg
	var room mailbox.Result
	waits := t.every == 0 && p.boxed && (*userMailbox)(p).holdsUp()
	if waits {
		if room = p.cold.box.Push(msg); room == mailbox.Full {
			t.pause = min(max(minPause, 2*t.pause), maxPause)
			t.t.Reset(t.pause)
			p.mu.Unlock()
			return
		}
	}
	if t.every > 0 {
		t.due = t.due.Add(t.every)
		t.t.Reset(p.node.env.Until(t.due))
	} else {
		t.endLocked(p)
	}
	p.mu.Unlock()
	p.node.traces().Message(PID{}, p.pid(), msg)
	if waits {
		(*userMailbox)(p).pushed(&p.node.acting, room, msg)
	} else {
		p.intake().try(&inbox.Node{Msg: msg})
	}
}

// lock locks the process that t is for, and returns it; nil, and nothing is locked: t is
// over.
func (t *Timer) lock() *proc {
	p := t.p.Load()
	if p == nil {
		return nil
	}
	p.mu.Lock()
	if t.p.Load() == nil {
		p.mu.Unlock()
		return nil
	}
	return p
}

// endLocked takes t, which is not over, from the list of p.
func (t *Timer) endLocked(p *proc) {
	t.t.Stop()
	p.cold.timers.Remove(&t.entry)
	t.msg, t.t = nil, nil
	t.p.Store(nil)
	p.node.timers.Add(-1)
}

// endTimersLocked ends all timers of p. It returns those that were to send once, with their
// messages, the oldest first: nobody else has them.
func (p *proc) endTimersLocked() (unsent list.List[Timer]) {
	for p.cold != nil && !p.cold.timers.IsEmpty() {
		t := p.cold.timers.First()
		msg := t.msg
		t.endLocked(p)
		if t.every == 0 {
			t.msg = msg
			unsent.Add(&t.entry, t)
		}
	}
	return unsent
}

// lose calls f with the messages of timers that have ended with their process.
func lose(unsent list.List[Timer], f func(msg any)) {
	for t := unsent.First(); t != nil; t = unsent.First() {
		msg := t.msg
		t.msg = nil
		unsent.Remove(&t.entry)
		f(msg)
	}
}

// endTimers ends all timers of p because the node stops: that makes no dead letters.
func (p *proc) endTimers() {
	p.mu.Lock()
	defer p.mu.Unlock()
	lose(p.endTimersLocked(), func(any) {})
}

// Cancel stops the timer. It returns how long it still had to run, and false if it was
// over: fired, cancelled, or its process gone.
func (t *Timer) Cancel() (left time.Duration, ok bool) {
	p := t.lock()
	if p == nil {
		return 0, false
	}
	defer p.mu.Unlock()
	left = t.leftLocked(p)
	t.endLocked(p)
	return left, true
}

// Left returns how long the timer still has to run; false if it is over: fired,
// cancelled, or its process gone.
func (t *Timer) Left() (left time.Duration, ok bool) {
	p := t.lock()
	if p == nil {
		return 0, false
	}
	defer p.mu.Unlock()
	return t.leftLocked(p), true
}

func (t *Timer) leftLocked(p *proc) time.Duration { return max(0, p.node.env.Until(t.due)) }
