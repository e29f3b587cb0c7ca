package node

import "github.com/actornode/actornode/internal/kernel/peers"

// What single peers make this node hold. The tables of a peer count its monitors and links,
// and go with it; a limits.Owner counts processes and names:
//
//  1. A process that a peer has started has its owner in cold before it can run, and
//     gives back what it counts for when it dies, or is not started after all.
//  2. The table of names gives back a name that a peer has had registered when the name
//     goes, whatever the reason. Its process may be anybody's.

// countsFor reports whether what is done for a node counts as what a peer makes this one hold.
func (n *Node) countsFor(peer Atom) bool { return n.dist != nil && peer != "" && peer != n.cfg.Name }

// ownFor counts a process that is started for the peer in o.For.
func (n *Node) ownFor(o *Options) (err error) {
	if n.countsFor(o.For) && o.owner == nil {
		o.owner, err = n.dist.TakeSpawn(o.For)
	}
	return err
}

// spawnOwned starts a process for a peer that has asked for it by a message.
func (n *Node) spawnOwned(by *peers.Asker, o Options, b Actor) (err error) {
	if o.owner, err = n.dist.TakeSpawnOf(by.Owner()); err != nil {
		return err
	}
	owner := o.owner
	if _, err = n.SpawnOpt(o, b); err != nil {
		owner.GiveSpawn()
	}
	return err
}
