package peers

import (
	"context"

	"github.com/actornode/actornode/internal/kernel/calls"
	"github.com/actornode/actornode/internal/kernel/limits"
	"github.com/actornode/actornode/internal/kernel/process"
	"github.com/actornode/actornode/node/rights"
	"github.com/actornode/actornode/wire"
)

// Asker is the peer on whose behalf something is done here: it has sent a message, or started the process that does it. Its
// rights are checked where the effect takes place, however the request arrived. A nil *Asker is the program of this node,
// which may do everything.
type Asker struct {
	System *process.System
	Who    rights.Identity // zero if the peer is unknown
}

// AskerIn returns the peer on whose behalf the process of ctx acts, or nil.
func AskerIn(ctx context.Context) *Asker {
	o := process.OwnerIn(ctx)
	if o == nil {
		return nil
	}
	a := &Asker{System: process.ProcOf(ctx).System}
	if o.Peer != limits.Unknown {
		a.Who = o.Who
	}
	return a
}

// Owner returns the identity for which processes started for the peer are counted.
func (a *Asker) Owner() rights.Identity {
	if a == nil || a.Who.Name == "" {
		return rights.Identity{Name: limits.Unknown}
	}
	return a.Who
}

// Granted returns what the peer may do now, or nil for everything.
func (a *Asker) Granted() *rights.Granted {
	switch {
	case a == nil || a.System.Rights == nil:
		return nil
	case a.Who.Name == "":
		return new(rights.Granted)
	}
	return a.System.Rights.Of(a.Who, nil)
}

// MayAnswer reports whether a reply may go to the destination that a request names. It may go to a process or an alias of the
// peer itself. A peer that may send to everything may forward a request of another peer, of this node or a third one: it has
// a reference of the process to be answered, so that the reply can only be a reply. A request whose sender is unknown was
// sent by a process of this node as a term: a local process that waits for the reply may use any tag, as in OTP, except one
// that makes the reply a cast.
func (a *Asker) MayAnswer(to calls.From) bool {
	if a == nil {
		return true
	}
	at, own := to.Node(), a.Who.Name
	switch {
	case own != "" && at == own: // for an alias only the node counts, as in OTP
		return true
	case own == "" && at == a.System.Name:
		return !to.IsCast()
	}
	ref, ok := to.Ref()
	return ok && ref.Node() == at && a.maySendAll()
}

// MayReach reports whether a message may go to a process that the peer names in its arguments, not in a request's From: a
// process of the peer, or any if the peer may send to everything.
func (a *Asker) MayReach(pid wire.PID) bool {
	return a == nil || a.Who.Name != "" && pid.Node() == a.Who.Name || a.maySendAll()
}

func (a *Asker) maySendAll() bool {
	g := a.Granted()
	return g.Send("") && g.Call("")
}

// MaySend reports whether msg may be sent to a destination, as if the peer sent it itself. Messages to other nodes have this
// node as their sender: they require the right to send to everything.
func (a *Asker) MaySend(to wire.Dest, msg any) bool {
	if a == nil {
		return true
	}
	right := needs(msg)
	far := right != "signal" || a.Granted().Signal() // it may be sent to other nodes
	t := a.System.Target(to)
	switch {
	case t.ByName():
		return far && (t.Node == a.Who.Name && a.Who.Name != "" || a.maySendAll())
	case t.Node != "":
		return far && a.MayReach(t.PID)
	}
	q, name := t.Process, t.Name
	if name == "" && q != nil {
		name = registered(q)
	}
	switch {
	case !t.Alias.IsZero() && right != "signal", q != nil && a.owns(q):
		return true
	case q == nil && name == "":
		return true // to a dead process
	}
	return may(a.Granted(), right, name)
}

