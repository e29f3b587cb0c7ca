package loglimit

import (
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/internal/testkit"
)

// The limiter agrees with a model that remembers every line: no second has more lines of a kind than the limit, and the
// count misses no line.
func TestLimiter(t *testing.T) {
	g := testkit.Rand(t)
	for range 200 {
		lines := 1 + g.IntN(5)
		l := newLimiter(lines, 8)
		now := time.Unix(1000, 0)
		written := map[string][]time.Time{}
		want, told := uint64(0), uint64(0)
		for range 500 {
			now = now.Add(time.Duration(g.IntN(400)) * time.Millisecond)
			if g.IntN(10) == 0 {
				now = now.Add(3 * window)
			}
			message := fmt.Sprint("kind ", strings.Repeat("x", g.IntN(4)), g.IntN(1000))
			key := strings.TrimRight(message, "0123456789")
			if left, ok := l.admit(slog.LevelWarn, message, now); ok {
				written[key] = append(written[key], now)
				told += left
			} else {
				want++
			}
			if g.IntN(5) == 0 {
				for _, k := range l.over(now) {
					require.GreaterOrEqual(t, now.Sub(k.begun), 2*window)
					told += k.left
				}
			}
			require.LessOrEqual(t, len(l.kinds), l.most+1)
		}
		for _, k := range l.over(time.Time{}) {
			told += k.left
		}
		require.Equal(t, want, told)
		require.Zero(t, l.pending)
		require.Len(t, written, 4, "numbers make no kinds")
		for _, at := range written { // windows begin with a line: at most two meet in any second
			for i := range at {
				if j := i + 2*lines; j < len(at) {
					require.GreaterOrEqual(t, at[j].Sub(at[i]), window)
				}
			}
		}
	}
}

// Messages that contain text of strangers do not create kinds without end.
func TestLimiterForgetsKinds(t *testing.T) {
	l := newLimiter(2, 8)
	now := time.Unix(1000, 0)
	name := func(i int) string { return strings.Repeat("x", i) }
	n := 0
	for i := range 1000 {
		if _, ok := l.admit(slog.LevelWarn, name(i), now); ok {
			n++
		}
	}
	require.Equal(t, 8+2, n, "eight kinds, and all others as one")
	require.Len(t, l.kinds, 8+1)
	now = now.Add(window)
	left, ok := l.admit(slog.LevelWarn, name(5000), now)
	require.True(t, ok)
	require.Zero(t, left, "there is space for this kind now")
	require.Len(t, l.over(time.Time{}), 1)
}

func TestLimiterWhenTheClockIsSetBack(t *testing.T) {
	l := newLimiter(1, 8)
	now := time.Unix(1000, 0)
	_, ok := l.admit(slog.LevelWarn, "x", now)
	require.True(t, ok)
	_, ok = l.admit(slog.LevelWarn, "x", now)
	require.False(t, ok)
	left, ok := l.admit(slog.LevelWarn, "x", now.Add(-time.Hour))
	require.True(t, ok)
	require.EqualValues(t, 1, left)
}
