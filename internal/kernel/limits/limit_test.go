package limits_test

import (
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/internal/kernel/limits"
)

func TestLimit(t *testing.T) {
	l := limits.NewLimit("connections", 3)
	require.True(t, l.Take(2))
	require.False(t, l.Take(2), "only one is left")
	require.True(t, l.Take(1))
	require.Equal(t, limits.Use{Name: "connections", Max: 3, Used: 3, Refused: 1}, l.Use())
	require.False(t, l.Over())
	l.Add(2)
	require.True(t, l.Over())
	l.Give(5)
	l.Refuse()
	require.Equal(t, limits.Use{Name: "connections", Max: 3, Used: 0, Refused: 2}, l.Use())
	require.EqualValues(t, 3, l.Max())
	require.EqualValues(t, 2, l.Refused())
}

func TestNoLimit(t *testing.T) {
	l := limits.NewLimit("bytes", 0)
	require.True(t, l.Take(1<<30))
	require.False(t, l.Over())
	require.EqualValues(t, 1<<30, l.Used())
}

// However many take at the same time, never more than the limit is held.
func TestTogether(t *testing.T) {
	const most, takers, rounds = 5, 8, 2000
	l := limits.NewLimit("tokens", most)
	var wg sync.WaitGroup
	for range takers {
		wg.Go(func() {
			for range rounds {
				if l.Take(1) {
					if held := l.Used(); held > most+takers { // including those about to be refused
						t.Errorf("%d are held of %d", held, most)
					}
					l.Give(1)
				}
			}
		})
	}
	wg.Wait()
	require.Zero(t, l.Used())
}
