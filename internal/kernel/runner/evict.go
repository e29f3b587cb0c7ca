package runner

import (
	"context"
	"sync/atomic"

	"github.com/actornode/actornode/internal/cause"
	"github.com/actornode/actornode/internal/kernel/process"
	"github.com/actornode/actornode/internal/sched/executor"
)

// Evict, called by a, moves the processes on closed stages to others, all those of one stage to the same: processes placed
// beside each other stay together. Those that are being moved already go to their destination. Evict returns when nothing is
// left there, or when ctx ends: then each remaining process moves when its turn has ended. The acting process moves when its
// own turn has ended; Evict does not wait for it. closed reports whether a stage is closed.
func Evict(ctx context.Context, a *process.Acting, closed func(*executor.Stage) bool) error {
	sys := a.System
	to := make(map[*executor.Stage]*executor.Stage)
	move := func(p *process.Process, done func()) {
		from := p.Stage()
		if to[from] == nil || to[from].IsClosed() {
			to[from] = sys.Pool.Spread()
		}
		leaveStage(p, to[from], executor.Moved{Joins: func() bool { return ctx.Err() == nil }, Done: func(bool) { done() }})
	}
	if p := a.Process; p != nil && p.OnStage() && closed(p.Stage()) {
		move(p, func() {})
	}
	for {
		left, over := int64(1), make(chan struct{})
		done := func() {
			if atomic.AddInt64(&left, -1) == 0 {
				close(over)
			}
		}
		found := false
		for p := range sys.Table.All() {
			if p == a.Process || !p.OnStage() || p.Gone() || !closed(p.Stage()) {
				continue
			}
			found = true
			atomic.AddInt64(&left, 1)
			move(p, done)
		}
		if !found {
			return nil
		}
		done()
		select {
		case <-over:
		case <-ctx.Done():
			return cause.Of(ctx)
		}
	}
}
