package peers

import (
	"github.com/actornode/actornode/internal/kernel/limits"
	"github.com/actornode/actornode/node/rights"
	"github.com/actornode/actornode/wire"
)

// TakeSpawn counts one more process that a peer, connected or not, has started here. A refusal, [*limits.TooMany], is logged
// once per connection.
func (c *Cluster) TakeSpawn(peer wire.Atom) (*limits.Owner, error) {
	return c.TakeSpawnOf(c.identity(peer))
}

// TakeSpawnOf is TakeSpawn for a peer whose identity is known.
func (c *Cluster) TakeSpawnOf(who rights.Identity) (*limits.Owner, error) {
	o, err := c.cfg.Quota.Owners.TakeSpawn(who)
	if err != nil {
		c.refuse(who.Name, limits.HeldSpawned)
	}
	return o, err
}

// identity returns the identity that the peer with that name has now.
func (c *Cluster) identity(peer wire.Atom) rights.Identity {
	who := rights.Identity{}
	if p := c.Get(peer); p != nil && p.IsUp() {
		who = p.Visitor.Who
	}
	who.Name = peer
	return who
}

// TakeName is TakeSpawn for a name that a peer has registered.
func (c *Cluster) TakeName(peer wire.Atom) (*limits.Owner, error) {
	o, err := c.cfg.Quota.Owners.TakeName(c.identity(peer))
	if err != nil {
		c.refuse(peer, limits.HeldNames)
	}
	return o, err
}

func (c *Cluster) refuse(peer wire.Atom, k limits.HeldKind) {
	if p := c.Get(peer); p != nil {
		p.Refuse(k)
	}
}
