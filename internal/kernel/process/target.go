package process

import (
	"fmt"

	"github.com/actornode/actornode/internal/kernel/tables"
	"github.com/actornode/actornode/node/deadletter"
	"github.com/actornode/actornode/wire"
)

// Target is what a destination stands for at one moment: a process of this node, one of another node, or nobody. A send, a
// call, a link or a monitor asks it, and not the destination.
type Target struct {
	Process *Process  // of this node; nil: it is of Node, or there is none
	Node    wire.Atom // the other node; "": this one
	PID     wire.PID  // of the process; zero: not known, or the destination is no PID and stands for nobody
	Name    wire.Atom // that the destination is, or has
	Alias   wire.Ref  // that the destination is, or has for a name
	none    error     // why there is nobody, if that is not said by the other fields
}

// Target finds out what a destination stands for now.
func (sys *System) Target(to wire.Dest) Target {
	switch to := to.(type) {
	case wire.PID:
		return sys.TargetOf(to)
	case wire.Atom:
		return sys.TargetNamed(to)
	case wire.At:
		switch to.Node {
		case sys.Name:
			return sys.TargetNamed(to.Name)
		case "":
			return Target{none: ErrNoDest}
		}
		return Target{Node: to.Node, Name: to.Name}
	case wire.Ref:
		return sys.TargetAliased(to)
	case tables.Global:
		if pid, ok := sys.Global.Whois(to.Name); ok {
			return sys.TargetOf(pid)
		}
		return Target{none: fmt.Errorf("%w: global %v", ErrNoName, to.Name)}
	}
	return Target{none: ErrNoDest}
}

// TargetOf is Target for a PID.
func (sys *System) TargetOf(pid wire.PID) Target {
	t := Target{Process: sys.Lookup(pid), PID: pid}
	if t.Process == nil && pid.Node() != sys.Name {
		t.Node = pid.Node()
	}
	return t
}

// TargetNamed is Target for a name on this node.
func (sys *System) TargetNamed(name wire.Atom) Target {
	t := Target{Process: (*Process)(sys.Names.Get(name)), Name: name}
	if t.Process == nil {
		if ref, ok := tables.Alias(name, sys.Origin); ok {
			t.Alias, t.Process = ref, sys.AliasOwner(ref)
		}
	}
	return t.known()
}

// TargetAliased is Target for an alias.
func (sys *System) TargetAliased(ref wire.Ref) Target {
	t := Target{Process: sys.AliasOwner(ref), Alias: ref}
	if t.Process == nil && !sys.Origin.Equal(ref.Origin()) && ref.Node() != sys.Name {
		t.Node = ref.Node()
	}
	return t.known()
}

// known is t with the PID of its process.
func (t Target) known() Target {
	if t.Process != nil {
		t.PID = t.Process.PID()
	}
	return t
}

// ByName reports whether t is a process of another node of which a name is known, or an alias.
func (t Target) ByName() bool { return t.Node != "" && t.PID.IsZero() }

// At returns the name on another node by which a process is called, monitored and linked to: of an alias, the name that it has
// for that.
func (t Target) At() wire.At {
	if t.Name == "" && !t.Alias.IsZero() {
		return tables.OfAlias(t.Alias)
	}
	return wire.At{Name: t.Name, Node: t.Node}
}

// PIDOrName returns by which of the two a process of another node is called and monitored.
func (t Target) PIDOrName() (wire.PID, wire.Atom) {
	if t.ByName() {
		return wire.PID{}, t.At().Name
	}
	return t.PID, ""
}

// Take is for a message to t, a process of this node: it returns what the process gets. The first message to a reply alias uses
// that up, and t is nobody if another was first. If there is nobody the message is a dead letter, and the error says why:
// ErrNoProcess, also where an alias does not take the message or a call has been answered; ErrNoName; ErrNodeStopped; ErrNoDest.
func (sys *System) Take(t *Target, msg any) (any, error) {
	switch {
	case !t.Alias.IsZero():
		p, m := sys.takeAlias(t.Alias, msg)
		if t.Process = p; p != nil {
			return m, nil
		}
		if t.Name != "" { // it was there, perhaps, when the caller's monitor came
			sys.Host.Unanswered(msg, sys.Host.Reasons.Err(NoProc), true)
		}
		return nil, ErrNoProcess
	case t.Process != nil:
		return msg, nil
	case t.none != nil:
		sys.DeadLetter(deadletter.Letter{Cause: deadletter.NoProcess, Message: msg})
		return nil, t.none
	case t.Name == "":
		if err := sys.Undeliverable(t.PID, msg); err != nil {
			return nil, err
		}
		return nil, ErrNoProcess
	case sys.Stopped.Load():
		sys.DeadLetter(deadletter.Letter{Cause: deadletter.NodeStopped, Name: t.Name, Message: msg})
		return nil, ErrNodeStopped
	}
	sys.DeadLetter(deadletter.Letter{Cause: deadletter.NoProcess, Name: t.Name, Message: msg})
	return nil, fmt.Errorf("%w: %s", ErrNoName, t.Name)
}

// Accept puts a message that a sends into the mailbox of p, as tracing shows it. u says how long it waits for space where the
// mailbox makes senders wait; nil: not at all.
func (p *Process) Accept(a *Acting, msg, token any, u *Patience) error {
	msg, err := p.Shown(p.System.Traces(), a.PID(), msg)
	switch {
	case err != nil:
		return err
	case p.Boxed:
		return p.Offer(a, msg, u)
	}
	return p.DeliverWith(a, msg, token)
}
