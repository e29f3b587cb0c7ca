package executor

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/actornode/actornode/sched"
)

func TestStats(t *testing.T) {
	bubble(t, Config{Workers: 2, Stages: 3, Blocked: 10 * time.Millisecond}, func(t *testing.T, p *Pool) {
		assert.Equal(t, sched.Stats{Workers: 2, Stages: 3, Goroutines: 1}, p.Stats(), "the watcher")
		release := make(chan struct{})
		blocker := newActor(p, 1, func(*Worker, any) { holdUp(release) })
		blocker.send(nil, "block")
		synctest.Wait()
		assert.Equal(t, 1, p.Stats().Active)
		assert.Equal(t, 2, p.Stats().Goroutines)
		pass(30 * time.Millisecond)
		s := p.Stats()
		assert.Equal(t, 1, s.DetachedTurns)
		assert.EqualValues(t, 1, s.Blocked)
		close(release)
		synctest.Wait()
		s = p.Stats()
		assert.Zero(t, s.DetachedTurns)
		assert.Zero(t, s.Active)
		assert.LessOrEqual(t, s.Goroutines, 1+2+maxSpare, "idle workers are kept")
	})
}

// A busy stage that gives work away counts it.
func TestStatsShared(t *testing.T) {
	bubble(t, Config{Workers: 2, Stages: 2}, func(t *testing.T, p *Pool) {
		for range 64 {
			newActor(p, 0, func(*Worker, any) { work(time.Millisecond) }).send(nil, "work")
		}
		synctest.Wait()
		pass(200 * time.Millisecond)
		assert.Positive(t, p.Stats().Shared)
	})
}
