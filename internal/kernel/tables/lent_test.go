package tables_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/internal/kernel/tables"
	"github.com/actornode/actornode/wire"
)

// A value has one reference; entries that are over are dropped before they outnumber the others.
func TestLent(t *testing.T) {
	var l tables.Lent[int]
	home := wire.NewOrigin(wire.NodeID{Name: "a@h", Creation: 1})
	minted := uint64(0)
	mint := func() wire.Ref { minted++; return home.RefOf(minted) }
	since := 0 // the entries below are over
	over := func(x int) bool { return x < since }
	_, ok := l.Find(home.RefOf(1))
	require.False(t, ok)
	first := l.Lend(0, mint, over)
	require.Equal(t, first, l.Lend(0, mint, over))
	x, ok := l.Find(first)
	require.True(t, ok)
	require.Zero(t, x)
	x, ok = l.Take(first)
	require.True(t, ok)
	require.Zero(t, x)
	_, ok = l.Take(first)
	require.False(t, ok)
	for i := range 10_000 {
		l.Lend(i, mint, over)
		since = i - 10
		require.LessOrEqual(t, l.Len(), 64)
	}
	since = 0
	for i := 10_000; i < 11_000; i++ { // none is over
		l.Lend(i, mint, over)
	}
	require.GreaterOrEqual(t, l.Len(), 1000)
	since = 11_000
	for i := 11_000; i < 13_000; i++ {
		l.Lend(i, mint, over)
		since = i
	}
	require.LessOrEqual(t, l.Len(), 64)
}
