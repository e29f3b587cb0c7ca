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

// await waits for space in b for msg.
func (u *Patience) await(b mailbox.Waiter, msg any) error {
	ctx, stop := u.Within()
	defer stop()
	return b.AwaitRoom(ctx, msg)
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
	for {
		switch p.Cold.Box.Push(msg) {
		case mailbox.Queued:
			return nil
		case mailbox.Wake:
			p.Runner().Prod(a)
			return nil
		case mailbox.Dropped:
			return ErrDropped
		case mailbox.Closed:
			if err := p.System.Undeliverable(p.PID(), msg); err != nil {
				return err
			}
			return ErrNoProcess
		}
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
		err := a.awaitSpace(p, msg, u)
		if a.Process.WaitsNoMore(); err != nil {
			return err
		}
	}
}

// ErrNoRoom is ErrMailboxFull where waiting would help.
var ErrNoRoom = fmt.Errorf("%w for now", ErrMailboxFull)
