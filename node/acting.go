package node

import (
	"time"

	"github.com/actornode/actornode/internal/box"
	"github.com/actornode/actornode/internal/executor"
	"github.com/actornode/actornode/node/internal/erpc"
	"github.com/actornode/actornode/node/internal/outbox"
)

// acting says who acts: the process whose code runs, and what runs it. Each [Context] and each
// [Process] begins with one; that of the [Node] stands for plain goroutines and for the node
// itself. Its exported methods are what all three offer.
//
// Whoever runs the process owns it. That of the Node is never written after Start.
type acting struct {
	node *Node
	p    *proc            // the process; nil: a plain goroutine, or the node
	w    *executor.Worker // on whose stage the code runs; nil: on none
	ctx  *Context         // of w, or of an Actor that a scheduler of its own runs; nil: neither
	proc *Process         // the process, if it is a blocking one; nil: it is not

	inline *executor.InlineWorker // the reader of a connection, which soon runs what it wakes; nil: it is none, or does not
}

// caller is part of Caller.
func (a *acting) caller() *acting { return a }

// is reports whether the code of p, an Actor or a coroutine, is what acts.
func (a *acting) is(p *proc) bool { return a.p == p && a.ctx != nil }

// block gives up the stage before the code waits for something.
func (a *acting) block() {
	if a.w != nil {
		a.w.Block()
	}
}

// inject wakes e, which has been claimed; w is as in [executor.Pool.Inject].
func (a *acting) inject(e *executor.Entity, w *executor.Worker) {
	if a.inline != nil {
		a.inline.Inject(e)
		return
	}
	a.node.pool.Inject(e, w)
}

// turn returns the turn of an actor on whose worker the code runs, nil: it runs on none.
func (a *acting) turn() *outbox.Turn {
	if a.w == nil {
		return nil
	}
	return &a.ctx.turn
}

// newRef makes a reference.
func (a *acting) newRef() Ref {
	if a.ctx != nil {
		return a.node.origin.RefOf(a.ctx.refs.next(a.node))
	}
	return a.node.newRef()
}

// gone reports whether the process that acts is dead.
func (a *acting) gone() bool { return a.p != nil && a.p.gone() }

// sender is the process that a message to another node comes from: for a plain goroutine the
// one that stands for it.
func (a *acting) sender() PID {
	if a.p != nil {
		return a.p.pid()
	}
	return a.node.self()
}

// pid is who acts, zero: a plain goroutine, or the node itself.
func (a *acting) pid() PID {
	if a.p == nil {
		return PID{}
	}
	return a.p.pid()
}

// Send puts msg into the mailbox of a process. A message to a process that is gone, or to
// an alias that is not active, is a dead letter, as in Erlang, not an error. Errors:
// [ErrMailboxFull], [ErrCycle], [ErrExited] (the process that sends is dead), [ErrNoName] (nobody has the
// name on this node), [ErrNodeStopped], [ErrNotHere], [ErrNoDest], and for another node
// [*wire.EncodeError]: msg holds what cannot be sent there, such as a value of a type that is
// not registered. As long as that node is being connected, what nodes of some kind take is not
// refused; if it is none of that kind, there is a dead letter alone.
func (a *acting) Send(to Dest, msg any) error {
	pid, ok := to.(PID)
	if !ok {
		return a.sendTo(to, msg)
	}
	if a.p != nil && a.p.status.Load() != alive {
		if done, err := a.p.sendWith(a, pid, msg); done {
			return err
		}
	}
	p := a.node.lookup(pid)
	if p == nil {
		return a.node.sendFar(a, pid, msg, a.p.token())
	}
	if t := a.node.traces(); t != nil {
		t.Message(a.pid(), p.pid(), msg)
	}
	if a.proc != nil {
		return a.proc.deliver(p, msg)
	}
	err := p.deliver(a, msg)
	if a.w != nil {
		a.w.Sent()
	}
	return err
}

// sendTo is Send where to is no PID.
func (a *acting) sendTo(to Dest, msg any) error {
	if a.gone() {
		return ErrExited
	}
	switch to := to.(type) {
	case Atom:
		p, err := a.node.named(to, msg)
		if err != nil {
			return err
		}
		return a.Send(p.pid(), msg)
	case At:
		if to.Node == a.node.cfg.Name {
			return a.sendTo(to.Name, msg)
		}
		return a.node.sendAt(a, to, msg)
	case Ref:
		return a.node.sendAlias(a, to, msg, a.p.token())
	case erpc.Function:
		return a.applyCast(to)
	}
	return ErrNoDest
}

