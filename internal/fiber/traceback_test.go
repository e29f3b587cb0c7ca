//go:build !actornode_portable

package fiber_test

import (
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/internal/fiber"
)

// The goroutine that does a fiber's job is found among all.
func TestTraceback(t *testing.T) {
	var p fiber.Pool
	defer p.Stop()
	release := make(chan struct{})
	var busy []*fiber.Fiber
	var wg sync.WaitGroup
	for range 3 {
		var home fiber.Fiber
		inside := make(chan struct{})
		f := p.Take(&step{next: &home, run: func() { // as foreign code may block
			close(inside)
			<-release
		}})
		busy = append(busy, f)
		wg.Go(func() {
			home.To(f)
			p.Put(&home, f)
		})
		<-inside
	}
	for _, f := range busy {
		require.Contains(t, string(fiber.Traceback(0, f.ID())), "fiber_test.TestTraceback.func")
	}
	require.Empty(t, fiber.Traceback(0, 1<<60))
	require.Contains(t, string(fiber.Traceback(fiber.GoroutineID(), 0)), "fiber_test.TestTraceback(")
	close(release)
	wg.Wait()
}
