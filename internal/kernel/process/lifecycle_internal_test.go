package process

import (
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"
)

// The path from spawn to death, with a token and without.
func TestWay(t *testing.T) {
	for _, token := range []bool{false, true} {
		var s lifecycle
		if token {
			s.Token()
		}
		require.Equal(t, !token, s.IsPlain())
		require.Equal(t, token, s.HasToken())
		require.False(t, s.IsOver())
		s.End(false, false)
		require.True(t, s.IsOver())
		require.False(t, s.IsDead())
		s.Token()
		require.True(t, s.IsOver(), "a token does not bring it back")
		s.Told()
		s.Told()
		require.True(t, s.IsDead())
		require.True(t, s.IsOver())
		require.False(t, s.IsPlain())
	}
	var s lifecycle
	s.End(true, true)
	require.True(t, s.IsDead(), "there was nobody to tell")
}

// A process lingers from Abandon until Return, in whatever order they come and however often it returns.
func TestLingering(t *testing.T) {
	for what, c := range map[string]struct {
		own   bool
		steps string // a: Abandon, r: Return
		want  int64
	}{
		"it goes on":                   {false, "a", 1},
		"it returns":                   {false, "ar", 0},
		"it returns twice":             {false, "arr", 0},
		"it has returned before":       {false, "ra", 0},
		"before and after":             {false, "rar", 0},
		"it is not abandoned":          {false, "r", 0},
		"it ends by its own code":      {true, "r", 0},
		"it ends so and returns twice": {true, "rr", 0},
	} {
		var s lifecycle
		var lingering atomic.Int64
		s.End(c.own, false)
		for _, step := range c.steps {
			if step == 'a' {
				s.Abandon(&lingering)
			} else {
				s.Return(&lingering)
			}
		}
		require.Equal(t, c.want, lingering.Load(), what)
	}
}

// Both at the same time: nothing lingers at the end, and the count is never below 0.
func TestLingeringAtOnce(t *testing.T) {
	var lingering atomic.Int64
	for range 2000 {
		var s lifecycle
		s.End(false, false)
		var wg sync.WaitGroup
		wg.Go(func() { s.Abandon(&lingering) })
		wg.Go(func() { s.Return(&lingering) })
		require.GreaterOrEqual(t, lingering.Load(), int64(0))
		wg.Wait()
		require.Zero(t, lingering.Load())
	}
}
