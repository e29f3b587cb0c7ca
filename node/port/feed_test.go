package port

import (
	"io"
	"net"
	"os"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/node"
)

// piped returns a feed whose pipe the test reads.
func piped(t *testing.T, cfg Config) (f *writeQueue, r *os.File, events chan any) {
	r, w, err := os.Pipe()
	require.NoError(t, err)
	t.Cleanup(func() { r.Close() })
	f, events = feeding(t, cfg, w)
	return f, r, events
}

// feeding is a feed that writes to w.
func feeding(t *testing.T, cfg Config, w stdin) (f *writeQueue, events chan any) {
	cfg.Command = "x"
	cfg, err := cfg.defaults()
	require.NoError(t, err)
	events = make(chan any, 10)
	f = newWriteQueue(&cfg, func(e any) { events <- e })
	done := make(chan struct{})
	go func() { defer close(done); f.run(w) }() // ends with drop
	t.Cleanup(func() { f.drop(w); <-done })
	return f, events
}

func frame(n int) func([]byte) ([]byte, error) {
	return func(b []byte) ([]byte, error) { return append(b, make([]byte, n)...), nil }
}

func TestFeedIsBounded(t *testing.T) {
	f, r, events := piped(t, Config{Queue: 1 << 20, Frame: 1 << 20, Stall: node.Infinity})
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
	f, r, _ := piped(t, Config{Frame: 10, Stall: node.Infinity})
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
	synctest.Test(t, func(t *testing.T) {
		r, w := net.Pipe()
		f, events := feeding(t, Config{Stall: 2 * time.Second}, w)
		require.NoError(t, f.add(frame(1<<20)))
		buf := make([]byte, 32<<10)
		for range 5 { // slow writes are not stalled
			time.Sleep(1900 * time.Millisecond) // by the bubble's clock
			_, err := io.ReadFull(r, buf)
			require.NoError(t, err)
			require.Empty(t, events)
		}
		last := time.Now()
		require.Equal(t, stalled{}, <-events)
		require.LessOrEqual(t, time.Since(last), 4*time.Second, "the deadline is that of one write, in whose middle the reader may stop")
		require.ErrorIs(t, f.add(frame(1)), errOver)
	})
}

func TestFeedOfNobody(t *testing.T) {
	f, r, events := piped(t, Config{Stall: node.Infinity})
	r.Close()
	require.NoError(t, f.add(frame(1)))
	require.Equal(t, closed{stdinClosed}, <-events)
}
