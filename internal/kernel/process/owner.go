package process

import (
	"context"

	"github.com/actornode/actornode/internal/kernel/limits"
)

// ProcOf returns the process whose context ctx is, or is derived from, or nil if there is none.
func ProcOf(ctx context.Context) *Process {
	p, _ := ctx.Value(ProcKey{}).(*Process)
	return p
}

// OwnerIn returns the peer that has started the process of ctx, or nil if no peer has, or ctx is not the context of a
// process.
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
