package process

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// When a service is started again, and when it no longer is.
func TestRestarts(t *testing.T) {
	var r plan
	now := time.Unix(1000, 0)
	for i, want := range []time.Duration{0, 10, 20, 40, 80, 160, 320, 640, 1000, 1000} {
		pause, ok := r.After(now)
		require.True(t, ok, "end %d", i+1)
		require.Equal(t, want*time.Millisecond, pause, "end %d", i+1)
		now = now.Add(pause)
	}
	_, ok := r.After(now)
	require.False(t, ok, "ten are enough in a minute")
	require.Less(t, now.Sub(time.Unix(1000, 0)), 4*time.Second, "so long it takes at least")
	require.Equal(t, 11, r.Total())

	r = plan{}
	for i := range 1000 { // as often as is tolerated
		pause, ok := r.After(now)
		require.True(t, ok, "end %d", i+1)
		require.LessOrEqual(t, pause, time.Second)
		now = now.Add(KeepPeriod / mostEnds)
		require.LessOrEqual(t, r.Recent(), mostEnds)
	}
	now = now.Add(KeepPeriod)
	pause, ok := r.After(now)
	require.True(t, ok)
	require.Zero(t, pause, "after a quiet minute at once")
}
