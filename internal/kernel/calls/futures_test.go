package calls_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/internal/kernel/calls"
	"github.com/actornode/actornode/internal/kernel/env"
	"github.com/actornode/actornode/wire"
)

var futureOrigin = wire.NewOrigin(wire.NodeID{Name: "a@h", Creation: 1})

// lend lends the futures 1 to n, whose references have the same numbers.
func lend(n int) *calls.LentFutures[int] {
	l := &calls.LentFutures[int]{}
	l.Init(env.Env{})
	for i := range n {
		l.Lend(i+1, func() wire.Ref { return futureOrigin.RefOf(uint64(i + 1)) })
	}
	return l
}

// Each future that is over is kept for its time, and no timer is left when all are dropped.
func TestExpire(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := lend(3)
		l.Over(futureOrigin.RefOf(1))
		time.Sleep(calls.KeepFutures / 2)
		l.Over(futureOrigin.RefOf(2))
		time.Sleep(calls.KeepFutures/2 - time.Second)
		require.Equal(t, 3, l.Len())
		time.Sleep(2 * time.Second)
		require.Equal(t, 2, l.Len())
		_, ok := l.Ask(futureOrigin.RefOf(1))
		require.False(t, ok)
		time.Sleep(calls.KeepFutures / 2)
		require.Equal(t, 1, l.Len())
		time.Sleep(2 * calls.KeepFutures)
		require.Equal(t, 1, l.Len(), "one that is not over stays")
		l.Over(futureOrigin.RefOf(3))
		time.Sleep(calls.KeepFutures + time.Second)
		require.Zero(t, l.Len(), "the timer begins anew")
	})
}

func TestStop(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := lend(2)
		l.Over(futureOrigin.RefOf(1))
		l.Stop()
		l.Over(futureOrigin.RefOf(2))
		time.Sleep(2 * calls.KeepFutures)
		require.Equal(t, 2, l.Len())
	})
}

func TestMessages(t *testing.T) {
	ref, ok := calls.ReadFutureAsk(calls.MakeFutureAsk(futureOrigin.RefOf(1)))
	require.True(t, ok)
	require.Equal(t, futureOrigin.RefOf(1), ref)
	ref, ok = calls.ReadFutureAsk(wire.Tuple{wire.Atom("$future"), "no reference"})
	require.True(t, ok)
	require.True(t, ref.IsZero())
	for _, other := range []any{nil, 1, wire.Tuple{}, wire.Tuple{"$future", futureOrigin.RefOf(1)},
		wire.Tuple{wire.Atom("$future"), 1, 2}} {
		_, ok := calls.ReadFutureAsk(other)
		require.False(t, ok, "%v", other)
	}
	v, exited, ok := calls.ReadFutureAnswer(calls.MakeFutureValue(1))
	require.True(t, ok && !exited)
	require.Equal(t, 1, v)
	v, exited, ok = calls.ReadFutureAnswer(calls.MakeFutureExit(wire.Atom("gone")))
	require.True(t, ok && exited)
	require.Equal(t, wire.Atom("gone"), v)
	for _, other := range []any{nil, 1, wire.Tuple{wire.AtomOK}, wire.Tuple{wire.AtomError, 1}, wire.Tuple{wire.AtomOK, 1, 2}} {
		_, _, ok := calls.ReadFutureAnswer(other)
		require.False(t, ok, "%v", other)
	}
}
