package node

import (
	"time"

	"github.com/actornode/actornode/internal/kernel/erpc"
	"github.com/actornode/actornode/internal/kernel/process"
	"github.com/actornode/actornode/internal/kernel/runner"
	"github.com/actornode/actornode/mailbox"
	"github.com/actornode/actornode/wire/dist"
)

// Timer is a message that will be sent. It ends with the node, and with its target process if that was given by its
// PID: [Timer.Left] says false then, and the timer holds no message.
type Timer struct{ t process.Timer }

// Cancel stops the timer. It returns how long it still had to run; false if it was over: fired, cancelled, or its
// process gone.
func (t *Timer) Cancel() (left time.Duration, ok bool) { return t.t.Cancel() }

// Left returns how long the timer still has to run; false if it is over: fired,
// cancelled, or its process gone.
func (t *Timer) Left() (left time.Duration, ok bool) { return t.t.Left() }

func (n *Node) timer(a *process.Acting, d, every time.Duration, to Dest, msg any) (*Timer, error) {
	from := a.PID()
	switch {
	case d < 0:
		return nil, process.ErrBadTimeout
	case n.sys.Stopped.Load():
		return nil, ErrNodeStopped
	}
	if err := a.MaySend(to, msg, false); err != nil {
		return nil, err
	}
	t := new(Timer)
	pid, isPID := to.(PID)
	if isPID && pid.IsZero() {
		return nil, process.ErrNoDest
	}
	if !isPID || pid.Node() != n.cfg.Name {
		return t, n.timerFor(t, from, d, every, to, msg)
	}
	if p := n.sys.Lookup(pid); p != nil {
		var err error
		if msg, err = runner.ForTimer(from, p, msg); err != nil {
			return nil, err
		}
		if all := p.Timers(); all != nil && all.Start(&t.t, d, every, msg) {
			return t, nil
		}
	}
	if n.sys.Stopped.Load() {
		return nil, ErrNodeStopped
	}
	if every == 0 {
		n.sys.Undeliverable(pid, msg)
	}
	return t, nil
}

// timerFor is timer for a destination that is looked up when the message is due.
func (n *Node) timerFor(t *Timer, from PID, d, every time.Duration, to Dest, msg any) (err error) {
	if to == nil {
		return process.ErrNoDest
	}
	if tr := n.sys.Traces(); tr.Guards() {
		if msg, err = tr.Copied(from, PID{}, false, msg); err != nil {
			return err
		}
	}
	if !n.sys.Later.Start(&t.t, d, every, dueMessage{to, msg, every > 0}) {
		return ErrNodeStopped
	}
	return nil
}

// dueMessage is the message of a timer whose destination is resolved when it is due.
type dueMessage struct {
	to    Dest
	msg   any
	again bool // the timer goes on
}

// lookups are the timers of such messages, as package process knows their owner.
type lookups Node

// Waits is part of process.TimerOwner, and so are the others: a mailbox that makes senders wait has a timer of its own.
func (n *lookups) Waits() bool                { return false }
func (n *lookups) TryPush(any) mailbox.Result { return mailbox.Full }
func (n *lookups) Pushed(mailbox.Result, any) {}

// Put sends a message.
func (n *lookups) Put(msg any) {
	due, sys := msg.(dueMessage), &n.sys
	if f, ok := due.to.(erpc.Function); ok {
		_ = (*Node)(n).applyCast(&sys.Plain, f)
		return
	}
	t := sys.Target(due.to)
	if p := t.Process; p != nil && p.Boxed && !due.again {
		if all := p.Timers(); all != nil && all.Start(new(process.Timer), 0, 0, runner.Expected(p, due.msg)) {
			return
		}
	}
	_ = n.peers.Answer(&sys.Plain, t, dist.Frame{Payload: due.msg}) // what is lost is a dead letter
}
