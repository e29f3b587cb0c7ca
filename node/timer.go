package node

import (
	"time"

	"github.com/actornode/actornode/internal/inbox"
	"github.com/actornode/actornode/mailbox"
	"github.com/actornode/actornode/node/internal/timers"
)

// Timer is a message that will be sent. It ends with the process that it is for, and
// with the node: [Timer.Left] says false then, and it holds no message.
type Timer struct{ t timers.Timer }

// Cancel stops the timer. It returns how long it still had to run, and false if it was
// over: fired, cancelled, or its process gone.
func (t *Timer) Cancel() (left time.Duration, ok bool) { return t.t.Cancel() }

// Left returns how long the timer still has to run; false if it is over: fired,
// cancelled, or its process gone.
func (t *Timer) Left() (left time.Duration, ok bool) { return t.t.Left() }

func (n *Node) timer(d, every time.Duration, to Dest, msg any) (*Timer, error) {
	switch {
	case d < 0:
		return nil, ErrBadTimeout
	case n.stopped.Load():
		return nil, ErrNodeStopped
	}
	t := new(Timer)
	pid, _ := n.resolve(to)
	if p := n.lookup(pid); p != nil {
		if all := p.timers(); all != nil && all.Start(&t.t, d, every, msg) {
			return t, nil
		}
	}
	if n.stopped.Load() {
		return nil, ErrNodeStopped
	}
	if every == 0 {
		n.undeliverable(pid, msg)
	}
	return t, nil
}

// timers returns the timers that send to p; nil: p is gone, or the node stops.
func (p *proc) timers() *timers.Set {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.gone() || p.node.stopped.Load() { // Stop may have looked for timers already
		return nil
	}
	k := p.coldPart()
	if k.timers == nil {
		k.timers = timers.New((*timed)(p), p.node.env, &p.node.timers)
	}
	return k.timers
}

// endTimers ends all timers of p because the node stops: that makes no dead letters.
func (p *proc) endTimers() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.cold != nil && p.cold.timers != nil {
		p.cold.timers.End()
	}
}

// timed is a process as package timers knows it.
type timed proc

// Waits is part of timers.Owner, and so are the others.
func (p *timed) Waits() bool { return p.boxed && (*userMailbox)(p).holdsUp() }

// TryPush puts msg into a mailbox of the user's making.
func (p *timed) TryPush(msg any) mailbox.Result { return p.cold.box.Push(msg) }

// Pushed does what is due after TryPush.
func (p *timed) Pushed(r mailbox.Result, msg any) {
	p.node.traces().Message(PID{}, (*proc)(p).pid(), msg)
	(*userMailbox)(p).pushed(&p.node.acting, r, msg)
}

// Put puts msg in without waiting.
func (p *timed) Put(msg any) {
	p.node.traces().Message(PID{}, (*proc)(p).pid(), msg)
	(*proc)(p).intake().try(&inbox.Node{Msg: msg})
}
