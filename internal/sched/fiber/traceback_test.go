//go:build !actornode_portable

package fiber_test

import (
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/internal/sched/fiber"
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

type marked struct{ _ int }

//go:noinline
func (m *marked) call(mark fiber.Mark, f func()) { f() }

// deep calls f at some depth.
func deep(depth int, f func()) {
	if depth > 0 {
		deep(depth-1, f)
		return
	}
	f()
}

// A goroutine finds the mark that it has been given, at any depth, and no other.
func TestMark(t *testing.T) {
	var one, two marked
	one.call(fiber.MarkOf(&one), func() {
		for _, depth := range []int{0, 10, 1000} {
			deep(depth, func() {
				require.True(t, fiber.Marked(&one))
				require.False(t, fiber.Marked(&two))
			})
		}
		var wg sync.WaitGroup
		wg.Go(func() { assert.False(t, fiber.Marked(&one), "another goroutine") })
		wg.Wait()
	})
	require.False(t, fiber.Marked(&one))
}