// SendBytes is Send for a copy of b, which stays the caller's: it may be written anew as
// soon as SendBytes has returned, like what is given to an io.Writer. The message is a
// []byte of its own. For another node the bytes are copied to where they are sent from,
// if they are few, and nothing is allocated; otherwise the copy takes one allocation,
// where Send takes one for what is in the message and one for the message.
func (a *acting) SendBytes(to Dest, b []byte) error {
	if pid, ok := to.(PID); ok && (a.p == nil || a.p.status.Load() == alive) && a.node.bytesAway(a, pid, b) {
		return nil
	}
	return a.Send(to, box.Bytes(b))
}

// SendAfter sends msg to a process of this node after d. If its mailbox has no room then
// and the policy Block, the timer goes on until there is room, which it looks for every
// 100 ms at least; with another policy the message is a dead letter. It is one, too, when
// the process exits before; for a process that is gone already, or another node's, the
// timer is over at once. A name or an alias stands for the process that has it now.
// Errors: [ErrBadTimeout], [ErrNodeStopped].
func (a *acting) SendAfter(d time.Duration, to Dest, msg any) (*Timer, error) {
	return a.node.timer(d, 0, to, msg)
}

// SendInterval sends msg to a process of this node every d, until the timer is cancelled
// or the process is gone. Each message that its mailbox has no room for is a dead letter,
// whatever the policy, and the timer goes on. Errors: [ErrBadTimeout] (d must be above 0),
// [ErrNodeStopped].
func (a *acting) SendInterval(d time.Duration, to Dest, msg any) (*Timer, error) {
	if d == 0 {
		return nil, ErrBadTimeout
	}
	return a.node.timer(d, d, to, msg)
}

// Spawn starts a process; an Actor that spawns has it on its own stage. Errors:
// [ErrNodeStopped], [ErrNilBehaviour], [ErrTooMany], [ErrExited].
func (a *acting) Spawn(b Actor) (PID, error) {
	pid, _, err := a.node.spawn(a, &noOptions, b)
	return pid, err
}

// SpawnOpt starts a process with options. Errors beside those of Spawn:
// [ErrBadOption], [ErrNameTaken], [ErrBadName], [ErrNoProcess] (Beside).
func (a *acting) SpawnOpt(o Options, b Actor) (PID, error) {
	pid, _, err := a.node.spawn(a, &o, b)
	return pid, err
}

// Exit sends an exit signal to a process, as exit/2 does; that of a Node comes from nobody.
// Erlang's exit/2 takes a PID only. Here a name or an alias stands for the process that has it
// now; for a name on another node, that node is asked first which process that is. Where there
// is none, nothing happens. A blocking process that so ends itself is unwound at once.
func (a *acting) Exit(to Dest, reason any) {
	if a.gone() {
		a.unwind()
		return
	}
	from := a.pid()
	if at, ok := a.node.elsewhere(to); ok {
		n := a.node
		n.askWhere(a, at, func(pid PID, _ any) {
			if !pid.IsZero() {
				n.exitSignal(&n.acting, from, pid, reason)
			}
		})
		return
	}
	if pid, ok := a.node.resolve(to); ok {
		a.node.exitSignal(a, from, pid, reason)
	}
	a.unwind()
}

// unwind ends the goroutine of a blocking process that is dead; a handle's goes on.
func (a *acting) unwind() {
	if s := a.proc; s != nil && s.fn != nil && s.own.gone() {
		s.die()
	}
}

// resolve finds the process that a destination stands for now; false: there is none, or it
// is a name on another node.
func (n *Node) resolve(to Dest) (PID, bool) {
	if pid, ok := to.(PID); ok {
		return pid, true
	}
	if p := n.names.Find(to); p != nil {
		return p.PID(), true
	}
	return PID{}, false
}

// askWhere asks another node which process has a name there, and calls then with it; with the
// zero PID and an exit reason if there is none, or the node is not there.
func (n *Node) askWhere(a *acting, at At, then func(pid PID, why any)) {
	f := Async[any](a, erpc.NewFunction(at.Node, "erlang", "whereis", []any{at.Name}), struct{}{})
	f.w.Add(a, func(*acting) {
		v, err := f.p.Result()
		pid, found := v.(PID)
		switch exited, _ := err.(*ExitError); {
		case exited != nil && exited.Reason == NoConnection:
			then(PID{}, NoConnection)
		case !found || err != nil:
			then(PID{}, NoProc)
		default:
			then(pid, nil)
		}
	})
}
