package process

import (
	"fmt"

	"github.com/actornode/actornode/internal/kernel/calls"
	"github.com/actornode/actornode/internal/mailbox/inbox"
	"github.com/actornode/actornode/mailbox"
)

// Waiter is a waiting process, or a waiting method of an active object in that process, identified by the call that it is to
// answer. Without a process it is a future of others.
type Waiter struct {
	Process *Process
	Own     Ticket
}

// MayAwait notes, for Config.DetectCycles, that a process waits for t, and so for the process or the method called, while
// waits, if not nil, returns true; or returns an error if those wait, directly or indirectly, for this process. If own is not
// zero, the waiter is the method that is to answer own.
func (a *Acting) MayAwait(own, t Ticket, k calls.WaitKind, waits func() bool) error {
	return a.mayWait(own, k, Aim(t, waits))
}

// Aim returns whom t waits for, while waits returns true: a process and its method, or a future of others.
func Aim(t Ticket, waits func() bool) calls.WaitAim[Waiter] {
	to := t.Call.Target
	return calls.WaitAim[Waiter]{To: [2]Waiter{{to, t}, {Process: to}},
		Waits: func() bool { return t.Call.Waiting(t.N) && (waits == nil || waits()) }}
}

func (a *Acting) mayWait(own Ticket, k calls.WaitKind, to calls.WaitAim[Waiter]) error {
	p := a.Process
	if a.System.Cycles == nil || p == nil || to.To[0] == (Waiter{}) {
		return nil
	}
	waits := to.Waits
	to.Waits = func() bool { return !p.Gone() && waits() }
	return CycleError(a.System.Cycles.Add(Waiter{p, own}, k, to))
}

// AwaitsStart notes, for Config.DetectCycles, that a process waits for the start of child, which it has spawned with
// Options.Announce: until then it answers no calls, though it handles messages.
func (a *Acting) AwaitsStart(child *Process) {
	if a.System.Cycles == nil {
		return
	}
	aim := calls.WaitAim[Waiter]{To: [2]Waiter{{Process: child}}, Waits: func() bool { return !child.Gone() }}
	_ = a.mayWait(Ticket{}, calls.WaitStart, aim) // no cycle yet: no process knows the child
}

// Announced ends such a wait for p, if there is one.
func (p *Process) Announced() {
	if g := p.System.Cycles; g != nil && p.Parent != 0 {
		if parent := p.System.Numbered(p.Parent - 1); parent != nil {
			g.Started(Waiter{Process: parent}, Waiter{Process: p})
		}
	}
}

// CycleError describes the waits of a cycle. It returns nil if cycle is nil.
func CycleError(cycle []calls.WaitStep[Waiter]) error {
	if cycle == nil {
		return nil
	}
	return fmt.Errorf("%w: %s", ErrCycle, calls.CycleText(cycle, Waiter.who))
}

// Waited ends the wait of the method that is to answer own, or of the process if own is zero.
func (a *Acting) Waited(own Ticket) { a.System.Cycles.Remove(Waiter{a.Process, own}) }

// who returns a description of w: see Process.who.
func (w Waiter) who(both bool) string {
	switch {
	case w.Process == nil:
		return "others, which"
	case w.Own == (Ticket{}):
		return w.Process.who(both)
	}
	return "a method of " + w.Process.who(both)
}

// pushWait puts msg into the mailbox of p when there is space, within u. With Config.DetectCycles the wait is noted, if the
// mailbox is one that reports how long it lasts.
func (a *Acting) pushWait(p *Process, msg any, u *Patience) (mailbox.Result, error) {
	ctx, stop := u.Within()
	defer stop()
	box := p.Cold.Box.(mailbox.Waiter)
	b, ok := box.(*inbox.Bounded)
	if a.System.Cycles == nil || a.Process == nil || u.Noted || !ok {
		return box.PushWait(ctx, msg)
	}
	defer a.Waited(Ticket{})
	place := b.Join(msg)
	aim := calls.WaitAim[Waiter]{To: [2]Waiter{{Process: p}}, Waits: place.Waits}
	if err := a.mayWait(Ticket{}, calls.WaitSpace, aim); err != nil && place.Leave() {
		return mailbox.Full, err
	}
	return place.Wait(ctx)
}

// who returns p's name, with its PID if both is set, or its PID if it has no name.
func (p *Process) who(both bool) string {
	p.Mu.Lock()
	defer p.Mu.Unlock()
	switch {
	case p.Cold == nil || p.Cold.Name == "":
		return p.PID().String()
	case both:
		return fmt.Sprintf("%s (%v)", p.Cold.Name, p.PID())
	}
	return string(p.Cold.Name)
}
