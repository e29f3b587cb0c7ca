package runner

import (
	"context"

	"github.com/actornode/actornode/internal/kernel/limits"
	"github.com/actornode/actornode/internal/kernel/process"
	"github.com/actornode/actornode/wire"
)

// SetOwner sets the owner of p, which does not run yet.
func SetOwner(p *process.Process, by *limits.Owner) {
	p.Mu.Lock()
	alive := !p.Gone()
	if alive {
		p.ColdPart().Owner = by
	}
	p.Mu.Unlock()
	if !alive {
		by.GiveSpawn()
	}
}

// CallingPeer returns the node that has started the process of ctx, or one that ctx is derived from: in an exported function,
// the calling node. It returns limits.Unknown if that is unknown, and "" if none has.
func CallingPeer(ctx context.Context) wire.Atom {
	if o := process.OwnerIn(ctx); o != nil {
		return o.Peer
	}
	return ""
}
