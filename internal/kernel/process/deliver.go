package process

import (
	"context"
	"errors"
	"fmt"

	"github.com/actornode/actornode/internal/cause"
	"github.com/actornode/actornode/internal/kernel/calls"
	"github.com/actornode/actornode/mailbox"
	"github.com/actornode/actornode/node/deadletter"
)

// Patience limits how long a send waits for space in a mailbox: until the sender, if it is a process, has exited, and until
// Ctx, if it is not nil, ends.
type Patience struct {
	Ctx   context.Context
	From  *Process
	Noted bool // the sender's wait is noted already, for Config.DetectCycles
}

// why returns the error of a wait for space that ended with err: if Ctx ended it, that of Ctx with its cause.
func (u *Patience) why(err error) error {
	if u.Ctx != nil && u.Ctx.Err() != nil && errors.Is(err, context.Cause(u.Ctx)) {
		return cause.Of(u.Ctx)
	}
	return err
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

// Offer puts msg into a user-defined mailbox, or returns why it cannot; u is nil for a sender that does not wait.
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
		if u.From == p {
			p.System.DeadLetter(deadletter.Letter{Cause: deadletter.MailboxFull, To: p.PID(), Message: msg})
			return ErrOwnMailbox
		}
		a.Block()
		a.Process.WaitsFor(calls.WaitSpace, p.PID())
		var err error
		r, err = a.pushWait(p, msg, u)
		if a.Process.WaitsNoMore(); err != nil {
			return u.why(err)
		}
	}
	switch r {
	case mailbox.Wake:
		p.Runner().Prod(a)
	case mailbox.Dropped:
		return ErrDropped
	case mailbox.Full: // the mailbox has broken its contract
		return ErrNoRoom
	case mailbox.Closed:
		if err := p.System.Undeliverable(p.PID(), msg); err != nil {
			return err
		}
		return ErrNoProcess
	}
	return nil
}

// ErrOwnMailbox is ErrMailboxFull for a process that sends to itself: only it could make space.
var ErrOwnMailbox = fmt.Errorf("%w: a process cannot wait for space in its own mailbox", ErrMailboxFull)

// ErrNoRoom is ErrMailboxFull if waiting would help.
var ErrNoRoom = fmt.Errorf("%w for now", ErrMailboxFull)
