package node

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/actornode/actornode/internal/executor"
	"github.com/actornode/actornode/internal/fiber"
	"github.com/actornode/actornode/node/internal/table"
	"github.com/actornode/actornode/wire"
)

// Short names for the vocabulary that every program with actors uses.
type (
	PID  = wire.PID
	Ref  = wire.Ref
	Atom = wire.Atom
)

// Context is what an Actor's handler acts through: the runtime, seen from
// inside one process. It belongs to the goroutine that runs the handler and is
// valid until the handler returns; keep the PID, not the Context.
type Context struct {
	node       *Node
	p          *proc
	w          *executor.Worker // nil: not run by stages
	slots      table.Slots
	refs       refs
	tally      *tally // w's
	deferred   deferred
	sendsAtEnd atomic.Pointer[outbox] // to which deferred goes; nil: nothing is deferred

	promises []*promise // for calls to come

	home *fiber.Fiber // the worker's goroutine

	_ [32]byte // so that those of two workers have no cache line in common
}

// Self returns the PID of the process.
func (c *Context) Self() PID { return c.p.pid() }

// Parent returns the PID of the process that spawned this one; the zero PID if
// it was none.
func (c *Context) Parent() PID {
	if c.p.parent == 0 {
		return PID{}
	}
	return c.node.origin.PID(c.p.parent - 1)
}

// Reply answers a call as [From.Reply] does, at less cost where the caller is
// near.
func (c *Context) Reply(to From, v any) error { return to.answer(c, v, nil) }

// DisplayName is what the process is called in logs: its registered name, or its
// PID.
func (c *Context) DisplayName() string {
	if name := c.Registered(); name != "" {
		return string(name)
	}
	return c.p.pid().String()
}

// Registered returns the name that the process is registered under, "" for none.
func (c *Context) Registered() Atom {
	c.p.mu.Lock()
	defer c.p.mu.Unlock()
	if c.p.cold == nil {
		return ""
	}
	return c.p.cold.name
}

// Node returns the node.
func (c *Context) Node() *Node { return c.node }

// Context returns a context that is cancelled when the process exits.
func (c *Context) Context() context.Context { return c.p.context() }

// Send puts msg into the mailbox of to. A message to a process that is gone is
// a dead letter, as in Erlang, not an error; [ErrMailboxFull] and [ErrExited]
// are the errors it returns.
func (c *Context) Send(to PID, msg any) error {
	if c.p.status.Load() != alive {
		if done, err := c.p.sendTraced(c, to, msg); done {
			return err
		}
	}
	p := c.node.lookup(to)
	if p == nil {
		return c.node.sendFar(c.p, c, to, msg, c.p.token())
	}
	if t := c.node.traces(); t != nil {
		t.message(c.p, PID{}, p, msg)
	}
	err := p.deliver(c, msg)
	if c.w != nil {
		c.w.Sent()
	}
	return err
}

// SendName sends to whoever is registered under name, or returns [ErrNoName].
func (c *Context) SendName(name Atom, msg any) error {
	if c.p.gone() {
		return ErrExited
	}
	p, err := c.node.named(name, msg)
	if err != nil {
		return err
	}
	return c.Send(p.pid(), msg)
}

// SendAlias sends to the process that ref is an alias of. A message to an alias
// that is not active is a dead letter.
func (c *Context) SendAlias(ref Ref, msg any) error {
	if c.p.gone() {
		return ErrExited
	}
	return c.node.sendAlias(c.p, c, ref, msg, c.p.token())
}

// Spawn starts a process on the stage of this one.
func (c *Context) Spawn(b Actor) (PID, error) {
	pid, _, err := c.node.spawn(c, c.p, &noOptions, b)
	return pid, err
}

// SpawnLink starts a process that is linked to this one from its beginning.
func (c *Context) SpawnLink(b Actor) (PID, error) { return c.SpawnOpt(Options{Link: true}, b) }

// SpawnMonitor starts a process that is monitored from its beginning.
func (c *Context) SpawnMonitor(b Actor) (PID, Ref, error) {
	return c.node.spawn(c, c.p, &Options{monitor: true}, b)
}

// SpawnOpt starts a process with options.
func (c *Context) SpawnOpt(o Options, b Actor) (PID, error) {
	pid, _, err := c.node.spawn(c, c.p, &o, b)
	return pid, err
}

// Become makes b the behaviour from the next message on. Messages that were
// left by ErrUnhandled are offered to it first, in the order of their arrival.
// After a Push it replaces the upper behaviour. A nil behaviour is a crash with
// [ErrNilBehaviour].
func (c *Context) Become(b Actor) { c.p.become(c, b, false) }

// Push is Become with a way back: Unbecome returns to the present behaviour.
func (c *Context) Push(b Actor) { c.p.become(c, b, true) }

// Unbecome returns to the behaviour before the last Push. It reports whether
// there was one.
func (c *Context) Unbecome() bool {
	k := c.p.cold
	if k == nil || len(k.stack) == 0 {
		return false
	}
	last := len(k.stack) - 1
	b := k.stack[last]
	k.stack[last] = nil
	k.stack = k.stack[:last]
	c.p.become(c, b, false)
	return true
}

// Link makes the exit of either process an exit signal for the other. Linking
// to a process that is gone brings an exit signal with the reason noproc.
func (c *Context) Link(to PID) { c.p.link(c, to) }

// Unlink takes the link away; no exit signal comes over it afterwards.
func (c *Context) Unlink(to PID) { c.p.unlink(c, to) }

// Monitor asks for one [Down] when the process exits.
func (c *Context) Monitor(to PID) Ref { return c.p.monitor(c, to, "") }

// MonitorName monitors whoever is registered under name now.
func (c *Context) MonitorName(name Atom) Ref { return c.p.monitorName(c, name) }

// Demonitor takes a monitor away; with flush, its Down is removed from the
// mailbox too if it is there already. It reports whether the monitor was there.
func (c *Context) Demonitor(ref Ref, flush bool) bool { return c.p.demonitor(c, ref, flush) }

// TrapExit chooses whether exit signals become [Exited] messages, and returns
// what was chosen before.
func (c *Context) TrapExit(on bool) bool { return c.p.setTrap(on) }

// Exit sends an exit signal to a process, as exit/2 does.
func (c *Context) Exit(to PID, reason any) {
	if !c.p.gone() {
		c.node.exitSignal(c, c.p.pid(), to, reason)
	}
}

// Alias makes a reference by which others can send to this process until it is
// taken away by Unalias, or, with once, by the first message.
func (c *Context) Alias(once bool) Ref { return c.p.alias(c.newRef(), once) }

// Unalias deactivates an alias. It reports whether it was active.
func (c *Context) Unalias(ref Ref) bool { return c.p.unalias(ref) }

// SendAfter sends msg to a process after d.
func (c *Context) SendAfter(d time.Duration, to PID, msg any) (*Timer, error) {
	return c.node.SendAfter(d, to, msg)
}

// SendInterval sends msg to a process every d.
func (c *Context) SendInterval(d time.Duration, to PID, msg any) (*Timer, error) {
	return c.node.SendInterval(d, to, msg)
}

// block gives up the stage before the handler waits for something.
func (c *Context) block() {
	if c.w != nil {
		c.w.Block()
	}
}

// caller is part of Caller.
func (c *Context) caller() calling { return calling{node: c.node, c: c, p: c.p} }

func (c *Context) newRef() Ref { return c.node.origin.RefOf(c.refs.next(c.node)) }
