package cause_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/internal/cause"
)

var errBudget = errors.New("budget used up")

// budgetError cannot be compared.
type budgetError []string

func (budgetError) Error() string { return "budget" }

type key struct{}

// Of finds the context's error and its cause, whichever way the context ended.
func TestOf(t *testing.T) {
	past := time.Now().Add(-time.Hour)
	for name, c := range map[string]struct {
		ctx  func() (context.Context, context.CancelFunc)
		is   []error
		text string
	}{
		"open":     {func() (context.Context, context.CancelFunc) { return context.WithCancel(context.Background()) }, nil, ""},
		"canceled": {func() (context.Context, context.CancelFunc) { return canceled(nil) }, []error{context.Canceled}, "context canceled"},
		"canceled with a cause": {func() (context.Context, context.CancelFunc) { return canceled(errBudget) },
			[]error{context.Canceled, errBudget}, "context canceled: budget used up"},
		"canceled with a cause that cannot be compared": {func() (context.Context, context.CancelFunc) { return canceled(budgetError{"a"}) },
			[]error{context.Canceled}, "context canceled: budget"},
		"canceled with a deadline": {func() (context.Context, context.CancelFunc) { return canceled(context.DeadlineExceeded) },
			[]error{context.Canceled, context.DeadlineExceeded}, "context canceled: context deadline exceeded"},
		"below": {func() (context.Context, context.CancelFunc) {
			ctx, stop := canceled(errBudget)
			return context.WithValue(ctx, key{}, 1), stop
		}, []error{context.Canceled, errBudget}, "context canceled: budget used up"},
		"late": {func() (context.Context, context.CancelFunc) { return context.WithDeadline(context.Background(), past) },
			[]error{context.DeadlineExceeded}, "context deadline exceeded"},
		"late with a cause": {func() (context.Context, context.CancelFunc) {
			return context.WithDeadlineCause(context.Background(), past, errBudget)
		}, []error{context.DeadlineExceeded, errBudget}, "context deadline exceeded: budget used up"},
	} {
		t.Run(name, func(t *testing.T) {
			ctx, stop := c.ctx()
			defer stop()
			err := cause.Of(ctx)
			if len(c.is) == 0 {
				require.NoError(t, err)
				return
			}
			for _, is := range c.is {
				require.ErrorIs(t, err, is)
			}
			require.EqualError(t, err, c.text)
			late, ok := err.(interface{ Timeout() bool })
			require.Equal(t, ctx.Err() == context.DeadlineExceeded, ok && late.Timeout())
		})
	}
}

func canceled(why error) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancelCause(context.Background())
	cancel(why)
	return ctx, func() {}
}
