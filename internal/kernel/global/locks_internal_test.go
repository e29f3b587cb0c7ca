package global

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/internal/kernel/tables"
	"github.com/actornode/actornode/wire"
)

// The end of a process releases all its locks and no others. A resource that several processes hold under one requester
// is locked until the last of them has ended. A process that holds nothing is not watched.
func TestLocksOfTheDead(t *testing.T) {
	self := wire.NewOrigin(wire.NodeID{Name: "a@host", Creation: 1})
	m := New(Config{Self: "a@host", Creation: 1, Locker: self.PID(1), Registrar: self.PID(2), Names: &tables.GlobalNames{},
		Rand: func(int) int { return 0 }})
	a, b := self.PID(11), self.PID(12)
	for i := range 5 {
		require.True(t, m.setLock(i, "a", a))
	}
	require.True(t, m.setLock("of b", "b", b))
	require.True(t, m.setLock("of both", "ab", a))
	require.True(t, m.setLock("of both", "ab", b))
	require.False(t, m.setLock(3, "b", b))
	watching := func() (all []wire.PID) {
		for _, x := range m.Take() {
			switch x.Kind {
			case Watch:
				all = append(all, x.PID)
			case Unwatch:
				all = slices.DeleteFunc(all, func(p wire.PID) bool { return p == x.PID })
			}
		}
		return all
	}
	require.Equal(t, []wire.PID{a, b}, watching())
	m.Gone(a)
	for i := range 5 {
		require.False(t, m.isLocked(i), "resource %d", i)
	}
	require.True(t, m.isLocked("of b"))
	require.True(t, m.isLocked("of both"))
	m.delLock("of b", "b", b, false)
	require.Contains(t, m.watched, b)
	m.Gone(b)
	require.Zero(t, m.locks.all.Len())
	require.Empty(t, m.watched)
}
