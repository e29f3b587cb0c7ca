package node

import "github.com/actornode/actornode/internal/kernel/peers"

// What single peers make this node hold. Monitors and links are counted by the tables of a
// peer, and are gone with it; processes and names by a limits.Owner:
//
//  1. A process that a peer has started has its owner in cold from before it can run, and
//     gives back what it counts for when it dies, or is not started after all.
//  2. A name that a peer has had registered is given back by the table of names when the name
//     goes, whatever the reason. Its process may be anybody's.

// countsFor reports whether what is done for a node counts as what a peer makes this one hold.
func (n *Node) countsFor(peer Atom) bool { return n.dist != nil && peer != "" && peer != n.cfg.Name }

// ownFor counts a process that is to be started for a peer, as o says.
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
