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

// MayWait notes, for Config.DetectCycles, that a process waits for k of to as long as waits says so;
// or returns an error, if to waits for that process, be it by way of others.
func (a *Acting) MayWait(to *Process, k waiting.Kind, waits func() bool) error {
	p := a.Process
	if a.System.Cycles == nil || p == nil || to == nil {
		return nil
	}
	cycle := a.System.Cycles.Add(p, to, k, func() bool { return !p.Gone() && waits() })
	if cycle == nil {
		return nil
	}
	var text strings.Builder
	for _, s := range cycle {
		text.WriteString(s.Process.who(true) + " " + s.Kind.Verb() + " ")
	}
	return fmt.Errorf("%w: %s%s", ErrCycle, text.String(), p.who(false))
}

// MayAwait is MayWait for the answer of t, of the process that it is asked of.
func (a *Acting) MayAwait(t Ticket, k waiting.Kind) error {
	return a.MayWait(t.Call.Target, k, func() bool { return t.Call.Waiting(t.N) })
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
	defer a.System.Cycles.Remove(a.Process)
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
