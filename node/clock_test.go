package node

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

// The clock is right at once and at any time, and a second after the wall's has been set.
func TestClock(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var c clock
		born := time.Now()
		for _, d := range []time.Duration{0, 1, time.Second, time.Millisecond, time.Hour, time.Second / 2} {
			time.Sleep(d)
			require.Equal(t, time.Now().UnixNano(), c.now(born))
		}
		c.ahead.Add(int64(time.Hour))
		require.NotEqual(t, time.Now().UnixNano(), c.now(born))
		time.Sleep(time.Second + 1)
		require.Equal(t, time.Now().UnixNano(), c.now(born))
	})
}
