package node

import (
	"context"
	"fmt"
	"log/slog"

	"github.com/actornode/actornode/internal/kernel/process"
	"github.com/actornode/actornode/internal/kernel/runner"
)

// core is what a process can do, whatever runs its code: its exported methods are those that [Context] and [Process]
// share, besides those of common.
type core struct{ common }

// Self returns the PID of the process.
func (c *core) Self() PID {
	if p := c.by.Process; p != &c.by.System.Over {
		return p.PID()
	}
	return c.by.Own().PID()
}

// Blocking calls f, which may block, and returns when f has. An Actor's handler and a coroutine give up their stage
// first, so that others have their turns, and get another turn afterwards. See package stage.
func (c *core) Blocking(f func()) { runner.Aside(c.by, f) }

// Unknown handles a message that the process has no code for, such as the default of a type switch. The caller of a
// request of any type gets an error that wraps [ErrUnhandled] and names the type; of any other message the type is
// logged. The process goes on and keeps its state, while an error that the handler returns would end it.
func (c *core) Unknown(msg any) {
	n := c.Node()
	name := typeName(behaviourOf(c.by.Own()))
	if r, ok := n.AsRequest(msg); ok {
		err := fmt.Errorf("%w: a call of %v, a %s, with a %T", ErrUnhandled, c.Self(), name, r.Body)
		_ = r.Fail(err) // the caller may have given up
		return
	}
	if _, m := sentBy(msg); n.Log().Enabled(context.Background(), slog.LevelWarn) {
		n.Log().Warn("unexpected message", "pid", c.Self().String(), "behaviour", name, "type", fmt.Sprintf("%T", m))
	}
}

// MailboxLen returns how many messages wait for the process, including the one that an Actor handles, as Info does.
func (c *core) MailboxLen() int { return c.by.Own().Intake().Len() }

// Parent returns the PID of the process that spawned this one; the zero PID if
// it was none.
func (c *core) Parent() PID {
	if m := c.before(); m != nil {
		return m.Parent
	}
	if c.by.Own().Parent == 0 {
		return PID{}
	}
	return c.by.System.Origin.PID(c.by.Own().Parent - 1)
}

// takeBack removes a link or a monitor that the process has from before it came to this node.
func (c *core) takeBack(link PID, monitor Ref) bool {
	return c.before().Take(&c.by.Process.Mu, link, monitor)
}

// before returns what the process has left from before it came to this node; nil: nothing.
func (c *core) before() *process.Moved {
	p := c.by.Own()
	p.Mu.Lock()
	defer p.Mu.Unlock()
	if p.Cold == nil {
		return nil
	}
	return p.Cold.Moved
}

// Registered returns the name that the process is registered under, "" for none.
func (c *core) Registered() Atom {
	p := c.by.Own()
	p.Mu.Lock()
	defer p.Mu.Unlock()
	if p.Cold == nil {
		return ""
	}
	return p.Cold.Name
}

// Node returns the node.
func (c *core) Node() *Node { return nodeOf(c.by.System) }

// Context returns a context that is cancelled when the process exits.
func (c *core) Context() context.Context {
	if c.by.Blocks != nil {
		return c.by.Blocks.Context()
	}
	return c.by.Own().Context()
}

// Reply answers a call as [From.Reply] does, at less cost if the caller is on this node.
func (c *core) Reply(to From, v any) error {
	c.by.Own() // or panic
	return to.answer(c.by, v, nil)
}

// Link makes the exit of either process an exit signal for the other. Linking to a process that is gone, or to a name
// that nobody has, brings an exit signal with the reason noproc. Erlang's link/1 takes only a PID. Here a name or an
// alias means the process that has it now; for a name on another node, that node is asked first which process that is,
// and the link is there once it has answered.
func (c *core) Link(to Dest) {
	switch t := c.by.System.Target(to); {
	case t.ByName():
		c.by.Own().LinkName(c.by, t.At())
	case !t.PID.IsZero():
		c.by.Own().Link(c.by, t.PID)
	default:
		c.by.Own().LinkFailed(c.by, PID{}, NoProc)
	}
}

// Unlink removes the link; no exit signal comes over it afterwards. Erlang's unlink/1 takes only a PID. Here a name or
// an alias means the process that has it now. A name on another node means the process that Link found by it, even if
// that no longer has the name, and ends a Link that is still under way; without such a Link that node is asked first,
// and the link is gone once it has answered.
func (c *core) Unlink(to Dest) {
	switch t := c.by.System.Target(to); {
	case t.ByName():
		c.by.Own().UnlinkName(c.by, t.At())
	case !t.PID.IsZero():
		c.takeBack(t.PID, Ref{})
		c.by.Own().Unlink(c.by, t.PID)
	}
}

// linked reports whether the process is linked to another: see inside.Linked.
func (c *core) linked(to Dest) bool {
	t, p := c.by.System.Target(to), c.by.Own()
	if t.ByName() {
		return p.LinkedName(t.At())
	}
	p.Mu.Lock()
	defer p.Mu.Unlock()
	return !t.PID.IsZero() && p.HasLinkLocked(t.PID)
}

// Monitor asks for one [Down] when a process exits. A name means the process that has it now, and the Down says the
// name; an alias means the process that it belongs to.
func (c *core) Monitor(to Dest) Ref { return c.by.Own().Monitor(c.by, to) }

// Demonitor removes a monitor made by Monitor or MonitorNode, and reports whether it was there. Its message may be in
// the mailbox already.
func (c *core) Demonitor(ref Ref) bool { return c.demonitor(ref, false) }

// DemonitorFlush is Demonitor, and removes the monitor's [Down] from the mailbox if it is there already.
func (c *core) DemonitorFlush(ref Ref) bool { return c.demonitor(ref, true) }

func (c *core) demonitor(ref Ref, flush bool) bool {
	far := c.takeBack(PID{}, ref)
	return c.by.Own().Demonitor(c.by, ref, flush) || far
}

// MonitorNode asks for one [NodeDown] when the connection to a node is lost. If there is none, it is made; if that
// fails, the NodeDown comes at once.
func (c *core) MonitorNode(name Atom) Ref { return c.by.Own().MonitorNode(c.by, name) }

// MonitorNodes asks for a [NodeUp] for every node that connects from now on, hidden or not: the first half of
// net_kernel:monitor_nodes. See [Node.Nodes] for those that are connected already, MonitorNode for the loss of one.
func (c *core) MonitorNodes() { c.Node().watchers.Watch(c.by.Own(), true) }

// DemonitorNodes undoes MonitorNodes.
func (c *core) DemonitorNodes() { c.Node().watchers.Watch(c.by.Own(), false) }

// TrapExit chooses whether exit signals become [Exited] messages, and returns the previous choice.
func (c *core) TrapExit(on bool) bool { return c.by.Own().SetTrap(on) }

// Alias makes a reference by which others can send to this process until Unalias
// deactivates it.
func (c *core) Alias() Ref { return c.by.Alias(false, nil) }

// AliasOnce is Alias for one message, which deactivates the alias.
func (c *core) AliasOnce() Ref { return c.by.Alias(true, nil) }

// Unalias deactivates an alias. It reports whether it was active.
func (c *core) Unalias(ref Ref) bool { return c.by.Own().Unalias(ref) }
