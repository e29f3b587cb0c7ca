package node

import (
	"fmt"

	"github.com/actornode/actornode/node/deadletter"
	"github.com/actornode/actornode/node/internal/names"
	"github.com/actornode/actornode/node/internal/quota"
	"github.com/actornode/actornode/node/internal/trace"
)

// named is a process as package names knows it.
type named proc

// Lock is part of names.Process, and so are the others.
func (p *named) Lock() { p.mu.Lock() }

// Unlock releases what Lock has locked.
func (p *named) Unlock() { p.mu.Unlock() }

// PID returns the PID.
func (p *named) PID() PID { return (*proc)(p).pid() }

// Alive returns an ErrNoProcess where p is not.
func (p *named) Alive() error {
	if (*proc)(p).gone() {
		return fmt.Errorf("%w: %v", ErrNoProcess, p.PID())
	}
	return nil
}

// Name returns the name. The caller of this and of SetName holds p.mu.
func (p *named) Name() Atom { return (*proc)(p).coldPart().name }

// SetName gives p a name.
func (p *named) SetName(name Atom) {
	(*proc)(p).coldPart().name = name
	p.node.traces().Event(trace.Register, p.PID(), PID{}, name, nil)
}

// whose finds the process that has a name; nil: none has.
func (n *Node) whose(name Atom) *proc { return (*proc)(n.names.Whose(name)) }

// give registers p under name, for a peer that has asked for it; "": none. by is the reservation
// of the service that p is one of, nil: of none.
func (n *Node) give(name Atom, p *proc, peer Atom, by *names.Reservation) error {
	e := names.Entry{Name: name, By: by}
	if peer != "" {
		e.Take = func() (*quota.Owner, error) { return n.dist.TakeName(peer) }
	}
	return n.names.Enter((*named)(p), e)
}

// Register gives a process a name. A process has one name at most, and loses it
// when it exits. Errors: [ErrNodeStopped], [ErrBadName], [ErrNameTaken] (the name is taken, or the
// process has one), [ErrNoProcess].
func (n *Node) Register(name Atom, pid PID) error { return n.registerFor("", name, pid) }

// registerFor is Register for a request of the node peer: the name counts among those that
// it may have had registered, [ClusterLimits].Names, until the name goes; "" and this node
// itself are not counted. Errors
// beside those of Register: [ErrTooMany].
func (n *Node) registerFor(peer, name Atom, pid PID) error {
	if n.stopped.Load() {
		return ErrNodeStopped
	}
	p := n.lookup(pid)
	if p == nil {
		return fmt.Errorf("%w: %v", ErrNoProcess, pid)
	}
	if !n.countsFor(peer) {
		peer = ""
	}
	return n.give(name, p, peer, nil)
}

// Unregister takes a name away. Errors: [ErrNoName]; [ErrProtected] for that of a
// protected process, such as a service, which keeps its name.
func (n *Node) Unregister(name Atom) error {
	if p := n.whose(name); p != nil {
		if p.protected {
			return fmt.Errorf("%w: %s stays registered", ErrProtected, name)
		}
		p.mu.Lock()
		mine := p.cold.name == name
		if mine {
			p.cold.name = ""
		}
		p.mu.Unlock()
		if mine && n.names.Remove(name, (*named)(p)) {
			n.traces().Event(trace.Unregister, p.pid(), PID{}, name, nil)
			return nil
		}
	}
	return fmt.Errorf("%w: %s", ErrNoName, name)
}

// Whereis returns the PID that is registered under name; false if there is none.
func (n *Node) Whereis(name Atom) (PID, bool) {
	if p := n.whose(name); p != nil {
		return p.pid(), true
	}
	return PID{}, false
}

// Registered returns the registered names in alphabetical order.
func (n *Node) Registered() []Atom { return n.names.All() }

// named finds the process for a message to a name.
func (n *Node) named(name Atom, msg any) (*proc, error) {
	if p := n.names.Get(name); p != nil {
		return (*proc)(p), nil
	}
	if ref, ok := names.Alias(name, n.origin); ok {
		p := n.aliased(ref, msg)
		if p == nil { // it was there, perhaps, when the caller's monitor came
			unanswered(n.received(false, nil, msg), &ExitError{NoProc})
			return nil, ErrNoProcess
		}
		return p, nil
	}
	if n.stopped.Load() {
		n.deadLetter(deadletter.Letter{Cause: deadletter.NodeStopped, Name: name, Message: msg})
		return nil, ErrNodeStopped
	}
	n.deadLetter(deadletter.Letter{Cause: deadletter.NoProcess, Name: name, Message: msg})
	return nil, fmt.Errorf("%w: %s", ErrNoName, name)
}
