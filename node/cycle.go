package node

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

// mayWait notes, for Config.DetectCycles, that a process waits for k of to as long as waits says so;
// or returns an error, if to waits for that process, be it by way of others.
func (a *acting) mayWait(to *proc, k waiting.Kind, waits func() bool) error {
	p := a.p
	if a.node.cycles == nil || p == nil || to == nil {
		return nil
	}
	cycle := a.node.cycles.Add(p, to, k, func() bool { return !p.gone() && waits() })
	if cycle == nil {
		return nil
	}
	var text strings.Builder
	for _, s := range cycle {
		text.WriteString(s.Process.who(true) + " " + s.Kind.Verb() + " ")
	}
	return fmt.Errorf("%w: %s%s", ErrCycle, text.String(), p.who(false))
}

// mayAwait is mayWait for the answer of t, of the process that it is asked of.
func (a *acting) mayAwait(t ticket, k waiting.Kind) error {
	return a.mayWait(t.p.target, k, func() bool { return t.p.Waiting(t.n) })
}

// spaceAgain is after what time a process whose wait for space is noted looks for a cycle again: space
// may come, and be taken by another, after a wait has been noted that closes one.
const spaceAgain = 10 * time.Millisecond

var errSpaceAgain = errors.New("node: looks again for space")

// awaitSpace waits for space in the mailbox of p, as u says. With Config.DetectCycles it notes so, if
// the mailbox is one of those whose space can be asked for.
func (a *acting) awaitSpace(p *proc, msg any, u *patience) error {
	box := p.cold.box.(mailbox.Waiter)
	b, ok := box.(*inbox.Bounded)
	if a.node.cycles == nil || a.p == nil || u.noted || !ok {
		return u.await(box, msg)
	}
	defer a.node.cycles.Remove(a.p)
	lacks := b.Lacks(msg)
	ctx := u.ctx
	if ctx == nil {
		ctx = context.Background()
	}
	for {
		if err := a.mayWait(p, waiting.Space, lacks); err != nil {
			if lacks() {
				return err
			}
			return nil // p has taken a message since, and waits now
		}
		soon, cancel := context.WithTimeoutCause(ctx, spaceAgain, errSpaceAgain)
		err := (&patience{ctx: soon, from: u.from}).await(box, msg)
		if cancel(); err != errSpaceAgain {
			return err
		}
	}
}

// who is p by its name, with its PID if both says so; by its PID if it has none.
func (p *proc) who(both bool) string {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch {
	case p.cold == nil || p.cold.name == "":
		return p.pid().String()
	case both:
		return fmt.Sprintf("%s (%v)", p.cold.name, p.pid())
	}
	return string(p.cold.name)
}
