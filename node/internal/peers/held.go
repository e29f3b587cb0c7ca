package peers

import (
	"github.com/actornode/actornode/node/internal/quota"
	"github.com/actornode/actornode/wire"
)

// TakeSpawn counts one more process that a peer, connected or not, has started here. A refusal,
// [*quota.TooMany], is logged once for each connection.
func (c *Cluster) TakeSpawn(peer wire.Atom) (*quota.Owner, error) {
	o, err := c.cfg.Quota.Owners.TakeSpawn(peer)
	if err != nil {
		c.refuse(peer, quota.Spawned)
	}
	return o, err
}

// TakeName is TakeSpawn for a name that a peer has had registered.
func (c *Cluster) TakeName(peer wire.Atom) (*quota.Owner, error) {
	o, err := c.cfg.Quota.Owners.TakeName(peer)
	if err != nil {
		c.refuse(peer, quota.Names)
	}
	return o, err
}

func (c *Cluster) refuse(peer wire.Atom, k quota.Kind) {
	if p := c.Get(peer); p != nil {
		p.Refuse(k)
	}
}
