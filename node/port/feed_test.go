package port

import (
	"io"
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// piped is a feed whose reader the test is.
func piped(t *testing.T, cfg Config) (f *writeQueue, r *os.File, events chan any) {
	cfg.Command = "x"
	cfg, err := cfg.defaults()
	require.NoError(t, err)
	r, w, err := os.Pipe()
	require.NoError(t, err)
	events = make(chan any, 10)
	f = newWriteQueue(&cfg, func(e any) { events <- e })
	done := make(chan struct{})
	go func() { defer close(done); f.run(w) }() // ends with drop
	t.Cleanup(func() { f.drop(w); <-done; r.Close() })
	return f, r, events
}

func frame(n int) func([]byte) ([]byte, error) {
	return func(b []byte) ([]byte, error) { return append(b, make([]byte, n)...), nil }
}

func TestFeedIsBounded(t *testing.T) {
	f, r, events := piped(t, Config{Queue: 1 << 20, Frame: 1 << 20})
	for !f.full() {
		require.NoError(t, f.add(frame(10_000)))
	}
	n, waiting := f.stats()
	require.GreaterOrEqual(t, n*(10_000+header), uint64(1<<20))
	require.GreaterOrEqual(t, waiting, 1<<20-1<<16, "a pipe holds the rest")
	require.Less(t, waiting, 1<<20+11_000)
	read := make(chan int64, 1)
	go func() { n, _ := io.Copy(io.Discard, r); read <- n }() // ends with the feed
	require.Equal(t, queueHasSpace{}, <-events)
	require.False(t, f.full())
	f.finish()
	require.EqualValues(t, n*(10_000+header), <-read)
	require.ErrorIs(t, f.add(frame(1)), errOver)
	require.Empty(t, events)
}

func TestFeedRefusesLargeFrames(t *testing.T) {
	f, r, _ := piped(t, Config{Frame: 10})
	require.ErrorIs(t, f.add(frame(11)), ErrFrame)
	failed := io.ErrNoProgress
	require.Equal(t, failed, f.add(func(b []byte) ([]byte, error) { return append(b, "half"...), failed }))
	require.NoError(t, f.add(frame(10)))
	f.finish()
	b, err := io.ReadAll(r)
	require.NoError(t, err)
	require.Equal(t, framed(make([]byte, 10)), b)
}

func TestFeedStalls(t *testing.T) {
	f, r, events := piped(t, Config{Stall: 2 * time.Second})
	require.NoError(t, f.add(frame(1<<20)))
	buf := make([]byte, 32<<10)
	for range 5 { // slow is not stalled
		_, err := io.ReadFull(r, buf)
		require.NoError(t, err)
		require.Empty(t, events)
	}
	require.Equal(t, stalled{}, <-events)
	require.ErrorIs(t, f.add(frame(1)), errOver)
}

func TestFeedOfNobody(t *testing.T) {
	f, r, events := piped(t, Config{})
	r.Close()
	require.NoError(t, f.add(frame(1)))
	require.Equal(t, closed{stdinClosed}, <-events)
}
