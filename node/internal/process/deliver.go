package process

import (
	"context"
	"fmt"

	"github.com/actornode/actornode/mailbox"
	"github.com/actornode/actornode/node/deadletter"
	"github.com/actornode/actornode/node/internal/waiting"
)

// Patience is how long a send waits for space in a mailbox: until its sender is
// gone, if it is a process, and until ctx ends, if it is not nil.
type Patience struct {
	Ctx   context.Context
	From  *Process
	Noted bool // the wait of the sender is, for Config.DetectCycles
}

// Within returns a context that ends when u does.
func (u *Patience) Within() (ctx context.Context, stop func()) {
	if ctx = u.Ctx; ctx == nil {
		ctx = context.Background()
	}
	if u.From == nil {
		return ctx, func() {}
	}
	ctx, cancel := context.WithCancelCause(ctx)
	gone := context.AfterFunc(u.From.Context(), func() { cancel(ErrExited) })
	return ctx, func() { gone(); cancel(nil) }
}

// Offer puts msg into a mailbox of its own making, or says why not; u is nil for a
// sender that does not wait.
func (p *Process) Offer(a *Acting, msg any, u *Patience) error {
	r := p.Cold.Box.Push(msg)
	if r == mailbox.Full {
		blocks := (*UserMailbox)(p).holdsUp()
		if !blocks || u == nil {
			p.System.DeadLetter(deadletter.Letter{Cause: deadletter.MailboxFull, To: p.PID(), Message: msg})
			if blocks {
				return ErrNoRoom
			}
			return ErrMailboxFull
		}
		a.Block()
		a.Process.WaitsFor(waiting.Space, p.PID())
		var err error
		r, err = a.pushWait(p, msg, u)
		if a.Process.WaitsNoMore(); err != nil {
			return err
		}
	}
	switch r {
	case mailbox.Wake:
		p.Runner().Prod(a)
	case mailbox.Dropped:
		return ErrDropped
	case mailbox.Full: // of a mailbox that does not keep its word
		return ErrNoRoom
	case mailbox.Closed:
		if err := p.System.Undeliverable(p.PID(), msg); err != nil {
			return err
		}
		return ErrNoProcess
	}
	return nil
}

// ErrNoRoom is ErrMailboxFull where waiting would help.
var ErrNoRoom = fmt.Errorf("%w for now", ErrMailboxFull)
