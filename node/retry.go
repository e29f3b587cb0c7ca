package node

import (
	"context"
	"errors"
	"time"

	"github.com/actornode/actornode/internal/cause"
	"github.com/actornode/actornode/internal/kernel/process"
	"github.com/actornode/actornode/internal/kernel/runner"
)

// How long Retry waits before it tries again: the wait doubles from the first to the second.
const (
	firstRetry = time.Millisecond
	lastRetry  = 50 * time.Millisecond
)

// Retry calls f, which makes a call or sends to a name, again for as long as its error is [ErrNoName], which means that
// nothing has been sent: the name is free before its process is started, and while a supervisor restarts it, on this
// node or on another. It returns any other outcome of f, or, if ctx ends first, the error of ctx and of f.
//
//	left, err := node.Retry(ctx, n, func() (int, error) {
//		return genserver.Call(ctx, n, node.Atom("till"), Withdraw{20})
//	})
//
// A process that exits before it answers is another error ([*ExitError]), and f is not called again: the process may
// have done what it was asked for. If ctx never ends, Retry waits as long as the name is free.
func Retry[R any](ctx context.Context, from Caller, f func() (R, error)) (R, error) {
	for wait := firstRetry; ; wait = min(2*wait, lastRetry) {
		r, err := f()
		if !errors.Is(err, ErrNoName) {
			return r, err
		}
		if ended := pause(ctx, actingOf(from), wait); ended != nil {
			return r, errors.Join(ended, err)
		}
	}
}

// pause waits for a while; the error is that of ctx, or [ErrExited].
func pause(ctx context.Context, a *process.Acting, d time.Duration) (err error) {
	exited := context.Background()
	if a.Process != nil {
		exited = a.Own().Context()
	}
	wait := func() {
		timer := time.NewTimer(d)
		defer timer.Stop()
		select {
		case <-timer.C:
		case <-ctx.Done():
			err = cause.Of(ctx)
		case <-exited.Done():
			err = ErrExited
		}
	}
	if a.Process == nil {
		wait()
		return err
	}
	runner.Aside(a, wait)
	return err
}
