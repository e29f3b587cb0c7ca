package placement

import (
	"context"
	"sync"

	"github.com/actornode/actornode/internal/executor"
	"github.com/actornode/actornode/node/internal/process"
)

// Evict, called by a, moves what is on closed stages to others, all that is on one to the same: who has asked to be beside
// another stays so. It returns when nothing is left there, or when ctx ends: then what is left moves when its turn
// is over. The process that acts moves when its own turn is over; it is not waited for. closed says which stages.
func Evict(ctx context.Context, a *process.Acting, closed func(*executor.Stage) bool) error {
	sys := a.System
	to := make(map[*executor.Stage]*executor.Stage)
	for {
		var moves sync.WaitGroup
		found := false
		for p := range sys.Table.All() {
			if !p.OnStage() || p.Gone() {
				continue
			}
			from := p.Stage()
			if !closed(from) {
				continue
			}
			if to[from] == nil {
				to[from] = sys.Pool.Spread()
			}
			free := !from.IsOwn() && !p.Pinned()
			if p == a.Process {
				carry(p, to[from], free, func() {})
				continue
			}
			found = true
			moves.Add(1)
			carry(p, to[from], free, moves.Done)
		}
		if !found {
			return nil
		}
		over := make(chan struct{})
		go func() { // it ends when the turns that are under way have ended, or the node stops
			moves.Wait()
			close(over)
		}()
		select {
		case <-over:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}
