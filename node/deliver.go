package node

import (
	"context"
	"errors"
	"fmt"

	"github.com/actornode/actornode/mailbox"
	"github.com/actornode/actornode/node/deadletter"
	"github.com/actornode/actornode/node/internal/reason"
	"github.com/actornode/actornode/node/internal/waiting"
	"github.com/actornode/actornode/wire/dist"
)

// What Deliver says of a message that is not in the mailbox, beside
// [ErrMailboxFull], [ErrNoProcess] and [ErrNoName].
var ErrDropped = errors.New("node: the receiver's mailbox is full and the message was dropped")

// Why a message is not in the mailbox, on the wire. The list is only added to.
const (
	receiptFull    Atom = "full"    // there is no room: the sender may try again
	receiptRefused Atom = "refused" // there is no room, and the mailbox refuses what it has no room for
	receiptDropped Atom = "dropped" // there is no room, and the mailbox drops what it has no room for
	receiptNoProc  Atom = "noproc"  // there is no process
	receiptNoName  Atom = "noname"  // there is no process of that name
)

// Deliver sends a message and waits for what becomes of it: nil says that it is in
// the mailbox of a process that was alive. It is how a sender feels a bounded
// mailbox on another node: [ErrMailboxFull], and if its policy is to drop the
// newest, [ErrDropped]; a mailbox with the policy Block is full at once for a
// message from another node, and makes the sender wait on its own. [ErrNoProcess],
// [ErrNoName], [errors.ErrUnsupported] if the connection's protocol has no receipts,
// [*ExitError] if the connection is lost first, and the cause of ctx's end: then nobody
// knows; but to another node nothing is sent if ctx has ended before. Messages of one
// sender, whether by Deliver or Send, arrive in the order in which they were sent.
func Deliver(ctx context.Context, from Caller, to Dest, msg any) error {
	a := from.caller()
	if a.p != nil && a.p.gone() {
		return ErrExited
	}
	f, where := frameTo(a.node, to)
	f.Payload, f.Token = msg, a.p.token()
	if where == a.node.cfg.Name {
		return a.node.receive(nil, a, &f, &patience{ctx: ctx, from: a.p})
	}
	return a.deliverFar(ctx, where, f)
}

// frameTo returns the frame of a message, which is still to be filled in, and the node
// that it is for.
func frameTo(n *Node, to Dest) (f dist.Frame, where Atom) {
	f.Op = dist.OpSend
	switch to := to.(type) {
	case PID:
		f.To, where = to, to.Node()
	case Atom:
		f.Name, where = to, n.cfg.Name
	case At:
		f.Name, where = to.Name, to.Node
	case Ref:
		f.Ref, where = to, to.Node()
	}
	return f, where
}

// SendOptions of a send. The zero value is that of [Node.Send].
type SendOptions struct {
	// NoWait is for a sender that nothing may hold up, such as a server that answers
	// whoever a message names. A mailbox here that has no room for the message makes a dead
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
}

// SendOpt is Send with options. Errors with NoWait are those of [Deliver] for a process here,
// else those of Send.
func (a *acting) SendOpt(o SendOptions, to Dest, msg any) error {
	if a.gone() {
		return ErrExited
	}
	f, where := frameTo(a.node, to)
	if where == "" {
		return a.Send(to, msg) // to nobody
	}
	far := a.node.dist != nil && where != a.node.cfg.Name
	switch {
	case o.NoConnect && far:
		p := a.node.dist.get(where)
		if p == nil || !p.IsUp() {
			return fmt.Errorf("%w: %s", ErrNotHere, where)
		}
		f.From, f.Payload, f.Lossy = a.sender(), msg, true
		return p.sendAnswer(a, f)
	case o.NoWait:
		f.Payload, f.Token = msg, a.p.token()
		return a.node.sendNow(a, f, where)
	}
	return a.Send(to, msg)
}

// sendNow sends the message of f, from who, to the node where, as SendNow says.
func (n *Node) sendNow(a *acting, f dist.Frame, where Atom) error {
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
		f.From = a.sender()
		return p.sendAnswer(a, f)
	case f.Name != "":
		return n.sendAt(a, At{Name: f.Name, Node: where}, f.Payload)
	case !f.Ref.IsZero():
		return n.sendAlias(a, f.Ref, f.Payload, f.Token)
	}
	return n.undeliverable(f.To, f.Payload)
}

// receive puts the message of f, from who, into a mailbox here, or says why not; who
// is nil for a message from another node, far. How long it waits for room, if that is
// what the mailbox's policy is, says u; nil: not at all.
func (n *Node) receive(far *peer, a *acting, f *dist.Frame, u *patience) error {
	var q *proc
	switch {
	case !f.Ref.IsZero():
		q = n.aliased(f.Ref, f.Payload)
	case f.Name != "":
		var err error
		if q, err = n.named(f.Name, f.Payload); err != nil {
			return err
		}
	default:
		if q = n.lookup(f.To); q == nil {
			n.undeliverable(f.To, f.Payload)
		}
	}
	if q == nil {
		return ErrNoProcess
	}
	if far == nil {
		n.traces().Message(a.pid(), q.pid(), f.Payload)
	} else {
		f.Payload = far.received(q, f.Payload)
		if t := n.traces(); t != nil {
			_, msg := viaPeer(f.Payload)
			t.Received(f.From, q.pid(), msg)
		}
	}
	if q.boxed {
		return q.offer(a, f.Payload, u)
	}
	return q.deliverWith(a, f.Payload, f.Token)
}

