package node

import (
	"context"
	"errors"
	"fmt"

	"github.com/actornode/actornode/mailbox"
	"github.com/actornode/actornode/wire"
)

// What Deliver says of a message that is not in the mailbox, beside
// [ErrMailboxFull], [ErrNoProcess] and [ErrNoName].
var (
	ErrDropped    = errors.New("node: the receiver's mailbox is full and the message was dropped")
	ErrNoReceipts = errors.New("node: the protocol of this connection has no delivery receipts")
)

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
// [ErrNoName], [ErrNoReceipts], [*ExitError] if the connection is lost first, and
// the cause of ctx's end: then nobody knows; but to another node nothing is sent if
// ctx has ended before. Messages of one sender, whether by Deliver or Send, arrive in
// the order in which they were sent.
func Deliver[T Dest](ctx context.Context, from Caller, to T, msg any) error {
	me := from.caller()
	if me.p != nil && me.p.gone() {
		return ErrExited
	}
	f, where := frameTo(me.node, to)
	f.Payload, f.Token = msg, me.p.token()
	if where == me.node.cfg.Name {
		return me.node.receive(nil, me.p, me.c, &f, &patience{ctx, me.p})
	}
	return me.deliverFar(ctx, where, f)
}

// frameTo returns the frame of a message, which is still to be filled in, and the node
// that it is for.
func frameTo[T Dest](n *Node, to T) (f wire.Frame, where Atom) {
	f.Op = wire.OpSend
	switch to := any(to).(type) {
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

// SendNow is [SendTo] by one whom nothing may hold up, such as a server that answers
// whoever a message names. A mailbox here that has no room for the message makes a dead
// letter of it, whatever its policy, as for a message from another node. For another node
// it counts as an answer: see [ClusterLimits].Answers. Who sends a great deal by it to a
// node that does not read loses the connection. Errors are those of [Deliver] for a
// process here, of SendTo for another.
func SendNow[T Dest](from Caller, to T, msg any) error {
	me := from.caller()
	if me.p != nil && me.p.gone() {
		return ErrExited
	}
	f, where := frameTo(me.node, to)
	f.Payload, f.Token = msg, me.p.token()
	return me.node.sendNow(me.p, me.c, f, where)
}

// sendNow sends the message of f, from who, to the node where, as SendNow says.
func (n *Node) sendNow(who *proc, c *Context, f wire.Frame, where Atom) error {
	if where == n.cfg.Name {
		return n.receive(nil, acting(who, c), c, &f, nil)
	}
	var p *peer
	if f.To.IsZero() {
		p = n.peer(where)
	} else {
		p = n.reach(f.To)
	}
	switch {
	case p != nil:
		f.From = n.sender(who)
		p.sendAnswer(who, c, f)
		return nil
	case f.Name != "":
		return n.sendAt(who, c, At{f.Name, where}, f.Payload)
	case !f.Ref.IsZero():
		return n.sendAlias(who, c, f.Ref, f.Payload, f.Token)
	}
	return n.undeliverable(f.To, f.Payload)
}

// receive puts the message of f, from who, into a mailbox here, or says why not; who
// is nil for a message from another node, far. How long it waits for room, if that is
// what the mailbox's policy is, says u; nil: not at all.
func (n *Node) receive(far *peer, who *proc, c *Context, f *wire.Frame, u *patience) error {
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
	if t := n.traces(); t != nil && q != nil {
		t.message(who, f.From, q, f.Payload)
	}
	if far != nil && q != nil && q.showsPeer {
		f.Payload = far.shown(f.Payload)
	}
	switch {
	case q == nil:
		return ErrNoProcess
	case q.boxed:
		return q.offer(c, f.Payload, u)
	}
	return q.deliverTraced(c, f.Payload, f.Token)
}

// patience is how long a send waits for room in a mailbox: until its sender is
// gone, if it is a process, and until ctx ends, if it is not nil.
type patience struct {
	ctx  context.Context
	from *proc
}

// await waits for room in b for msg.
func (u *patience) await(b mailbox.Waiter, msg any) error {
	ctx := u.ctx
	if ctx == nil {
		ctx = context.Background()
	}
	if u.from != nil {
		both, cancel := context.WithCancelCause(ctx)
		defer cancel(nil)
		defer context.AfterFunc(u.from.context(), func() { cancel(ErrExited) })()
		ctx = both
	}
	return b.AwaitRoom(ctx, msg)
}

// offer puts msg into a mailbox of its own making, or says why not; u is nil for a
// sender that does not wait.
func (p *proc) offer(c *Context, msg any, u *patience) error {
	for {
		switch p.cold.box.Push(msg) {
		case mailbox.Queued:
			return nil
		case mailbox.Wake:
			p.wake(c)
			return nil
		case mailbox.Dropped:
			return ErrDropped
		case mailbox.Closed:
			if err := p.node.undeliverable(p.pid(), msg); err != nil {
				return err
			}
			return ErrNoProcess
		}
		blocks := p.holdsUp()
		if !blocks || u == nil {
			p.node.dead.add(DeadLetter{Cause: CauseMailboxFull, To: p.pid(), Message: msg})
			if blocks {
				return errNoRoom
			}
			return ErrMailboxFull
		}
		if c != nil {
			c.block()
		}
		if err := u.await(p.cold.box.(mailbox.Waiter), msg); err != nil {
			return err
		}
	}
}

// errNoRoom is ErrMailboxFull where waiting would help.
var errNoRoom = fmt.Errorf("%w for now", ErrMailboxFull)

// deliverFar is Deliver to another node.
func (me calling) deliverFar(ctx context.Context, where Atom, f wire.Frame) error {
	n := me.node
	if err := context.Cause(ctx); err != nil {
		return err // before anything is sent: its receipt might be faster
	}
	if err := n.Connect(ctx, where); err != nil {
		return err
	}
	p := n.peer(where)
	if p == nil {
		return ErrNotHere
	}
	if p.receipts() {
		if tr := n.traces(); tr != nil {
			tr.away(me.p, f.To, At{f.Name, where}, f.Payload)
		}
		f.From, f.ID = n.sender(me.p), n.newRef().Number()
		t := me.promise().arm()
		t.p.target = nil
		p.askSoon(me.c, t, f)
		v, err := me.await(ctx, t)
		if err != nil {
			return err
		}
		return receiptError(v)
	}
	return fmt.Errorf("%w: %s", ErrNoReceipts, where)
}

// receipts reports whether the peer gives them.
func (p *peer) receipts() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.link != nil && p.link.Peer().Receipts
}

// receiptError reads a receipt.
func receiptError(v any) error {
	switch v {
	case wire.Delivered:
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
	return fmt.Errorf("node: the message was not delivered: %s", wire.FormatPlainMax(v, maxBrief))
}

// receipt is the reverse.
func receipt(err error) Atom {
	switch {
	case err == nil:
		return wire.Delivered
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
func (p *peer) acknowledge(f *wire.Frame) {
	p.signal(wire.Frame{Op: wire.OpReceipt, ID: f.ID, Payload: receipt(p.n.receive(p, nil, nil, f, nil))})
}