// MayEnd reports whether the peer may end or suspend a process: one of this node, by its rights, and only if the process is
// not protected from it; one of another node, on behalf of this one, if the peer may do so with every process.
func (a *Asker) MayEnd(pid wire.PID) bool {
	if a == nil {
		return true
	}
	q := a.System.Lookup(pid)
	switch {
	case !a.System.Origin.Minted(pid):
		return a.MayReach(pid) && a.Granted().Signal()
	case q == nil:
		return true
	}
	return !a.IsKeptFrom(q) && (a.owns(q) || a.Granted().Signal())
}

// MayLink reports whether a local process may link to a process that the peer names, and send to it: the exit of the local
// one would end the other. The peer may always name its own processes.
func (a *Asker) MayLink(pid wire.PID) bool {
	return a == nil || a.Who.Name != "" && pid.Node() == a.Who.Name || a.MayReach(pid) && a.MayEnd(pid)
}

// MayName reports whether the peer may register a process of this node, or unregister it: a name makes a process reachable.
func (a *Asker) MayName(pid wire.PID) bool {
	if a == nil {
		return true
	}
	q := a.System.Lookup(pid)
	return q == nil || a.owns(q) || a.maySendAll()
}

// IsKeptFrom reports whether the peer must neither end nor suspend q, whatever its rights: q is protected, or was not started
// by a peer and the peer is not an operator.
func (a *Asker) IsKeptFrom(q *process.Process) bool {
	return q.Protected || !a.Operates() && !isGuest(q)
}

// Operates reports whether the peer is an operator of this node; if no operators are configured, every peer is.
func (a *Asker) Operates() bool {
	if a == nil {
		return true
	}
	operators := a.System.Operators.Load()
	return operators == nil || a.Who.Name != "" && (*operators)(a.Who.Name)
}

// MayAct reports whether the peer may carry out operator actions here.
func (a *Asker) MayAct() bool { return a.Operates() && a.Granted().Act() }

// Node returns the name under which processes started for the peer are known, or "" for the program of this node.
func (a *Asker) Node() wire.Atom {
	if a == nil {
		return ""
	}
	return a.Owner().Name
}

// isGuest reports whether a peer has started q.
func isGuest(q *process.Process) bool {
	q.Mu.Lock()
	defer q.Mu.Unlock()
	return q.Cold != nil && q.Cold.Owner != nil
}

// owns reports whether the peer has started q.
func (a *Asker) owns(q *process.Process) bool {
	q.Mu.Lock()
	defer q.Mu.Unlock()
	return a.Who.Name != "" && q.Cold != nil && q.Cold.Owner != nil && q.Cold.Owner.Who.Equal(a.Who)
}

// Asker returns the Asker for the peer.
func (p *Peer) Asker() *Asker {
	who := p.Visitor.Who
	who.Name = p.Name
	return &Asker{p.System, who}
}

// Account is the node on whose behalf something is done: in an exported function, the calling node. A function checks it
// before each effect on others, because the right to call the function says nothing about those. The program of this node may
// do everything.
type Account interface {
	// Send sends a message on behalf of that node. The error is node.ErrNoName also if it may not send the message.
	Send(to wire.Dest, msg any) error
	MaySend(to wire.Dest, msg any) bool
	// MayReach is MaySend for answers and reports to a process that it names.
	MayReach(pid wire.PID) bool
	// MayEnd is for exit signals, MayName for names of processes of this node.
	MayEnd(pid wire.PID) bool
	MayName(pid wire.PID) bool
	// Protected reports whether it must not end, suspend or unregister a process of the node: one that is protected, see
	// node.Options, or that no peer has started while other peers are the operators.
	Protected(pid wire.PID) bool
	// MayLink is for links to a process that it names, and messages to that process.
	MayLink(pid wire.PID) bool
	// Operates reports whether it is an operator of the node, or no operators are configured; MayAct, whether it also has the
	// right to act.
	Operates() bool
	MayAct() bool
	// Node is its name, for node.Options.For, or "" for the program.
	Node() wire.Atom
}
