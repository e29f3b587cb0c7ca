package node

import (
	"time"

	"github.com/actornode/actornode/node/internal/runner"
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

func (n *Node) timer(from PID, d, every time.Duration, to Dest, msg any) (*Timer, error) {
	switch {
	case d < 0:
		return nil, ErrBadTimeout
	case n.sys.Stopped.Load():
		return nil, ErrNodeStopped
	}
	t := new(Timer)
	pid, _ := n.sys.Resolve(to)
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
