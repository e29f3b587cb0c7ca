package process

import (
	"fmt"

	"github.com/actornode/actornode/internal/kernel/tables"
	"github.com/actornode/actornode/node/deadletter"
	"github.com/actornode/actornode/wire"
)

// Target is what a destination stands for at one moment: a process of this node, one of another node, or none. A send, a
// call, a link or a monitor asks it, and not the destination.
type Target struct {
	Process *Process  // of this node; nil if it is of Node, or there is none
	Node    wire.Atom // the other node, or "" for this one
	PID     wire.PID  // of the process; zero if unknown, or the destination is no PID and resolves to none
	Name    wire.Atom // the destination, or its name
	Alias   wire.Ref  // the destination, or the alias that its name encodes
	none    error     // why there is no process, if the other fields do not say
}

// Target resolves a destination.
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

// known returns t with the PID of its process.
func (t Target) known() Target {
	if t.Process != nil {
		t.PID = t.Process.PID()
	}
	return t
}

// ByName reports whether t is a process of another node known by a name, or an alias.
func (t Target) ByName() bool { return t.Node != "" && t.PID.IsZero() }

// At returns the name on another node by which a process is called, monitored and linked to: of an alias, the name that
// encodes it.
func (t Target) At() wire.At {
	if t.Name == "" && !t.Alias.IsZero() {
		return tables.OfAlias(t.Alias)
	}
	return wire.At{Name: t.Name, Node: t.Node}
}

// PIDOrName returns the PID, or the name, by which a process of another node is called and monitored.
func (t Target) PIDOrName() (wire.PID, wire.Atom) {
	if t.ByName() {
		return wire.PID{}, t.At().Name
	}
	return t.PID, ""
}

// Take takes a message to t, a process of this node, and returns what to deliver. The first message to a reply alias uses it
// up, and t has no process if another was first. If there is no process the message becomes a dead letter, and the error says
// why: ErrNoProcess, also if an alias does not accept the message or a call has been answered; ErrNoName; ErrNodeStopped;
// ErrNoDest.
func (sys *System) Take(t *Target, msg any) (any, error) {
	switch {
	case !t.Alias.IsZero():
		p, m := sys.takeAlias(t.Alias, msg)
		if t.Process = p; p != nil {
			return m, nil
		}
		if t.Name != "" { // it may have existed when the caller's monitor came
			sys.Host.Unanswered(msg, sys.Host.ErrorOf(NoProc), true)
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

// Accept puts a message of a into the mailbox of p, as modified by tracing. u limits how long it waits for space if the
// mailbox makes senders wait; if nil, it does not wait.
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
