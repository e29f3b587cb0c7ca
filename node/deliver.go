package node

import (
	"context"
	"errors"
	"fmt"

	"github.com/actornode/actornode/internal/cause"
	"github.com/actornode/actornode/internal/kernel/calls"
	"github.com/actornode/actornode/internal/kernel/process"
	"github.com/actornode/actornode/internal/kernel/tables"

	"github.com/actornode/actornode/internal/kernel/peers"
	"github.com/actornode/actornode/node/isolation"
	"github.com/actornode/actornode/wire/dist"
)

// What Deliver says of a message that is not in the mailbox, beside
// [ErrMailboxFull], [ErrNoProcess] and [ErrNoName].
var ErrDropped = process.ErrDropped

// Deliver sends a message and waits for what becomes of it: nil says that it is in
// the mailbox of a process that was alive. It is how a sender feels a bounded
// mailbox on another node: [ErrMailboxFull], and if its policy is to drop the
// newest, [ErrDropped]; a mailbox with the policy Block is full at once for a
// message from another node, and makes the sender wait on its own. [ErrNoProcess],
// [ErrNoName], [errors.ErrUnsupported] if the connection's protocol has no receipts,
// [*ExitError] if the connection is lost first, and the error of ctx if that ends first: then nobody
// knows; but nothing is sent if ctx has ended before. Messages of one
// sender, whether by Deliver or Send, arrive in the order in which they were sent.
func Deliver(ctx context.Context, from Caller, to Dest, msg any) error {
	a := actingOf(from)
	if a.Gone() {
		return ErrExited
	}
	if ctx.Err() != nil {
		return cause.Of(ctx)
	}
	if name, ok := to.(tables.Global); ok {
		pid, ok := a.System.Resolve(name)
		if !ok {
			return gone(to)
		}
		to = pid
	}
	f, where := peers.FrameTo(a.System, to)
	if where == "" {
		return ErrNoDest
	}
	f.Payload, f.Token = msg, a.Process.Token()
	if where == a.System.Name {
		return nodeOf(a.System).receive(nil, a, &f, &process.Patience{Ctx: ctx, From: a.Process})
	}
	return nodeOf(a.System).deliverFar(ctx, a, where, f)
}

// SendOptions of a send. The zero value is that of [Node.Send].
type SendOptions struct {
	// NoWait is for a sender that nothing may hold up, such as a server that answers
	// whoever a message names. A mailbox here that has no space for the message makes a dead
	// letter of it, whatever its policy, as for a message from another node. For another node
	// it counts as an answer: see [ClusterLimits].Answers; a sender that sends a great deal of
	// them to a node that does not read loses the connection.
	NoWait bool

	// NoConnect has nothing sent where there is no connection to the other node, and makes
	// none: erlang:send with noconnect. The error is [ErrNotHere] then. A message that is lost
	// with the connection is no dead letter: this is for those who monitor which processes are
	// there, and begin anew when a node comes back. For the same reason it implies NoWait
	// towards another node.
	NoConnect bool

	// Copy sends a copy of the message: see package isolation. What cannot be copied is refused with an
	// [*isolation.Error].
	Copy bool
}

// SendOpt is Send with options. Errors with NoWait are those of [Deliver] for a process here,
// else those of Send.
func (c *common) SendOpt(o SendOptions, to Dest, msg any) error {
	a := c.by
	if a.Gone() {
		return ErrExited
	}
	if o.Copy {
		var err error
		if msg, err = isolation.Copy(msg); err != nil {
			return err
		}
	}
	f, where := peers.FrameTo(a.System, to)
	if where == "" {
		return c.Send(to, msg) // to nobody
	}
	far := nodeOf(a.System).dist != nil && where != a.System.Name
	switch {
	case o.NoConnect && far:
		p := nodeOf(a.System).dist.get(where)
		if p == nil || !p.IsUp() {
			return fmt.Errorf("%w: %s", ErrNotHere, where)
		}
		f.From, f.Payload, f.Lossy = a.Sender(), msg, true
		return p.sendAnswer(a, f)
	case o.NoWait:
		f.Payload, f.Token = msg, a.Process.Token()
		return nodeOf(a.System).sendNow(a, f, where)
	}
	return c.Send(to, msg)
}

