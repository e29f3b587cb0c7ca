//go:build linux && amd64 && !go1.27 && !actornode_portable && !actornode_no_fiber

package fiber_test

import (
	"runtime"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/internal/sched/fiber"
)

// Locked reports, at any depth of locks and on any goroutine, whether there is a lock, and the quick way agrees with
// the traceback.
func TestLocked(t *testing.T) {
	var p fiber.Pool
	p.Put(&fiber.Fiber{}, p.Take(nil)) // the pool looks for it here
	p.Stop()
	require.True(t, fiber.KnowsLocked(), "Go's runtime keeps it elsewhere")
	var wg sync.WaitGroup
	for k := range 20 {
		wg.Go(func() {
			var me fiber.Thread
			assert.False(t, me.Locked())
			for range k {
				runtime.LockOSThread()
				assert.True(t, me.Locked())
				assert.True(t, fiber.TraceSaysLocked())
				runtime.Gosched()
			}
			for range k {
				assert.True(t, me.Locked())
				runtime.UnlockOSThread()
			}
			assert.False(t, me.Locked())
			assert.False(t, fiber.TraceSaysLocked())
		})
		wg.Go(func() {
			var me fiber.Thread
			for range k * 1000 {
				runtime.LockOSThread()
			}
			me.Unlock()
			assert.False(t, fiber.TraceSaysLocked())
			me.Unlock()
		})
	}
	wg.Wait()
}

func BenchmarkLocked(b *testing.B) {
	var p fiber.Pool
	p.Put(&fiber.Fiber{}, p.Take(nil))
	p.Stop()
	var me fiber.Thread
	for b.Loop() {
		if me.Locked() {
			b.Fatal("nobody has locked it")
		}
	}
}
