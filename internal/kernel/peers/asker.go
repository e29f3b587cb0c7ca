package peers

import (
	"context"

	"github.com/actornode/actornode/internal/kernel/calls"
	"github.com/actornode/actornode/internal/kernel/limits"
	"github.com/actornode/actornode/internal/kernel/process"
	"github.com/actornode/actornode/node/rights"
	"github.com/actornode/actornode/wire"
)

// Asker is a peer on whose account something is done here: it has asked by a message, or has had the process started that
// does it. So what it may do is asked where the effect is made, whatever way the wish has come. A nil *Asker is the program of
// this node, which may do everything.
type Asker struct {
	System *process.System
	Who    rights.Identity // zero: it is not known which peer it is
}

// AskerIn returns whom the process acts for whose context ctx is, or comes from.
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

// Owner is who the processes are counted for that are started for the peer.
func (a *Asker) Owner() rights.Identity {
	if a == nil || a.Who.Name == "" {
		return rights.Identity{Name: limits.Unknown}
	}
	return a.Who
}

// Granted returns what the peer may do now; nil: everything.
func (a *Asker) Granted() *rights.Granted {
	switch {
	case a == nil || a.System.Rights == nil:
		return nil
	case a.Who.Name == "":
		return new(rights.Granted)
	}
	return a.System.Rights.Of(a.Who, nil)
}

// MayAnswer reports whether a reply may go where a request says. It may go to a process or an alias of the peer itself. Who may
// send to everything may pass on the request of another, of this node or a third one: that has a reference of the process to be
// answered, so that the reply is one and nothing else. A request whose sender is unknown is one that a process of this
// node has sent as a term: what waits here for its reply may have any tag, as in OTP, but for one that makes a cast of it.
func (a *Asker) MayAnswer(to calls.From) bool {
	if a == nil {
		return true
	}
	at, own := to.Node(), a.Who.Name
	switch {
	case own != "" && at == own: // of an alias only that counts, as in OTP
		return true
	case own == "" && at == a.System.Name:
		return !to.IsCast()
	}
	ref, ok := to.Ref()
	return ok && ref.Node() == at && a.maySendAll()
}

// MayReach reports whether a message may go to a process that the peer names, instead of a request's From: it is of the peer,
// or the peer may send to everything.
func (a *Asker) MayReach(pid wire.PID) bool {
	return a == nil || a.Who.Name != "" && pid.Node() == a.Who.Name || a.maySendAll()
}

func (a *Asker) maySendAll() bool {
	g := a.Granted()
	return g.Send("") && g.Call("")
}

// MaySend reports whether msg may be sent to a destination as the peer could send it itself. To other nodes this one would
// send it in its own name: that is for who may send to everything.
func (a *Asker) MaySend(to wire.Dest, msg any) bool {
	if a == nil {
		return true
	}
	right := needs(msg)
	far := right != "signal" || a.Granted().Signal() // may be sent to other nodes
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
		return true // to the dead
	}
	return may(a.Granted(), right, name)
}

// MayEnd reports whether the peer may end a process, or suspend it: of this node, by its rights, and only if that is not
// protected from it; of another node, in the name of this one, if it may do so with everything.
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

// MayLink reports whether a process here may link itself to one that the peer names, and send to it: its end would end that. Its
// own processes everybody may name.
func (a *Asker) MayLink(pid wire.PID) bool {
	return a == nil || a.Who.Name != "" && pid.Node() == a.Who.Name || a.MayReach(pid) && a.MayEnd(pid)
}

// MayName reports whether the peer may give a process of this node a name, or take it away: by its name a process is reached.
func (a *Asker) MayName(pid wire.PID) bool {
	if a == nil {
		return true
	}
	q := a.System.Lookup(pid)
	return q == nil || a.owns(q) || a.maySendAll()
}

// IsKeptFrom reports whether the peer must not end q, nor suspend it, whatever its rights are: q is protected, or is of this
// node's own, and the peer does not operate it.
func (a *Asker) IsKeptFrom(q *process.Process) bool {
	return q.Protected || !a.Operates() && !isGuest(q)
}

// Operates reports whether the peer is one of those that operate this node, where it is said who does.
func (a *Asker) Operates() bool {
	if a == nil {
		return true
	}
	operators := a.System.Operators.Load()
	return operators == nil || a.Who.Name != "" && (*operators)(a.Who.Name)
}

// MayAct reports whether the peer may do here what an operator does.
func (a *Asker) MayAct() bool { return a.Operates() && a.Granted().Act() }

// Node is the name by which the processes are known that are started for the peer; "": for nobody.
func (a *Asker) Node() wire.Atom {
	if a == nil {
		return ""
	}
	return a.Owner().Name
}

// isGuest reports whether a peer has had q started.
func isGuest(q *process.Process) bool {
	q.Mu.Lock()
	defer q.Mu.Unlock()
	return q.Cold != nil && q.Cold.Owner != nil
}

// owns reports whether the peer has had q started.
func (a *Asker) owns(q *process.Process) bool {
	q.Mu.Lock()
	defer q.Mu.Unlock()
	return a.Who.Name != "" && q.Cold != nil && q.Cold.Owner != nil && q.Cold.Owner.Who.Equal(a.Who)
}

// Asker is the peer.
func (p *Peer) Asker() *Asker {
	who := p.Visitor.Who
	who.Name = p.Name
	return &Asker{p.System, who}
}

// Account is on whose account something is done: in an exported function, the node that has called it. An effect that such a
// function has on others is asked of it, for the right to call the function says nothing of those. The program of this node may
// do everything.
type Account interface {
	// Send sends a message, which arrives as from that node. The error is node.ErrNoName also for what it may not send.
	Send(to wire.Dest, msg any) error
	MaySend(to wire.Dest, msg any) bool
	// MayReach is MaySend for answers and reports to a process that it names.
	MayReach(pid wire.PID) bool
	// MayEnd is for exit signals, MayName for names of processes of this node.
	MayEnd(pid wire.PID) bool
	MayName(pid wire.PID) bool
	// Protected reports whether it must not end a process of the node, suspend it or take its name: that is protected, see
	// node.Options, or is the node's own, of which others are the operators.
	Protected(pid wire.PID) bool
	// MayLink is for a link to a process that it names, which gets messages, too.
	MayLink(pid wire.PID) bool
	// Operates reports whether it operates the node, or nobody has said who does; MayAct, whether it has the right to, too.
	Operates() bool
	MayAct() bool
	// Node is what it is called, for node.Options.For; "": the program.
	Node() wire.Atom
}