// patience is how long a send waits for room in a mailbox: until its sender is
// gone, if it is a process, and until ctx ends, if it is not nil.
type patience struct {
	ctx   context.Context
	from  *proc
	noted bool // the wait of the sender is, for Config.DetectCycles
}

// await waits for room in b for msg.
func (u *patience) await(b mailbox.Waiter, msg any) error {
	ctx, stop := u.within()
	defer stop()
	return b.AwaitRoom(ctx, msg)
}

// within returns a context that ends when u does.
func (u *patience) within() (ctx context.Context, stop func()) {
	if ctx = u.ctx; ctx == nil {
		ctx = context.Background()
	}
	if u.from == nil {
		return ctx, func() {}
	}
	ctx, cancel := context.WithCancelCause(ctx)
	gone := context.AfterFunc(u.from.context(), func() { cancel(ErrExited) })
	return ctx, func() { gone(); cancel(nil) }
}

// offer puts msg into a mailbox of its own making, or says why not; u is nil for a
// sender that does not wait.
func (p *proc) offer(a *acting, msg any, u *patience) error {
	for {
		switch p.cold.box.Push(msg) {
		case mailbox.Queued:
			return nil
		case mailbox.Wake:
			p.runner().prod(a)
			return nil
		case mailbox.Dropped:
			return ErrDropped
		case mailbox.Closed:
			if err := p.node.undeliverable(p.pid(), msg); err != nil {
				return err
			}
			return ErrNoProcess
		}
		blocks := (*userMailbox)(p).holdsUp()
		if !blocks || u == nil {
			p.node.deadLetter(deadletter.Letter{Cause: deadletter.MailboxFull, To: p.pid(), Message: msg})
			if blocks {
				return errNoRoom
			}
			return ErrMailboxFull
		}
		a.block()
		a.p.waitsFor(waiting.Space, p.pid())
		err := a.awaitSpace(p, msg, u)
		if a.p.waitsNoMore(); err != nil {
			return err
		}
	}
}

// errNoRoom is ErrMailboxFull where waiting would help.
var errNoRoom = fmt.Errorf("%w for now", ErrMailboxFull)

// deliverFar is Deliver to another node.
func (a *acting) deliverFar(ctx context.Context, where Atom, f dist.Frame) error {
	n := a.node
	if err := context.Cause(ctx); err != nil {
		return err // before anything is sent: its receipt might be faster
	}
	on := Dest(f.To)
	if f.To.IsZero() {
		on = At{Name: f.Name, Node: where}
	}
	if p := n.want(where); p == nil || !p.IsUp() {
		if err := a.awaitConnection(ctx, where, on); err != nil {
			return err
		}
	}
	p := n.peer(where)
	if p == nil {
		return ErrNotHere
	}
	if p.receipts() {
		n.traces().Away(a.pid(), f.To, f.Name, where, f.Payload)
		f.From, f.ID = a.sender(), n.newRef().Number()
		t := a.promise().arm()
		t.p.target = nil
		p.askSoon(a, t, f)
		v, err := a.await(ctx, t, waiting.Receipt, on)
		if err != nil {
			return err
		}
		return receiptError(v)
	}
	return fmt.Errorf("node: the protocol of this connection has no delivery receipts: %s: %w", where, errors.ErrUnsupported)
}

// awaitConnection is Connect for a process, which may be killed meanwhile; on is what it delivers to.
func (a *acting) awaitConnection(ctx context.Context, name Atom, on Dest) error {
	a.block()
	if a.p == nil {
		return a.node.Connect(ctx, name)
	}
	a.p.waitsFor(waiting.Receipt, on)
	defer a.p.waitsNoMore()
	ctx, stop := (&patience{ctx: ctx, from: a.p}).within()
	defer stop()
	return a.node.Connect(ctx, name)
}

// receipts reports whether the peer gives them.
func (p *peer) receipts() bool {
	link := p.Link()
	return link != nil && link.Peer().Receipts
}

// receiptError reads a receipt.
func receiptError(v any) error {
	switch v {
	case dist.Delivered:
		return nil
	case receiptFull:
		return errNoRoom
	case receiptRefused:
		return ErrMailboxFull
	case receiptDropped:
		return ErrDropped
	case receiptNoProc:
		return ErrNoProcess
	case receiptNoName:
		return ErrNoName
	}
	if text, ok := v.(string); ok { // of unread
		return errors.New(text)
	}
	return fmt.Errorf("node: the message was not delivered: %s", reason.PlainText(v))
}

// receipt is the reverse.
func receipt(err error) Atom {
	switch {
	case err == nil:
		return dist.Delivered
	case errors.Is(err, ErrDropped):
		return receiptDropped
	case err == errNoRoom:
		return receiptFull
	case errors.Is(err, ErrMailboxFull):
		return receiptRefused
	case errors.Is(err, ErrNoName):
		return receiptNoName
	}
	return receiptNoProc
}

// acknowledge is deliver for a message whose sender wants a receipt.
func (p *peer) acknowledge(f *dist.Frame) {
	p.signal(dist.Frame{Op: dist.OpReceipt, ID: f.ID, Payload: receipt(p.n.receive(p, &p.n.acting, f, nil))})
}
