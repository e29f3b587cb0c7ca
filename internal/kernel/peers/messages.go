package peers

import (
	"fmt"

	"github.com/actornode/actornode/internal/kernel/calls"
	"github.com/actornode/actornode/internal/kernel/process"
	"github.com/actornode/actornode/node/deadletter"
	"github.com/actornode/actornode/wire"
	"github.com/actornode/actornode/wire/dist"
)

// Operations on another node for which the connection determines the peer. A nil Cluster is that of a node that is not
// distributed.

// Of returns the peer of t's node, connecting it if necessary, or nil if that is impossible. first reports that a caller
// waits for it.
func (c *Cluster) Of(t process.Target, first bool) *Peer {
	if t.Node == "" {
		return nil
	}
	if t.ByName() {
		return c.Want(t.Node, first)
	}
	return c.Reach(t.PID)
}

// frameFor returns the frame of a message from a to t.
func frameFor(a *process.Acting, t process.Target, msg, token any) dist.Frame {
	f := dist.Frame{Op: dist.OpSend, From: a.Sender(), To: t.PID, Name: t.Name, Payload: msg, Token: token}
	if t.Name == "" {
		f.Ref = t.Alias
	}
	return f
}

// Send sends a message to t, a remote process.
func (c *Cluster) Send(a *process.Acting, t process.Target, msg, token any) error {
	switch p := c.Of(t, false); {
	case p == nil:
		return c.notHere(a.System, t, msg)
	case token == nil && !t.ByName():
		return p.Message(a, t.PID, msg)
	default:
		return p.Send(a, frameFor(a, t, msg, token))
	}
}

// notHere makes a dead letter of a message to t, on a node that this one cannot connect to.
func (c *Cluster) notHere(sys *process.System, t process.Target, msg any) error {
	if !t.ByName() {
		return sys.Undeliverable(t.PID, msg)
	}
	sys.DeadLetter(deadletter.Letter{Cause: deadletter.NotConnected, Name: t.Name, Alias: t.Alias, Node: t.Node, Message: msg})
	if t.Name == "" {
		return fmt.Errorf("%w: %v", process.ErrNotHere, t.Alias)
	}
	return fmt.Errorf("%w: %v", process.ErrNotHere, t.At())
}

// Answer sends the message of f, an answer, to t. It waits neither for a connection nor for space: see [Peer.Answer].
func (c *Cluster) Answer(a *process.Acting, t process.Target, f dist.Frame) error {
	if t.Node == "" {
		msg, err := a.System.Take(&t, f.Payload)
		if err != nil {
			return err
		}
		return t.Process.Accept(a, msg, f.Token, nil)
	}
	if p := c.Of(t, false); p != nil {
		return p.Answer(a, t, f)
	}
	return c.notHere(a.System, t, f.Payload)
}

// Call sends req to t, a remote process. The outcome settles ticket. async reports that the caller does not wait for the
// reply. It returns false if the node cannot be reached.
func (c *Cluster) Call(a *process.Acting, async bool, ticket process.Ticket, t process.Target, req, token any) bool {
	p := c.Of(t, true)
	if p == nil {
		return false
	}
	label, body := calls.Call, req
	if l, ok := req.(calls.Labelled); ok {
		label, body = l.Label()
	}
	if tr := a.System.Traces(); tr != nil {
		pid, name := t.PIDOrName()
		tr.Away(a.PID(), pid, name, p.Name, c.cfg.Node.Request(body, ticket))
	}
	if !async && p.DeferForRequest() {
		defer p.Box.EndDefer()
	}
	p.Call(a, ticket, t, label, body, token)
	if async {
		p.PaceAfter(a, req)
	}
	return true
}

// Bytes sends a copy of b to a remote process. It returns false if it has done nothing.
func (c *Cluster) Bytes(a *process.Acting, to wire.PID, b []byte) bool {
	p := c.Reach(to)
	if p == nil || a.System.Traces() != nil {
		return false
	}
	full, taken := p.Box.Bytes(a.OutboxTurn(), a.Sender(), to, b)
	if full {
		p.PaceAfter(a, b)
	}
	return taken
}

// Connected returns the peer of a PID, without connecting it, or nil if there is none.
func (c *Cluster) Connected(pid wire.PID) *Peer {
	if c == nil || c.cfg.System.Origin.Minted(pid) {
		return nil
	}
	return c.Get(pid.Node())
}

// Recent returns the peers that Reach remembers.
func (c *Cluster) Recent() []*Peer { return c.recent.All() }

// Remotes are the nodes of a Cluster as package process knows them. The Cluster of a node that is not distributed is nil.
type Remotes struct{ Cluster *Cluster }

func (r Remotes) Reach(pid wire.PID) process.Remote     { return remote(r.Cluster.Reach(pid)) }
func (r Remotes) Connected(pid wire.PID) process.Remote { return remote(r.Cluster.Connected(pid)) }
func (r Remotes) Named(name wire.Atom) process.Remote   { return remote(r.Cluster.Want(name, false)) }

// remote returns p, or nil if p is nil.
func remote(p *Peer) process.Remote {
	if p == nil {
		return nil
	}
	return p
}
