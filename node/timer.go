package node

import (
	"sync"
	"time"
)

// Timer is a message that will be sent. It dies with the process it is for and
// with the node.
type Timer struct {
	node  *Node
	to    PID
	msg   any
	every time.Duration // 0: once

	mu   sync.Mutex
	t    *time.Timer
	due  time.Time
	over bool
}

// SendAfter sends msg to a process after d. Errors: [ErrBadTimeout], [ErrStopped].
func (n *Node) SendAfter(d time.Duration, to PID, msg any) (*Timer, error) {
	return n.timer(d, 0, to, msg)
}

// SendInterval sends msg to a process every d, until the timer is cancelled or
// the process is gone. Errors: [ErrBadTimeout] (d must be above 0), [ErrStopped].
func (n *Node) SendInterval(d time.Duration, to PID, msg any) (*Timer, error) {
	if d == 0 {
		return nil, ErrBadTimeout
	}
	return n.timer(d, d, to, msg)
}

func (n *Node) timer(d, every time.Duration, to PID, msg any) (*Timer, error) {
	if d < 0 {
		return nil, ErrBadTimeout
	}
	t := &Timer{node: n, to: to, msg: msg, every: every, due: time.Now().Add(d)}
	n.timersMu.Lock()
	defer n.timersMu.Unlock()
	if n.timers == nil {
		return nil, ErrStopped
	}
	n.timers[t] = struct{}{}
	t.mu.Lock()
	t.t = time.AfterFunc(d, t.fire)
	t.mu.Unlock()
	return t, nil
}

// fire runs on a goroutine of package time.
func (t *Timer) fire() {
	t.mu.Lock()
	if t.over {
		t.mu.Unlock()
		return
	}
	p := t.node.lookup(t.to)
	if t.every > 0 && p != nil {
		t.due = t.due.Add(t.every)
		t.t.Reset(time.Until(t.due))
	} else {
		t.over = true
	}
	over := t.over
	t.mu.Unlock()
	if over {
		t.forget()
	}
	if p != nil {
		if tr := t.node.traces(); tr != nil {
			tr.message(nil, PID{}, p, t.msg)
		}
		p.deliver(nil, t.msg)
	} else if t.every == 0 {
		t.node.undeliverable(t.to, t.msg)
	}
}

func (t *Timer) forget() {
	t.node.timersMu.Lock()
	delete(t.node.timers, t)
	t.node.timersMu.Unlock()
}

// Cancel stops the timer. It returns how long it still had to run, and false if
// it had fired or been cancelled already.
func (t *Timer) Cancel() (left time.Duration, ok bool) {
	t.mu.Lock()
	left, ok = t.leftLocked()
	t.over = true
	t.t.Stop()
	t.mu.Unlock()
	if ok {
		t.forget()
	}
	return left, ok
}

// Left returns how long the timer still has to run; false if it has fired or
// been cancelled.
func (t *Timer) Left() (left time.Duration, ok bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.leftLocked()
}

func (t *Timer) leftLocked() (time.Duration, bool) {
	if t.over {
		return 0, false
	}
	return max(0, time.Until(t.due)), true
}
