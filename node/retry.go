package node

import (
	"context"
	"errors"
	"math/rand/v2"
	"time"

	"github.com/actornode/actornode/internal/cause"
	"github.com/actornode/actornode/internal/kernel/process"
	"github.com/actornode/actornode/internal/kernel/runner"
)

// How long Retry and Repeat wait before they try again: the wait doubles from the first to the last. Those of Repeat are up to
// half as long again, by chance, so that not all callers come at once.
const (
	firstRetry = time.Millisecond
	lastRetry  = 50 * time.Millisecond
	lastRepeat = time.Second
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
// have done what it was asked for: see [Repeat]. If ctx never ends, Retry waits as long as the name is free.
func Retry[R any](ctx context.Context, from Caller, f func() (R, error)) (R, error) {
	return again(ctx, from, f, lastRetry, func(err error) bool { return errors.Is(err, ErrNoName) })
}

// Repeat is [Retry] for a request that may be handled more than once: one that reads, or that sets what is to be. It also calls f
// again if its error is an [*ExitError], because the process, its node or the connection was lost before the answer, or
// [ErrMailboxFull]. It waits in between, for a second and a half at most. Errors that handlers answer with are returned.
func Repeat[R any](ctx context.Context, from Caller, f func() (R, error)) (R, error) {
	return again(ctx, from, f, lastRepeat, func(err error) bool {
		_, lost := errors.AsType[*ExitError](err)
		return lost || errors.Is(err, ErrNoName) || errors.Is(err, ErrMailboxFull)
	})
}

// again calls f until its error is no reason to call it again.
func again[R any](ctx context.Context, from Caller, f func() (R, error), last time.Duration,
	isReason func(error) bool) (R, error) {
	for wait := firstRetry; ; wait = min(2*wait, last) {
		r, err := f()
		if !isReason(err) {
			return r, err
		}
		if last == lastRepeat {
			wait += rand.N(wait / 2)
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
