package futures_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/internal/kernel/env"
	"github.com/actornode/actornode/node/internal/futures"
	"github.com/actornode/actornode/wire"
)

var origin = wire.NewOrigin(wire.NodeID{Name: "a@h", Creation: 1})

// lend lends the futures 1 to n, whose references have the same numbers.
func lend(n int) *futures.Lent[int] {
	l := &futures.Lent[int]{}
	l.Init(env.Env{})
	for i := range n {
		l.Lend(i+1, func() wire.Ref { return origin.RefOf(uint64(i + 1)) })
	}
	return l
}

// Each of those that are over is kept for its time, and no timer is left when all are dropped.
func TestExpire(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := lend(3)
		l.Over(origin.RefOf(1))
		time.Sleep(futures.Keep / 2)
		l.Over(origin.RefOf(2))
		time.Sleep(futures.Keep/2 - time.Second)
		require.Equal(t, 3, l.Len())
		time.Sleep(2 * time.Second)
		require.Equal(t, 2, l.Len())
		_, ok := l.Ask(origin.RefOf(1))
		require.False(t, ok)
		time.Sleep(futures.Keep / 2)
		require.Equal(t, 1, l.Len())
		time.Sleep(2 * futures.Keep)
		require.Equal(t, 1, l.Len(), "one that is not over stays")
		l.Over(origin.RefOf(3))
		time.Sleep(futures.Keep + time.Second)
		require.Zero(t, l.Len(), "the timer begins anew")
	})
}

func TestStop(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := lend(2)
		l.Over(origin.RefOf(1))
		l.Stop()
		l.Over(origin.RefOf(2))
		time.Sleep(2 * futures.Keep)
		require.Equal(t, 2, l.Len())
	})
}

func TestMessages(t *testing.T) {
	ref, ok := futures.ReadAsk(futures.MakeAsk(origin.RefOf(1)))
	require.True(t, ok)
	require.Equal(t, origin.RefOf(1), ref)
	ref, ok = futures.ReadAsk(wire.Tuple{wire.Atom("$future"), "no reference"})
	require.True(t, ok)
	require.True(t, ref.IsZero())
	for _, other := range []any{nil, 1, wire.Tuple{}, wire.Tuple{"$future", origin.RefOf(1)},
		wire.Tuple{wire.Atom("$future"), 1, 2}} {
		_, ok := futures.ReadAsk(other)
		require.False(t, ok, "%v", other)
	}
	v, exited, ok := futures.ReadAnswer(futures.MakeValue(1))
	require.True(t, ok && !exited)
	require.Equal(t, 1, v)
	v, exited, ok = futures.ReadAnswer(futures.MakeExit(wire.Atom("gone")))
	require.True(t, ok && exited)
	require.Equal(t, wire.Atom("gone"), v)
	for _, other := range []any{nil, 1, wire.Tuple{wire.OK}, wire.Tuple{wire.Error, 1}, wire.Tuple{wire.OK, 1, 2}} {
		_, _, ok := futures.ReadAnswer(other)
		require.False(t, ok, "%v", other)
	}
}
