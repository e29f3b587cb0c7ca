package runner

import (
	"context"
	"sync/atomic"

	"github.com/actornode/actornode/internal/cause"
	"github.com/actornode/actornode/internal/kernel/process"
	"github.com/actornode/actornode/internal/sched/executor"
)

// Evict, called by a, moves what is on closed stages to others, all that is on one to the same: who has asked to be beside
// another stays so. What is being moved already goes where it goes. Evict returns when nothing is left there, or when
// ctx ends: then what is left moves when its turn is over. The process that acts moves when its own turn is over; it is
// not waited for. closed says which stages.
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
