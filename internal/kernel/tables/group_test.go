package tables_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/internal/kernel/tables"
)

type member struct {
	number uint64
	gone   bool
}

func (m *member) Number() uint64 { return m.number }
func (m *member) Gone() bool     { return m.gone }

// Each member is told once, in order; members that have exited are forgotten, and are never many.
func TestGroup(t *testing.T) {
	var g tables.Group[*member]
	told := func() (numbers []uint64) {
		g.Each(func(m *member) { numbers = append(numbers, m.number) })
		return numbers
	}
	require.Empty(t, told())
	var all []*member
	for i := range 5 {
		m := &member{number: uint64(5 - i)}
		all = append(all, m)
		g.Add(m)
		g.Add(m)
	}
	require.Equal(t, []uint64{1, 2, 3, 4, 5}, told())
	g.Remove(all[0])
	all[1].gone = true
	require.Equal(t, 4, g.Len())
	require.Equal(t, []uint64{1, 2, 3}, told())
	require.Equal(t, 3, g.Len())

	for i := range 10000 {
		g.Add(&member{number: uint64(i + 10), gone: true})
		require.LessOrEqual(t, g.Len(), 2*3+64)
	}
}
