package node

import (
	"fmt"
	"time"

	"github.com/actornode/actornode/internal/kernel/erpc"
	"github.com/actornode/actornode/internal/kernel/process"
	"github.com/actornode/actornode/internal/wire/box"
)

// common is what [Context], [Process] and [Node] have in common: its exported methods are what all
// three offer.
type common struct{ by *process.Acting }

// nodeOf returns the node that processes belong to.
func nodeOf(sys *process.System) *Node { return (*Node)(sys.Host.(*host)) }

// Send puts msg into the mailbox of a process. A message to a process that is gone, or to an alias that is not active,
// is a dead letter, as in Erlang, not an error. Errors: [ErrMailboxFull], [ErrCycle], [ErrExited] (the sending process
// is dead), [ErrNoName] (nobody has the name on this node), [ErrNodeStopped], [ErrNotHere], [ErrArgument] (nil, or a
// zero PID or Ref), and for another node [*wire.EncodeError]: msg holds what cannot be sent there, such as a value of a type
// that is not registered. While that node is being connected, Send accepts what some kind of node takes; if that node
// is of another kind, there is only a dead letter.
//
// What becomes of a message for a full mailbox on this node is up to its policy. With mailbox.DropNewest the message is
// dropped and Send returns nil; [Deliver], [Call] and [SendOptions].NoWait return [ErrDropped]. With mailbox.Block Send waits
// without a limit: until there is space, or the receiver or the sending process has exited.
func (c *common) Send(to Dest, msg any) error {
	a := c.by
	pid, ok := to.(PID)
	if !ok {
		return c.sendTo(to, msg)
	}
	if a.Process != nil && !a.Process.Plain() || a.Process == nil && a.System.Sends != nil {
		if done, err := a.SendWith(pid, msg); done {
			return err
		}
	}
	p := a.System.Lookup(pid)
	if p == nil {
		return c.sendTarget(a.System.TargetOf(pid), msg)
	}
	if t := a.System.Traces(); t != nil {
		var err error
		if msg, err = p.Shown(t, a.PID(), msg); err != nil {
			return err
		}
	}
	if a.Blocks != nil {
		return a.Blocks.Deliver(p, msg)
	}
	err := p.Deliver(a, msg)
	if a.Worker != nil {
		a.Worker.Sent()
	}
	return err
}

// sendTo is Send for a to that is not a PID.
func (c *common) sendTo(to Dest, msg any) error {
	if c.by.Gone() {
		return ErrExited
	}
	if err := c.by.MaySend(to, msg, false); err != nil {
		return err
	}
	if f, ok := to.(erpc.Function); ok {
		return nodeOf(c.by.System).applyCast(c.by, f)
	}
	return c.sendTarget(c.by.System.Target(to), msg)
}

// sendTarget is Send to a resolved destination, of a message that has been checked.
func (c *common) sendTarget(t process.Target, msg any) error {
	a := c.by
	if t.Node != "" {
		return nodeOf(a.System).peers.Send(a, t, msg, a.Process.Token())
	}
	switch msg, err := a.System.Take(&t, msg); {
	case err == nil:
		return a.SendTo(t.Process, msg)
	case err == ErrNoProcess: // a message to the dead is lost
		return nil
	default:
		return err
	}
}

// SendBytes sends a copy of b, a []byte of its own: the caller may reuse b as soon as SendBytes returns, as with an
// io.Writer. For another node a few bytes are copied to where they are sent from, and nothing is allocated; otherwise
// the copy takes one allocation, where Send takes one for what is in the message and one for the message.
func (c *common) SendBytes(to Dest, b []byte) error {
	a := c.by
	plain := a.Process == nil || a.Process.Plain()
	if pid, ok := to.(PID); ok && plain && !a.Checked() && nodeOf(a.System).peers.Bytes(a, pid, b) {
		return nil
	}
	return c.Send(to, box.Bytes(b))
}

// SendAfter sends msg to a process after d. A name or an alias means the process that has it then, as in Erlang: one
// that is restarted meanwhile gets the message. If its mailbox is full then and has the policy Block, the message waits
// for space, which is looked for every 100 ms at least; with another policy the message is a dead letter. So it is when
// to is the PID of a process of this node that exits before; for one that is gone already the timer is over at once.
// Errors: [ErrArgument] (d below 0, or no destination), [ErrNodeStopped].
func (c *common) SendAfter(d time.Duration, to Dest, msg any) (*Timer, error) {
	return nodeOf(c.by.System).timer(c.by, d, 0, to, msg)
}

// SendInterval sends msg to a process every d, until the timer is cancelled or, if to is a PID of this node, the
// process is gone. A name or an alias means the process that has it each time; if there is none, the message is a dead
// letter. So is each message that the mailbox has no space for, whatever the policy, and the timer goes on. Errors:
// [ErrArgument] (d not above 0, or no destination), [ErrNodeStopped].
func (c *common) SendInterval(d time.Duration, to Dest, msg any) (*Timer, error) {
	if d <= 0 {
		return nil, fmt.Errorf("%w: the interval of a timer must be above 0", ErrArgument)
	}
	return nodeOf(c.by.System).timer(c.by, d, d, to, msg)
}

// Spawn starts a process; one that an Actor spawns is on the Actor's stage. Errors: [ErrNodeStopped],
// [ErrArgument], [ErrTooMany], [ErrExited].
func (c *common) Spawn(b Actor) (PID, error) {
	return nodeOf(c.by.System).spawn(c.by, &noOptions, b)
}

// SpawnOpt starts a process with options. Errors besides those of Spawn: [ErrNameTaken], [ErrNoProcess] (Beside).
func (c *common) SpawnOpt(o Options, b Actor) (PID, error) {
	return nodeOf(c.by.System).spawn(c.by, &o, b)
}

// Exit sends an exit signal to a process, as exit/2 does; one from a Node has no sender. Erlang's exit/2 takes only a
// PID. Here a name or an alias means the process that has it now; for a name on another node, that node is asked first
// which process that is. If there is none, nothing happens. A blocking process that ends itself this way is unwound at
// once.
func (c *common) Exit(to Dest, reason any) {
	a := c.by
	if a.Gone() {
		a.Unwind()
		return
	}
	from, sys := a.PID(), a.System
	switch t := sys.Target(to); {
	case t.ByName():
		sys.Host.Whereis(a, t.At(), func(pid PID, _ any) {
			if !pid.IsZero() {
				sys.ExitSignal(&sys.Plain, from, pid, reason)
			}
		})
		return
	case !t.PID.IsZero():
		sys.ExitSignal(a, from, t.PID, reason)
	}
	a.Unwind()
}
