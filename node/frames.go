package node

import (
	"errors"
	"fmt"

	"github.com/actornode/actornode/internal/kernel/calls"
	"github.com/actornode/actornode/internal/kernel/erpc"
	"github.com/actornode/actornode/internal/kernel/limits"
	"github.com/actornode/actornode/internal/kernel/process"
	"github.com/actornode/actornode/internal/kernel/tables"
	"github.com/actornode/actornode/internal/wire/links"
	"github.com/actornode/actornode/wire"
	"github.com/actornode/actornode/wire/dist"
)

// Handle is part of peers.ReaderNode: it does what a frame from p asks for. An error ends the
// connection.
func (p *peer) Handle(f *dist.Frame) error {
	n := p.n
	p.reading.Inline = p.reader.Inline()
	if u := links.UnreadableIn(f.Payload); u != nil && f.Op != dist.OpSend {
		f.Payload = p.cannotRead(u)
	} else if u != nil {
		p.unread(f, u)
		return nil
	}
	if ok, err := p.Permits(f); !ok {
		return err
	}
	switch f.Op {
	case dist.OpSend:
		if f.ID != 0 {
			p.acknowledge(f)
			return nil
		}
		p.deliver(f)
	case dist.OpReceipt:
		p.answer(&p.reading, n.sys.Origin.RefOf(f.ID), f.Payload, nil)
	case dist.OpLink:
		if f.From.Node() != p.Name {
			return p.notOurs(f)
		}
		if !p.RefusesLink(f) {
			p.LinkMade(f)
		}
	case dist.OpUnlink:
		p.LinkTaken(f)
	case dist.OpUnlinkAck:
		p.Acknowledged(f)
	case dist.OpExit:
		if f.From.Node() != p.Name {
			return p.notOurs(f)
		}
		p.LinkBroken(f)
	case dist.OpSignal:
		if !f.From.IsZero() && f.From.Node() != p.Name { // zero: a goroutine that is no process
			return p.notOurs(f)
		}
		if q := p.Named(f); q != nil && !p.Refuses(q, "exit") {
			n.sys.ExitSignal(&n.sys.Plain, f.From, q.PID(), n.values.Inward(f.Payload))
		}
	case dist.OpMonitor:
		p.MonitorMade(f)
	case dist.OpDemonitor:
		if m := p.Demonitored(f.Ref); m != nil {
			m.Forget()
		}
	case dist.OpDown:
		p.down(&p.reading, f)
	case dist.OpGroupLeader:
		if q := n.sys.Lookup(f.To); q != nil && !p.Refuses(q, "group_leader") && p.via.by.MayReach(f.Leader) {
			n.setLeader(f.To, f.Leader)
		}
	case dist.OpSpawn:
		n.spawnFor(p, f)
	case dist.OpSpawnReply:
		p.spawned(f)
	default:
		return fmt.Errorf("node: %s sent a signal of an unknown kind: %v", p.Name, f.Op)
	}
	return nil
}

// notOurs is the error for an exit signal, or one of a link, whose other end is not the peer's.
func (p *peer) notOurs(f *dist.Frame) error {
	return fmt.Errorf("node: %s sent a signal of %v, which is not its own process", p.Name, f.From)
}

// deliver is for a message. One that a bounded mailbox has no space for is a dead
// letter, whatever its policy: see [peers.Reader].
func (p *peer) deliver(f *dist.Frame) {
	n := p.n
	var q *process.Process
	switch m := f.Payload.(type) {
	case *links.Request:
		if q = p.Named(f); q != nil && !tables.IsAlias(f.Name) { // one for a single message is used up by it
			p.pass(q, f, p.called(q, f, m))
			return
		}
		p.MonitorMade(&dist.Frame{From: f.From, To: f.To, Name: f.Name, Ref: m.Ref})
		f.Payload = calls.Message(f)
	case *links.Reply:
		if v, err := n.values.Outcome(m.Value); p.settle(&p.reading, f.Ref, v, err, true) {
			return
		}
		f.Payload = calls.Message(f)
	}
	switch {
	case !f.Ref.IsZero():
		if t, ok := f.Payload.(wire.Tuple); ok && len(t) == 2 && p.replied(f.Ref, t[1]) {
			return
		}
		q, f.Payload = n.sys.Aliased(f.Ref, f.Payload)
	case f.Name != "":
		q, f.Payload, _ = n.sys.Named(f.Name, f.Payload)
	default:
		if q = n.sys.Lookup(f.To); q == nil {
			n.sys.Undeliverable(f.To, f.Payload)
		} else if ref, ok := calls.ReplyRef(f.Payload); ok &&
			(p.replied(ref, f.Payload.(wire.Tuple)[1]) || n.answered(ref, f.Payload)) {
			return // the caller's node knows no aliases
		}
	}
	if q == nil {
		return
	}
	p.pass(q, f, p.received(q, n.values.Message(f.Payload)))
}

