package executor

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/sched"
)

// held is a scheduler that runs what it was given when the test says so.
type held chan sched.Runnable

func (h held) Schedule(r sched.Runnable) { h <- r }

// Stop waits for the tasks that a scheduler has been given and has not run yet; tasks woken later are not run.
func TestStopOfDriven(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, by := New(Config{}), make(held, 10)
		p.Start()
		handled := 0
		a := &actor{pool: p, name: "driven", budget: 1, receive: func(*Worker, any) { handled++ }}
		a.Adopt(a, p.NewDriven(by), false)
		a.send(nil, "one")
		a.send(nil, "two")
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		require.ErrorIs(t, p.Stop(ctx), context.DeadlineExceeded, "the scheduler has not run it")
		r := <-by
		for r.Run() {
		}
		require.False(t, r.Run(), "nothing is due")
		require.Equal(t, 2, handled)
		require.NoError(t, p.Stop(t.Context()))

		a.send(nil, "three")
		p.Look(&a.Entity, func(int, bool, bool) {})
		synctest.Wait()
		require.Empty(t, by, "a pool that has ended asks for nothing")
		require.False(t, r.Run())
		require.NoError(t, p.Stop(t.Context()))
		require.Equal(t, 2, handled)
		require.Zero(t, p.live+p.due)
	})
}
