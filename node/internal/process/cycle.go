package process

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/actornode/actornode/internal/inbox"
	"github.com/actornode/actornode/mailbox"
	"github.com/actornode/actornode/node/internal/waiting"
)

// Waiter is who waits: a process, or, with the call that it is to answer, a method of an active object in
// that process.
type Waiter struct {
	Process *Process
	Own     Ticket
}

// MayWait notes, for Config.DetectCycles, that a process waits for k of to as long as waits says so;
// or returns an error, if to waits for that process, be it by way of others.
func (a *Acting) MayWait(to *Process, k waiting.Kind, waits func() bool) error {
	return a.mayWait(Ticket{}, [2]Waiter{{Process: to}}, k, waits)
}

// MayAwait is MayWait for the answer of t, of the process that it is asked of, or of its method.
func (a *Acting) MayAwait(t Ticket, k waiting.Kind) error {
	return a.MayAwaitOf(Ticket{}, t, k, func() bool { return true })
}

// MayAwaitOf is MayAwait while also waits says so. If own is not zero a method waits which is to answer that.
func (a *Acting) MayAwaitOf(own, t Ticket, k waiting.Kind, waits func() bool) error {
	to := t.Call.Target
	return a.mayWait(own, [2]Waiter{{to, t}, {Process: to}}, k, func() bool { return t.Call.Waiting(t.N) && waits() })
}

func (a *Acting) mayWait(own Ticket, to [2]Waiter, k waiting.Kind, waits func() bool) error {
	p := a.Process
	if a.System.Cycles == nil || p == nil || to[0].Process == nil {
		return nil
	}
	cycle := a.System.Cycles.Add(Waiter{p, own}, to, k, func() bool { return !p.Gone() && waits() })
	if cycle == nil {
		return nil
	}
	var text strings.Builder
	for _, s := range cycle {
		text.WriteString(s.Waiter.who(true) + " " + s.Kind.Verb() + " ")
	}
	return fmt.Errorf("%w: %s%s", ErrCycle, text.String(), cycle[0].Waiter.who(false))
}

// Waited is the end of the wait of a method that is to answer own; of the process if that is zero.
func (a *Acting) Waited(own Ticket) { a.System.Cycles.Remove(Waiter{a.Process, own}) }

// who is w for people: see Process.who.
func (w Waiter) who(both bool) string {
	if w.Own == (Ticket{}) {
		return w.Process.who(both)
	}
	return "a method of " + w.Process.who(both)
}

// spaceAgain is after what time a process whose wait for space is noted looks for a cycle again: space
// may come, and be taken by another, after a wait has been noted that closes one.
const spaceAgain = 10 * time.Millisecond

var errSpaceAgain = errors.New("node: looks again for space")

// awaitSpace waits for space in the mailbox of p, as u says. With Config.DetectCycles it notes so, if
// the mailbox is one of those whose space can be asked for.
func (a *Acting) awaitSpace(p *Process, msg any, u *Patience) error {
	box := p.Cold.Box.(mailbox.Waiter)
	b, ok := box.(*inbox.Bounded)
	if a.System.Cycles == nil || a.Process == nil || u.Noted || !ok {
		return u.await(box, msg)
	}
	defer a.Waited(Ticket{})
	lacks := b.Lacks(msg)
	ctx := u.Ctx
	if ctx == nil {
		ctx = context.Background()
	}
	for {
		if err := a.MayWait(p, waiting.Space, lacks); err != nil {
			if lacks() {
				return err
			}
			return nil // p has taken a message since, and waits now
		}
		soon, cancel := context.WithTimeoutCause(ctx, spaceAgain, errSpaceAgain)
		err := (&Patience{Ctx: soon, From: u.From}).await(box, msg)
		if cancel(); err != errSpaceAgain {
			return err
		}
	}
}

// who is p by its name, with its PID if both says so; by its PID if it has none.
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
