package node

import (
	"cmp"
	"fmt"

	"github.com/actornode/actornode/node/internal/quota"
)

// What single peers make this node hold. Monitors and links are counted by the tables of a
// peer, and are gone with it; processes and names by a quota.Owner:
//
//  1. A process that a peer has started has its owner in cold from before it can run, and
//     gives back what it counts for when it dies, or is not started after all.
//  2. A name that a peer has had registered has its owner in names.owners, and is given
//     back when the name goes, whatever the reason. Its process may be anybody's.

// owned notes whose process p is, which does not run yet.
func (p *proc) owned(by *quota.Owner) {
	p.mu.Lock()
	alive := !p.gone()
	if alive {
		p.chill().owner = by
	}
	p.mu.Unlock()
	if !alive {
		by.GiveSpawn()
	}
}

// heldError says that a peer makes this node hold as much of something as it may.
type heldError struct {
	peer Atom
	kind quota.Kind
	most int64
}

func (e *heldError) Error() string {
	if e.kind == quota.Names {
		return fmt.Sprintf("node: %s has registered its limit of %d names here (limits.names)", e.who(), e.most)
	}
	return fmt.Sprintf("node: %s has started its limit of %d processes here (limits.spawned)", e.who(), e.most)
}

func (e *heldError) who() string {
	if e.peer == unknown {
		return "an unknown peer"
	}
	return string(e.peer)
}

// Is makes it an [ErrTooMany].
func (e *heldError) Is(target error) bool { return target == ErrTooMany }

// Term is system_limit.
func (e *heldError) Term() any { return systemLimit }

// tooManyHeld is the error for a peer that has too many of something.
func (n *Node) tooManyHeld(peer Atom, k quota.Kind) *heldError {
	return &heldError{peer, k, n.dist.quota.Limit(k).Max()}
}

// logHeld has it logged that a peer has too many, if the peer is connected, and returns e.
// The caller holds no lock.
func (n *Node) logHeld(e *heldError) error {
	if p := n.dist.get(e.peer); p != nil {
		p.Refuse(e.kind)
	}
	return e
}

// countsFor reports whether what is done for a node counts as what a peer makes this one hold.
func (n *Node) countsFor(peer Atom) bool { return n.dist != nil && peer != "" && peer != n.cfg.Name }

// ownFor counts a process that is to be started for a peer, as o says.
func (n *Node) ownFor(o *Options) error {
	if !n.countsFor(o.For) || o.owner != nil {
		return nil
	}
	if o.owner = n.dist.quota.Owners.TakeSpawn(o.For); o.owner == nil {
		return n.logHeld(n.tooManyHeld(o.For, quota.Spawned))
	}
	return nil
}

// spawnOwned starts a process for a peer that has asked for it by a message; "": nobody
// knows which has.
func (n *Node) spawnOwned(peer Atom, o Options, b Actor) error {
	peer = cmp.Or(peer, unknown)
	o.owner = n.dist.quota.Owners.TakeSpawn(peer)
	if o.owner == nil {
		return n.logHeld(n.tooManyHeld(peer, quota.Spawned))
	}
	owner := o.owner
	_, err := n.SpawnOpt(o, b)
	if err != nil {
		owner.GiveSpawn()
	}
	return err
}
