package tables_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/internal/kernel/tables"
	"github.com/actornode/actornode/wire"
)

// Entries that are over are kept for a limited time and in a limited number; the others are kept.
func TestLasting(t *testing.T) {
	home := wire.NewOrigin(wire.NodeID{Name: "a@h", Creation: 1})
	minted := uint64(0)
	mint := func() wire.Ref { minted++; return home.RefOf(minted) }
	l := tables.Lasting[int]{Keep: time.Minute, Most: 3, Asks: 2}
	now := time.Unix(1000, 0)
	_, ok := l.Ask(home.RefOf(1))
	require.False(t, ok)
	require.False(t, l.Over(home.RefOf(1), now), "nobody's")
	var refs []wire.Ref
	for i := range 6 {
		ref, fresh := l.Lend(i, mint)
		require.True(t, fresh)
		again, fresh := l.Lend(i, mint)
		require.False(t, fresh)
		require.Equal(t, ref, again)
		refs = append(refs, ref)
	}
	for range 2 {
		x, ok := l.Ask(refs[5])
		require.True(t, ok)
		require.Equal(t, 5, x)
	}
	_, ok = l.Ask(refs[5])
	require.False(t, ok, "too often")
	x, ok := l.Find(refs[5])
	require.True(t, ok)
	require.Equal(t, 5, x)
	require.True(t, l.Over(refs[0], now))
	for i := 1; i < 5; i++ {
		require.False(t, l.Over(refs[i], now.Add(time.Duration(i)*time.Second)))
	}
	require.Equal(t, 4, l.Len(), "three that are over, and one that is not")
	_, ok = l.Find(refs[1])
	require.False(t, ok)
	next, more := l.Expire(now.Add(62 * time.Second))
	require.True(t, more)
	require.Equal(t, time.Second, next)
	require.Equal(t, 3, l.Len())
	_, more = l.Expire(now.Add(time.Hour))
	require.False(t, more)
	require.Equal(t, 1, l.Len())
	ref, fresh := l.Lend(0, mint)
	require.True(t, fresh)
	require.True(t, l.Over(ref, now.Add(time.Hour)))
}
