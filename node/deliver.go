package node

import (
	"context"
	"errors"
	"fmt"

	"github.com/actornode/actornode/internal/cause"
	"github.com/actornode/actornode/internal/kernel/calls"
	"github.com/actornode/actornode/internal/kernel/erpc"
	"github.com/actornode/actornode/internal/kernel/process"
	"github.com/actornode/actornode/node/isolation"
	"github.com/actornode/actornode/wire/dist"
)

// ErrDropped is what Deliver says of a message that is not in the mailbox, besides [ErrMailboxFull], [ErrNoProcess] and
// [ErrNoName].
var ErrDropped = process.ErrDropped

// Deliver sends a message and waits for what becomes of it: nil says that it is in the mailbox of a process that was
// alive. It is how a sender feels a bounded mailbox on another node: [ErrMailboxFull], and if its policy is to drop the
// newest, [ErrDropped]; with the policy Block, a message from another node finds it full at once, and a sender on its
// own node waits. [ErrNoProcess], [ErrNoName], [errors.ErrUnsupported] if the connection's protocol has no receipts,
// [*ExitError] if the connection is lost first, and the error of ctx if that ends first: then nobody knows; but nothing
// is sent if ctx has ended before. Messages of one sender, by Deliver or Send, arrive in the order sent.
func Deliver(ctx context.Context, from Caller, to Dest, msg any) error {
	a := actingOf(from)
	if a.Gone() {
		return ErrExited
	}
	if ctx.Err() != nil {
		return cause.Of(ctx)
	}
	if err := a.MaySend(to, msg, false); err != nil {
		return err
	}
	n, t := nodeOf(a.System), a.System.Target(to)
	token := n.token(ctx, a)
	if t.Node != "" {
		return n.deliverFar(ctx, a, t, msg, token)
	}
	msg, err := a.System.Take(&t, msg)
	if err != nil {
		return err
	}
	return t.Process.Accept(a, msg, token, &process.Patience{Ctx: ctx, From: a.Process})
}

// SendOptions of a send. The zero value sends as [Node.Send] does.
type SendOptions struct {
	// NoWait is for a sender that nothing may hold up, such as a server that answers the process that a message names. If a
	// mailbox here has no space, the message is a dead letter, whatever the policy, as for a message from another node.
	// To another node the message counts as an answer: see [ClusterLimits].Answers; a sender that sends very many to a
	// node that does not read loses the connection.
	NoWait bool

	// NoConnect makes no connection: without one to the other node nothing is sent, as by erlang:send with noconnect,
	// and the error is [ErrNotHere]. A message that is lost with the connection is no dead letter: this is for those
	// who monitor which processes are there, and start again when a node comes back. For the same reason it implies
	// NoWait towards another node.
	NoConnect bool

	// Copy sends a copy of the message: see package isolation. What cannot be copied is refused with an
	// [*isolation.Error].
	Copy bool
}

// SendOpt is Send with options. With NoWait the errors for a process here are those of [Deliver], otherwise those of
// Send.
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
	if _, cast := to.(erpc.Function); cast || !o.NoWait && !o.NoConnect {
		return c.Send(to, msg)
	}
	if err := a.MaySend(to, msg, false); err != nil {
		return err
	}
	n, t, token := nodeOf(a.System), a.System.Target(to), a.Process.Token()
	switch {
	case o.NoConnect && t.Node != "" && n.peers != nil:
		p := n.peers.Get(t.Node)
		if p == nil || !p.IsUp() {
			return fmt.Errorf("%w: %s", ErrNotHere, t.Node)
		}
		return p.Answer(a, t, dist.Frame{Payload: msg, Lossy: true})
	case o.NoWait:
		return n.peers.Answer(a, t, dist.Frame{Payload: msg, Token: token})
	}
	return c.sendTarget(t, msg)
}

// deliverFar is Deliver to another node.
func (n *Node) deliverFar(ctx context.Context, a *process.Acting, t process.Target, msg, token any) error {
	on := Dest(t.PID)
	if t.ByName() {
		on = At{Name: t.Name, Node: t.Node}
	}
	if p := n.peers.Want(t.Node, true); p == nil || !p.IsUp() {
		if err := n.awaitConnection(ctx, a, t.Node, on); err != nil {
			return err
		}
	}
	p := n.peers.Want(t.Node, false)
	if p == nil {
		return ErrNotHere
	}
	ticket, ok := p.Deliver(a, t, msg, token)
	if !ok {
		return fmt.Errorf("node: the protocol of this connection has no delivery receipts: %s: %w", t.Node, errors.ErrUnsupported)
	}
	v, err := a.Await(ctx, ticket, calls.WaitReceipt, on)
	if err != nil {
		return err
	}
	return process.ReceiptError(v)
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