// pass gives q the message of f, as q gets it.
func (p *peer) pass(q *process.Process, f *dist.Frame, msg any) {
	n := p.n
	f.Payload = msg
	if t := n.sys.Traces(); t != nil {
		_, msg := viaPeer(f.Payload)
		t.Received(f.From, q.PID(), msg)
	}
	switch {
	case f.Token != nil && !q.Boxed:
		q.DeliverWith(&n.sys.Plain, f.Payload, f.Token)
	default:
		p.hand(q, p.reader.InboxNode(f.Payload))
	}
}

// down is the end of what a call or a monitor watches.
func (p *peer) down(a *process.Acting, f *dist.Frame) {
	reason := p.n.values.Inward(f.Payload)
	if !p.answer(a, f.Ref, nil, &ExitError{Reason: reason}) {
		p.MonitorOver(f, reason)
	}
}

// spawned is the answer to a spawn that was asked for.
func (p *peer) spawned(f *dist.Frame) {
	if f.From.IsZero() {
		p.answer(&p.reading, f.Ref, nil, erpc.NotStarted(f.Payload))
		return
	}
	if p.Started(f) {
		p.answer(&p.reading, f.Ref, f.From, nil)
	}
}

// spawnFor starts a process that another node asks for: what this node exports,
// and the calls of erpc. The answer goes before anything that the process does.
func (n *Node) spawnFor(p *peer, f *dist.Frame) {
	s := f.Spawn
	refuse := func(reason any) {
		p.Signal(dist.Frame{Op: dist.OpSpawnReply, Ref: f.Ref, To: f.From, Payload: reason})
	}
	if err, unreadable := f.Payload.(error); unreadable {
		args := []any{"peer", string(p.Name), "error", err}
		if s != nil { // of what was to be started so much could be read
			args = append(args, "module", string(s.Module), "function", string(s.Function))
		}
		n.cfg.Log.Warn("refused to start a process for a peer: its arguments cannot be read", args...)
		refuse(err.Error())
		return
	}
	if n.takesNothing() || !p.HasRoom(s.Link, s.Monitor) {
		refuse(limits.SystemLimit)
		return
	}
	owner, err := n.dist.TakeSpawnOf(p.Visitor.Who)
	if err != nil {
		refuse(limits.SystemLimit)
		return
	}
	o := Options{Name: s.Name, owner: owner, inline: p.reader.Inline()}
	if p.via.by.MayReach(s.Leader) { // what it prints goes there
		o.Leader = s.Leader
	}
	b, err := n.wanted(p, s)
	if err != nil {
		owner.GiveSpawn()
		refuse(errorTerm(err))
		return
	}
	var started *process.Process
	o.before = func(q *process.Process) {
		started = q
		q.Inherit(f.Token)
		p.Signal(dist.Frame{Op: dist.OpSpawnReply, Ref: f.Ref, From: q.PID(), To: f.From,
			Linked: s.Link, Watched: s.Monitor, Token: f.Token})
		if s.Link {
			switch reason := p.AcceptLink(q, f.From); {
			case reason == NoProc: // killed by its name
				p.Signal(dist.Frame{Op: dist.OpExit, From: q.PID(), To: f.From, Payload: n.values.Outward(q.Reason())})
			case reason != nil:
				p.Signal(dist.Frame{Op: dist.OpExit, From: q.PID(), To: f.From, Payload: reason})
			case p.IsOver():
				q.Exit(&p.n.sys.Plain, NoConnection)
			}
		}
		if s.Monitor {
			m := process.WatchedBy(&p.RemotePeer, f.From, f.Ref, q, "")
			p.Attach(&m, q.PID(), q.Reason())
		}
	}
	if _, err := n.SpawnOpt(o, b); err != nil && started == nil {
		owner.GiveSpawn()
		if o.Name != "" && !errors.Is(err, ErrTooMany) {
			refuse(wire.Atom("badarg"))
		} else {
			refuse(limits.SystemLimit)
		}
	}
}

// replied settles the call that a reply of another node is for. It reports whether there is one.
func (p *peer) replied(ref Ref, v any) bool {
	v, err := p.n.values.Outcome(v)
	return p.settle(&p.reading, ref, v, err, false)
}
