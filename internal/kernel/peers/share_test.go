package peers

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// The reader handles batches until that takes long compared with reading them. Then workers do, for a period that
// doubles each time, and then the reader tries again.
func TestShare(t *testing.T) {
	for _, unit := range []time.Duration{time.Nanosecond, time.Microsecond, time.Millisecond} { // machines of any speed
		var s share
		batch := func(each time.Duration) (mine bool) {
			s.read(31*100*unit, 31)
			if mine = s.next(); mine {
				s.handled(32*each*unit, 32)
			}
			return mine
		}
		for range 100 {
			require.True(t, batch(100*costly))
		}
		tries, since, want := 0, 0, 1
		for range 10 * mostPause {
			since++
			if !batch(100*costly + 1) {
				continue
			}
			if tries++; tries > 1 {
				require.Equal(t, want, since)
				want = min(2*want, mostPause)
			}
			since = 0
		}
		require.Equal(t, mostPause, want)
		for !batch(10) {
		}
		require.True(t, batch(10))
		require.Zero(t, s.pause)
	}
}

// A pause of the reader while it read changes little, and the share learns that reading has become slower.
func TestShareLearnsReading(t *testing.T) {
	var s share
	s.read(3100, 31)
	s.read(time.Hour, 31)
	require.LessOrEqual(t, s.reading, 113*time.Nanosecond)
	for range 50 {
		s.read(31_000, 31)
	}
	require.InDelta(t, 1000, s.reading, 50)
	for range 50 {
		s.read(3100, 31)
	}
	require.InDelta(t, 100, s.reading, 10)
}
