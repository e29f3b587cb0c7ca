package migrate

import (
	"errors"
	"fmt"

	"github.com/actornode/actornode/internal/kernel/peers"
	"github.com/actornode/actornode/internal/kernel/process"
	"github.com/actornode/actornode/node"

	"github.com/actornode/actornode/wire"
)

// recordOf returns the record of where a process was or is, or nil.
func recordOf(p *process.Process) *process.Moved {
	if p.Cold == nil {
		return nil
	}
	return p.Cold.Moved
}

// relayExit delivers an exit signal that a forwarder got for a process, as if it had come here from the forwarder's
// node. A signal from a link that the process has needs no permission.
//
//actornode:blocks the lock of a process is held for a moment
func relayExit(c *node.Context, by peers.Account, m exited) {
	p := local(c, m.To)
	if p == nil || p.Protected {
		return
	}
	p.Mu.Lock()
	r := recordOf(p)
	if !knows(r, m.Identity) {
		p.Mu.Unlock()
		return
	}
	if !r.Next.IsZero() { // it has moved on
		next := r.Next
		p.Mu.Unlock()
		m.To = next
		_ = c.Send(at(next.Node()), m) // lost with the connection, like any signal
		return
	}
	_, mine := r.Links[m.From]
	if !mine {
		p.Mu.Unlock()
		if !by.MayEnd(m.To) {
			return
		}
		p.Mu.Lock()
	} else {
		delete(r.Links, m.From)
	}
	if mine {
		p.RemoveLinkLocked(m.From)
	}
	traps := p.TrapsLocked()
	p.Mu.Unlock()
	switch process.Link(m.Reason, traps) {
	case process.Message:
		p.Signal(&p.System.Plain, node.Exited{From: m.From, Reason: m.Reason})
	case process.End:
		p.Exit(&p.System.Plain, m.Reason)
	}
}

// relayDown delivers a Down that a forwarder got for a process.
//
//actornode:blocks the lock of a process is held for a moment
func relayDown(c *node.Context, m down) {
	p := local(c, m.To)
	if p == nil {
		return
	}
	p.Mu.Lock()
	r := recordOf(p)
	if !knows(r, m.Identity) {
		p.Mu.Unlock()
		return
	}
	if next := r.Next; !next.IsZero() {
		p.Mu.Unlock()
		m.To = next
		_ = c.Send(at(next.Node()), m)
		return
	}
	_, mine := r.Monitors[m.Down.Ref]
	delete(r.Monitors, m.Down.Ref)
	p.Mu.Unlock()
	if mine {
		p.Signal(&p.System.Plain, m.Down)
	}
}

// takeAway makes a forwarder here, or the process itself, drop a link or a monitor.
//
//actornode:blocks the lock of a process is held for a moment
func takeAway(c *node.Context, m drop) {
	p := local(c, m.Holder)
	if p == nil {
		return
	}
	p.Mu.Lock()
	known := knows(recordOf(p), m.Identity)
	p.Mu.Unlock()
	switch {
	case !known:
	case !m.Monitor.IsZero():
		p.Demonitor(&p.System.Plain, m.Monitor, false)
	default:
		p.Unlink(&p.System.Plain, m.Link)
	}
}

// cutOff fires the links and monitors that a process has through a forwarder that can no longer be reached.
//
//actornode:blocks the lock of a process is held for a moment
func cutOff(c *node.Context, p *process.Process, holder node.PID) {
	p.Mu.Lock()
	r := recordOf(p)
	var links []node.PID
	var monitors []wire.Ref
	var identity wire.Ref
	if r != nil && r.Next.IsZero() {
		identity = r.Identity
		for l, h := range r.Links {
			if h == holder {
				links = append(links, l)
			}
		}
		for m, h := range r.Monitors {
			if h == holder {
				monitors = append(monitors, m)
			}
		}
	}
	p.Mu.Unlock()
	for _, ref := range monitors {
		relayDown(c, down{p.PID(), node.Down{Ref: ref, Reason: node.NoConnection}, identity})
	}
	for _, l := range links {
		relayExit(c, c.Node().Inside(process.Key{}).AskerOf(nil), exited{p.PID(), l, node.NoConnection, identity}) // by this node
	}
}

// attempt runs a user's code, and turns a panic into an error.
func attempt(f func() error) (err error) {
	returned := false
	defer func() {
		if !returned {
			err = fmt.Errorf("%w: %v", ErrFailed, node.Panicked(recover()))
		}
	}()
	err = f()
	returned = true
	return err
}

// sendOn forwards a message to the process. If it cannot be sent, its sender gets an error if it waits for a
// reply; otherwise there is a dead letter or a line in the log.
func sendOn(c *node.Context, to node.PID, msg any) {
	err := c.Send(to, msg)
	if e := (*wire.EncodeError)(nil); err == nil || !errors.As(err, &e) {
		return // a message that is not sent for another reason is a dead letter
	}
	if r, ok := c.Node().AsRequest(msg); ok {
		_ = r.From.Fail(err)
		return
	}
	c.Node().Log().Warn("a message cannot follow a process to another node", "process", c.Self().String(),
		"to", to.String(), "type", fmt.Sprintf("%T", msg), "error", err.Error())
}
