package lifetime

import (
	"runtime"
	"runtime/metrics"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/internal/testkit"
)

// started counts processes that have been started until one has to wait.
func started(p *pacer) (n int, over <-chan struct{}) {
	for over == nil {
		n += lookEvery
		over = p.look()
	}
	return n, over
}

// A caller that starts processes without a pause has to wait for the collector, again and again, and for nothing else.
func TestPace(t *testing.T) {
	p := &pacer{samples: []metrics.Sample{{Name: paced.samples[0].Name}, {Name: paced.samples[1].Name}}}
	for range 5 {
		n, over := started(p)
		require.GreaterOrEqual(t, n+lookEvery, maxBehind*minBytes/ownedBytes)
		testkit.Receive(t, over)
		require.Nil(t, p.look(), "the collector has just run") // this counts some for the next round
	}
}

// A cleanup of the program that blocks does not hold up callers that start processes. The test asserts that by coming
// to its end: otherwise such a caller would wait for ever.
func TestPaceBlockedCleanup(t *testing.T) {
	p := &pacer{samples: []metrics.Sample{{Name: paced.samples[0].Name}, {Name: paced.samples[1].Name}}}
	release, entered := make(chan struct{}), make(chan struct{}, 1000)
	defer close(release)
	for range cap(entered) {
		runtime.AddCleanup(new(struct{ _ [2]*byte }), func(c chan struct{}) { entered <- struct{}{}; <-c }, release)
	}
	runtime.GC()
	testkit.Receive(t, entered)
	_, over := started(p)
	testkit.Receive(t, over)
}
