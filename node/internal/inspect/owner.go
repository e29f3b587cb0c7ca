package inspect

import (
	"context"

	"github.com/actornode/actornode/node/internal/process"
	"github.com/actornode/actornode/node/internal/quota"
	"github.com/actornode/actornode/wire"
)

// OwnerIn finds the peer that has had the process started whose context ctx is; nil: none
// has, or it is no context of a process.
func OwnerIn(ctx context.Context) *quota.Owner {
	p, ok := ctx.Value(process.ProcKey{}).(*process.Process)
	if !ok {
		return nil
	}
	p.Mu.Lock()
	defer p.Mu.Unlock()
	if p.Cold == nil {
		return nil
	}
	return p.Cold.Owner
}

// CallingPeer returns the node that has had the process started whose context ctx is, or
// comes from: in an exported function, the node that has called it; unknown if nobody
// knows which has; "" if none has.
func CallingPeer(ctx context.Context) wire.Atom {
	if o := OwnerIn(ctx); o != nil {
		return o.Peer
	}
	return ""
}
