package process

import (
	"github.com/actornode/actornode/internal/mailbox/inbox"
	"github.com/actornode/actornode/mailbox"

	"github.com/actornode/actornode/wire"
)

// Timers returns the timers that send to p, or nil if p is gone, or the node stops.
func (p *Process) Timers() *Timers {
	p.Mu.Lock()
	defer p.Mu.Unlock()
	if p.Gone() || p.System.Stopped.Load() { // Stop may have looked for timers already
		return nil
	}
	k := p.ColdPart()
	if k.Timers == nil {
		k.Timers = New((*timed)(p), p.System.Env, &p.System.Timers)
	}
	return k.Timers
}

// EndTimers ends all timers of p because the node stops, without dead letters.
func (p *Process) EndTimers() {
	p.Mu.Lock()
	defer p.Mu.Unlock()
	if p.Cold != nil && p.Cold.Timers != nil {
		p.Cold.Timers.End()
	}
}

// timed adapts a process to TimerOwner.
type timed Process

// Waits implements TimerOwner, like the other methods.
func (p *timed) Waits() bool { return p.Boxed && (*UserMailbox)(p).holdsUp() }

// TryPush puts msg into a user-defined mailbox.
func (p *timed) TryPush(msg any) mailbox.Result { return p.Cold.Box.Push(msg) }

// Pushed handles the result of TryPush.
func (p *timed) Pushed(r mailbox.Result, msg any) {
	p.System.Traces().Message(wire.PID{}, (*Process)(p).PID(), msg)
	(*UserMailbox)(p).pushed(&p.System.Plain, r, msg)
}

// Put adds msg without waiting.
func (p *timed) Put(msg any) {
	q := (*Process)(p)
	msg, own := q.System.Traces().Fired(q.PID(), msg)
	if !own {
		var err error
		if msg, err = q.Shown(q.System.Traces(), wire.PID{}, msg); err != nil { // copied before, and changed since
			q.System.Undeliverable(q.PID(), msg)
			return
		}
	}
	q.Intake().Try(&inbox.Node{Msg: msg})
}
