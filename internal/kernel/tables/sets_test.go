package tables_test

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/internal/kernel/tables"
	"github.com/actornode/actornode/internal/testkit"
	"github.com/actornode/actornode/wire"
)

// A set of PIDs behaves like a map, and yields its elements in an order of its own.
func TestPIDs(t *testing.T) {
	random := testkit.Rand(t)
	home := wire.NewOrigin(wire.NodeID{Name: "a@h", Creation: 1})
	away := wire.NewOrigin(wire.NodeID{Name: "b@h", Creation: 1})
	for range 50 {
		var s tables.PIDs
		model := make(map[wire.PID]bool)
		most := 1 + random.IntN(40)
		for range 500 {
			from := home
			if random.IntN(3) == 0 {
				from = away
			}
			p := from.PID(uint64(random.IntN(most)))
			require.Equal(t, model[p], s.Has(p))
			if random.IntN(2) == 0 {
				require.Equal(t, !model[p], s.Add(home, p))
				model[p] = true
			} else {
				require.Equal(t, model[p], s.Remove(p))
				delete(model, p)
			}
			require.Equal(t, len(model), s.Len())
		}
		all := slices.Collect(s.All())
		require.Len(t, all, len(model))
		for _, p := range all {
			require.True(t, model[p])
		}
		require.Equal(t, all, slices.Collect(s.All()), "in the same order")
		for range s.All() {
			break
		}
	}
}

func TestPIDsInOrder(t *testing.T) {
	home := wire.NewOrigin(wire.NodeID{Name: "b@h", Creation: 1})
	away := wire.NewOrigin(wire.NodeID{Name: "a@h", Creation: 1})
	var s tables.PIDs
	var want []wire.PID
	for i := range uint64(100) {
		s.Add(home, home.PID(99-i))
		s.Add(home, away.PID(99-i))
		want = append(want, home.PID(i))
	}
	for i := range uint64(100) {
		want = append(want, away.PID(i))
	}
	require.Equal(t, want, slices.Collect(s.All()))
}

func TestAliases(t *testing.T) {
	var a tables.Aliases[string]
	p := new(string)
	require.Nil(t, a.Peek(1))
	a.Add(1, p, false, nil)
	a.Add(2, p, true, nil)
	require.Equal(t, 2, a.Len())
	for range 2 {
		require.Same(t, p, a.Peek(2))
		q, m, how := a.Take(1, "x")
		require.Same(t, p, q)
		require.Equal(t, "x", m)
		require.Equal(t, tables.Active, how)
	}
	q, _, how := a.Take(2, "x")
	require.Same(t, p, q)
	require.Equal(t, tables.Used, how)
	q, _, how = a.Take(2, "x")
	require.Nil(t, q)
	require.Equal(t, tables.Missing, how)

	twice := func(m any) (any, bool) { n, ok := m.(int); return 2 * n, ok }
	for ref, once := range []bool{false, true} {
		a.Add(uint64(10+ref), p, once, twice)
		q, _, how = a.Take(uint64(10+ref), "x")
		require.Nil(t, q)
		require.Equal(t, tables.Refused, how)
		_, m, _ := a.Take(uint64(10+ref), 2)
		require.Equal(t, 4, m)
		_, _, how = a.Take(uint64(10+ref), 2)
		require.Equal(t, map[bool]tables.Taken{false: tables.Active, true: tables.Missing}[once], how)
	}
	require.True(t, a.Remove(10))
	require.False(t, a.Remove(2))
	require.True(t, a.Remove(1))
	require.Zero(t, a.Len())
}