// sendNow sends the message of f to a node. It waits neither for a connection nor for space in the queue to it.
func (n *Node) sendNow(a *process.Acting, f dist.Frame, where Atom) error {
	if where == n.cfg.Name {
		return n.receive(nil, a, &f, nil)
	}
	var p *peer
	if f.To.IsZero() {
		p = n.peer(where)
	} else {
		p = n.reach(f.To)
	}
	switch {
	case p != nil:
		f.From = a.Sender()
		return p.sendAnswer(a, f)
	case f.Name != "":
		return n.sendAt(a, At{Name: f.Name, Node: where}, f.Payload)
	case !f.Ref.IsZero():
		return n.sendAlias(a, f.Ref, f.Payload, f.Token)
	}
	return n.sys.Undeliverable(f.To, f.Payload)
}

// receive puts the message of f, from who, into a mailbox here, or says why not; who
// is nil for a message from another node, far. How long it waits for space, if that is
// what the mailbox's policy is, says u; nil: not at all.
func (n *Node) receive(far *peer, a *process.Acting, f *dist.Frame, u *process.Patience) error {
	var q *process.Process
	switch {
	case !f.Ref.IsZero():
		q, f.Payload = n.sys.Aliased(f.Ref, f.Payload)
	case f.Name != "":
		var err error
		if q, f.Payload, err = n.sys.Named(f.Name, f.Payload); err != nil {
			return err
		}
	default:
		if q = n.sys.Lookup(f.To); q == nil {
			if err := n.sys.Undeliverable(f.To, f.Payload); err == ErrNoDest {
				return err
			}
		}
	}
	if q == nil {
		return ErrNoProcess
	}
	if far == nil {
		var err error
		if f.Payload, err = q.Shown(n.sys.Traces(), a.PID(), f.Payload); err != nil {
			return err
		}
	} else {
		f.Payload = far.received(q, f.Payload)
		if t := n.sys.Traces(); t != nil {
			_, msg := viaPeer(f.Payload)
			t.Received(f.From, q.PID(), msg)
		}
	}
	if q.Boxed {
		return q.Offer(a, f.Payload, u)
	}
	return q.DeliverWith(a, f.Payload, f.Token)
}

// deliverFar is Deliver to another node.
func (n *Node) deliverFar(ctx context.Context, a *process.Acting, where Atom, f dist.Frame) error {
	on := Dest(f.To)
	if f.To.IsZero() {
		on = At{Name: f.Name, Node: where}
	}
	if p := n.want(where); p == nil || !p.IsUp() {
		if err := n.awaitConnection(ctx, a, where, on); err != nil {
			return err
		}
	}
	p := n.peer(where)
	if p == nil {
		return ErrNotHere
	}
	if p.receipts() {
		n.sys.Traces().Away(a.PID(), f.To, f.Name, where, f.Payload)
		f.From, f.ID = a.Sender(), n.sys.NewRef().Number()
		t := a.Promise().NewTicket()
		t.Call.Target = nil
		p.askSoon(a, t, f)
		v, err := a.Await(ctx, t, calls.WaitReceipt, on)
		if err != nil {
			return err
		}
		return process.ReceiptError(v)
	}
	return fmt.Errorf("node: the protocol of this connection has no delivery receipts: %s: %w", where, errors.ErrUnsupported)
}

// awaitConnection is Connect for a process, which may be killed meanwhile; on is what it delivers to.
func (n *Node) awaitConnection(ctx context.Context, a *process.Acting, name Atom, on Dest) error {
	a.Block()
	if a.Process == nil {
		return n.Connect(ctx, name)
	}
	a.Process.WaitsFor(calls.WaitReceipt, on)
	defer a.Process.WaitsNoMore()
	ctx, stop := (&process.Patience{Ctx: ctx, From: a.Process}).Within()
	defer stop()
	return n.Connect(ctx, name)
}

// receipts reports whether the peer gives them.
func (p *peer) receipts() bool {
	link := p.Link()
	return link != nil && link.Peer().Receipts
}

// acknowledge is deliver for a message whose sender wants a receipt.
func (p *peer) acknowledge(f *dist.Frame) {
	p.Signal(dist.Frame{Op: dist.OpReceipt, ID: f.ID, Payload: process.ReceiptOf(p.n.receive(p, &p.n.sys.Plain, f, nil))})
}
