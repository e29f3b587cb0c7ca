package process

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/internal/testkit"
	"github.com/actornode/actornode/wire"
)

var (
	origin = wire.NewOrigin(wire.NodeID{Name: "b@h", Creation: 1})
	at     = wire.At{Name: "x", Node: "b@h"}
	none   = func(wire.PID) bool { return false }
)

// An unlink before the answer cancels the answer, and a link after it makes the answer count again.
func TestUnlinkedMeanwhile(t *testing.T) {
	all := make(nameLinks)
	l := all.Ask(at, 0, none)
	pid, ok := all.Remove(at)
	require.True(t, ok)
	require.True(t, pid.IsZero())
	require.False(t, all.Answered(at, l, origin.PID(5), true))
	require.True(t, all.Find(at).IsZero())

	l = all.Ask(at, 0, none)
	require.True(t, all.Answered(at, l, origin.PID(5), true))
	require.True(t, l.Wanted())
	require.Equal(t, origin.PID(5), all.Find(at))
	pid, ok = all.Remove(at)
	require.True(t, ok)
	require.Equal(t, origin.PID(5), pid)
	require.False(t, l.Wanted())
	_, ok = all.Remove(at)
	require.False(t, ok)
}

// If nobody has the name, the link is forgotten with the last answer; an exit may have come before.
func TestNobody(t *testing.T) {
	all := make(nameLinks)
	first, second := all.Ask(at, 0, none), all.Ask(at, 0, none)
	require.Same(t, first, second)
	require.True(t, all.Answered(at, first, wire.PID{}, false))
	require.Len(t, all, 1)
	require.True(t, all.Answered(at, first, wire.PID{}, false))
	require.Empty(t, all)
	l := all.Ask(at, 0, none)
	require.True(t, nameLinks(nil).Answered(at, l, wire.PID{}, false))
}

// The number of remembered links is bounded by the existing links.
func TestForgets(t *testing.T) {
	r := testkit.Rand(t)
	all := make(nameLinks)
	linked := make(map[wire.PID]bool)
	most := 0
	for i := range 5000 {
		at := wire.At{Name: wire.Atom(rune(i)), Node: "b@h"}
		l := all.Ask(at, len(linked), func(pid wire.PID) bool { return linked[pid] })
		all.Answered(at, l, origin.PID(uint64(i)), true)
		if r.IntN(3) == 0 {
			linked[origin.PID(uint64(i))] = true
		}
		for pid := range linked {
			if r.IntN(50) == 0 {
				delete(linked, pid)
			}
		}
		most = max(most, len(linked))
		require.LessOrEqual(t, len(all), 2*most+16)
		for pid := range linked {
			found := false
			for at := range all {
				found = found || all.Find(at) == pid
			}
			require.True(t, found, "%v is linked and forgotten", pid)
		}
	}
}
