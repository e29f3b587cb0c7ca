package process

import (
	"context"

	"github.com/actornode/actornode/internal/kernel/limits"
)

// ProcOf finds the process whose context ctx is, or comes from; nil: it has none.
func ProcOf(ctx context.Context) *Process {
	p, _ := ctx.Value(ProcKey{}).(*Process)
	return p
}

// OwnerIn finds the peer that has had the process started whose context ctx is; nil: none
// has, or it is no context of a process.
func OwnerIn(ctx context.Context) *limits.Owner {
	p := ProcOf(ctx)
	if p == nil {
		return nil
	}
	p.Mu.Lock()
	defer p.Mu.Unlock()
	if p.Cold == nil {
		return nil
	}
	return p.Cold.Owner
}
