package node

import "github.com/actornode/actornode/node/internal/process"

// asRemote is p, nil where it is nil.
func asRemote(p *peer) process.Remote {
	if p == nil {
		return nil
	}
	return &p.Peer
}
