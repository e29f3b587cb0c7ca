package node

import (
	"fmt"

	"github.com/actornode/actornode/internal/kernel/limits"
	"github.com/actornode/actornode/internal/kernel/process"
	"github.com/actornode/actornode/internal/kernel/tables"
	"github.com/actornode/actornode/internal/kernel/watch"
)

// give registers p under name, for a peer that asked for it; "": none. by is the reservation of the service that p
// belongs to; nil: none.
func (n *Node) give(name Atom, p *process.Process, peer Atom, by *tables.Reservation) error {
	e := tables.NameEntry{Name: name, By: by}
	if peer != "" {
		e.Take = func() (*limits.Owner, error) { return n.dist.TakeName(peer) }
	}
	return n.sys.Names.Enter((*process.Named)(p), e)
}

// Register gives a process a name. A process has one name at most, and loses it
// when it exits. Errors: [ErrNodeStopped], [ErrArgument], [ErrNameTaken] (the name is taken, or the
// process has one), [ErrNoProcess].
func (n *Node) Register(name Atom, pid PID) error { return n.registerFor("", name, pid) }

// registerFor is Register for a request of peer: the name counts towards those that it may have registered,
// [ClusterLimits].Names, until the name goes; "" and this node itself are not counted. Errors besides those of
// Register: [ErrTooMany].
func (n *Node) registerFor(peer, name Atom, pid PID) error {
	if n.sys.Stopped.Load() {
		return ErrNodeStopped
	}
	p := n.sys.Lookup(pid)
	if p == nil {
		return fmt.Errorf("%w: %v", ErrNoProcess, pid)
	}
	if !n.countsFor(peer) {
		peer = ""
	}
	return n.give(name, p, peer, nil)
}

// Unregister takes a name away. Errors: [ErrNoName]; [ErrProtected] for the name of a protected process, such as a
// service, which keeps it.
func (n *Node) Unregister(name Atom) error {
	if p := n.sys.Whose(name); p != nil {
		if p.Protected {
			return fmt.Errorf("%w: %s stays registered", ErrProtected, name)
		}
		p.Mu.Lock()
		mine := p.Cold.Name == name
		if mine {
			p.Cold.Name = ""
		}
		p.Mu.Unlock()
		if mine && n.sys.Names.Remove(name, (*process.Named)(p)) {
			n.sys.Traces().Event(watch.TraceUnregister, p.PID(), PID{}, name, nil)
			return nil
		}
	}
	return fmt.Errorf("%w: %s", ErrNoName, name)
}

// Whereis returns the PID that is registered under name; false if there is none.
func (n *Node) Whereis(name Atom) (PID, bool) {
	if p := n.sys.Whose(name); p != nil {
		return p.PID(), true
	}
	return PID{}, false
}

// Registered returns the registered names in alphabetical order.
func (n *Node) Registered() []Atom { return n.sys.Names.All() }
