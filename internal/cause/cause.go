// Package cause returns the cause of a context's end.
package cause

import (
	"context"
	"errors"
)

// Of returns why ctx has ended, or nil if it has not. errors.Is finds the error of the context, [context.Canceled] or
// [context.DeadlineExceeded], and the cause passed when it was canceled.
func Of(ctx context.Context) error {
	err := ctx.Err()
	if err == nil {
		return nil
	}
	why := context.Cause(ctx)
	switch {
	case why == nil || errors.Is(err, why):
		return err
	case errors.Is(why, err): // node.ErrTimeout is a deadline exceeded
		return why
	}
	return &ended{err, why}
}

// ended is the error of a context with the cause of its end.
type ended struct{ err, cause error }

func (e *ended) Error() string { return e.err.Error() + ": " + e.cause.Error() }

// Unwrap returns both.
func (e *ended) Unwrap() []error { return []error{e.err, e.cause} }

// Timeout reports whether a deadline has ended the context, like that of [context.DeadlineExceeded].
func (e *ended) Timeout() bool { return errors.Is(e.err, context.DeadlineExceeded) }
