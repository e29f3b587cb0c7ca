package runner

import (
	"context"

	"github.com/actornode/actornode/internal/kernel/limits"
	"github.com/actornode/actornode/internal/kernel/process"
	"github.com/actornode/actornode/wire"
)

// SetOwner notes whose process p is, which does not run yet.
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

// CallingPeer returns the node that has had the process started whose context ctx is, or
// comes from: in an exported function, the node that has called it; unknown if nobody
// knows which has; "" if none has.
func CallingPeer(ctx context.Context) wire.Atom {
	if o := process.OwnerIn(ctx); o != nil {
		return o.Peer
	}
	return ""
}
