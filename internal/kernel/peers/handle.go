package peers

import (
	"fmt"

	"github.com/actornode/actornode/internal/kernel/calls"
	"github.com/actornode/actornode/internal/kernel/limits"
	"github.com/actornode/actornode/internal/kernel/process"
	"github.com/actornode/actornode/internal/kernel/tables"
	"github.com/actornode/actornode/internal/mailbox/inbox"
	"github.com/actornode/actornode/internal/sched/executor"
	"github.com/actornode/actornode/internal/wire/erlflags"
	"github.com/actornode/actornode/internal/wire/links"
	"github.com/actornode/actornode/mailbox"
	"github.com/actornode/actornode/node/deadletter"
	"github.com/actornode/actornode/wire"
	"github.com/actornode/actornode/wire/dist"
)

// Incoming frames of the peer. All of this runs on the reader.

// Sender is the origin of a message of another node.
type Sender struct {
	Peer  wire.Atom // the node
	Addr  string    // of that node
	Exact bool      // it is a Go node: the values that it sends have the same Go types as there
	over  *Peer     // the connection, or nil if unknown
	asker *Asker    // nil if unknown
}

// SenderFor returns the sender of a message that a peer has asked this node to pass on.
func SenderFor(a *Asker) *Sender { return &Sender{Peer: a.Owner().Name, asker: a} }

// Asker returns the Asker for the sender of the message, an unknown one if s is nil.
func (s *Sender) Asker(sys *process.System) *Asker {
	if s == nil || s.asker == nil {
		return &Asker{System: sys}
	}
	return s.asker
}

// Sender returns the sender of the peer's messages.
func (p *Peer) Sender() *Sender { return p.sender }

// NewReader creates the reader of the link.
func (p *Peer) NewReader(link dist.Link) *Reader {
	about := link.Peer()
	p.sender = &Sender{Peer: p.Name, Addr: about.Addr, over: p, asker: p.Asker(),
		Exact: about.Protocol != p.c.cfg.Erlang || erlflags.Flags(about.Flags).Has(erlflags.GoValues)}
	if h, ok := link.(links.Hosted); ok {
		h.SetHost(p)
	}
	p.reading.System = p.System
	p.reader = NewReader(ReaderConfig{
		Peer: p, Link: link, Node: p, Pool: p.System.Pool, Env: p.System.Env, Awake: p.c.cfg.Awake, Spins: &p.c.spins,
	})
	return p.reader
}

// Leave implements ReaderNode, like Received, IsPlain and Target.
func (p *Peer) Leave() { p.c.Leave() }

// Received returns the message of f as delivered to the process to.
func (p *Peer) Received(f *dist.Frame, to ReaderTarget) any {
	if r, ok := f.Payload.(*links.Request); ok {
		return p.called(to.(readerTarget).q, f, r)
	}
	return p.c.cfg.Node.Message(p.sender, f.Payload)
}

// IsPlain reports whether msg is readable and not a reply, and tracing is off.
func (p *Peer) IsPlain(msg any) bool {
	_, reply := calls.ReplyRef(msg)
	return !reply && p.System.Traces() == nil && links.UnreadableIn(msg) == nil
}

// Target returns a process that accepts several messages at a time, or nil.
func (p *Peer) Target(to wire.PID) ReaderTarget {
	if q := p.System.Lookup(to); q != nil && !q.Boxed && q.Kind < process.Goroutine && !q.ShowsPeer && !p.IsLimited() {
		return readerTarget{q}
	}
	return nil
}

// readerTarget adapts a process to ReaderTarget.
type readerTarget struct{ q *process.Process }

// Inbox implements ReaderTarget, like the other methods.
func (t readerTarget) Inbox() *inbox.Inbox { return &t.q.Inbox }

// Stages returns nil for a detached actor.
func (t readerTarget) Stages() *executor.Entity {
	if !t.q.OnStage() {
		return nil
	}
	return &t.q.Entity
}

// Wake makes the process run.
func (t readerTarget) Wake() { t.q.Runner().Wake(&t.q.System.Plain) }

// Undeliverable makes a dead letter of msg.
func (t readerTarget) Undeliverable(msg any) { t.q.System.Undeliverable(t.q.PID(), msg) }

// Handle executes a frame. An error ends the connection.
func (p *Peer) Handle(f *dist.Frame) error {
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
	switch f.Op { // the sender of these must be a process of the peer
	case dist.OpLink, dist.OpExit:
		if f.From.Node() != p.Name {
			return p.notOurs(f)
		}
	case dist.OpSignal:
		if !f.From.IsZero() && f.From.Node() != p.Name { // zero: a goroutine that is not a process
			return p.notOurs(f)
		}
	}
	switch f.Op {
	case dist.OpSend:
		if f.ID != 0 {
			p.acknowledge(f)
		} else {
			p.deliver(f)
		}
	case dist.OpReceipt:
		p.answer(&p.reading, p.System.Origin.RefOf(f.ID), f.Payload, nil, false)
	case dist.OpLink:
		if !p.refusesLink(f) {
			p.HandleLink(f)
		}
	case dist.OpUnlink:
		p.HandleUnlink(f)
	case dist.OpUnlinkAck:
		p.HandleUnlinkAck(f)
	case dist.OpExit:
		p.HandleExit(f)
	case dist.OpSignal:
		p.HandleSignal(f)
	case dist.OpMonitor:
		p.HandleMonitor(f)
	case dist.OpDemonitor:
		p.HandleDemonitor(f.Ref)
	case dist.OpDown:
		reason := p.System.Values.Inward(f.Payload)
		if !p.answerDown(&p.reading, f.Ref, reason) {
			p.HandleDown(f, reason)
		}
	case dist.OpGroupLeader:
		p.HandleGroupLeader(f)
	case dist.OpSpawn:
		p.handleSpawn(f)
	case dist.OpSpawnReply:
		p.handleSpawnReply(f)
	default:
		return fmt.Errorf("node: %s sent a signal of an unknown kind: %v", p.Name, f.Op)
	}
	return nil
}

// notOurs returns the error for an exit signal, or a signal of a link, whose sender is not a process of the peer.
func (p *Peer) notOurs(f *dist.Frame) error {
	return fmt.Errorf("node: %s sent a signal of %v, which is not its own process", p.Name, f.From)
}

// deliver delivers a message. One that does not fit into a bounded mailbox is a dead letter, whatever the mailbox's policy:
// see [Reader].
func (p *Peer) deliver(f *dist.Frame) {
	sys := p.System
	var q *process.Process
	switch m := f.Payload.(type) {
	case *links.Request:
		if q = p.processOf(f); q != nil && !tables.IsAlias(f.Name) { // a single-use alias is used up by the message
			p.pass(q, f, p.called(q, f, m))
			return
		}
		p.HandleMonitor(&dist.Frame{From: f.From, To: f.To, Name: f.Name, Ref: m.Ref})
		f.Payload = calls.Message(f)
	case *links.Reply:
		if v, err := sys.Values.Outcome(m.Value); p.answer(&p.reading, f.Ref, v, err, true) {
			return
		}
		f.Payload = calls.Message(f)
	}
	if f.Ref.IsZero() && f.Name == "" {
		if q = sys.Lookup(f.To); q == nil {
			sys.Undeliverable(f.To, f.Payload)
			return
		}
		if ref, ok := calls.ReplyRef(f.Payload); ok &&
			(p.replied(ref, f.Payload.(wire.Tuple)[1]) || p.c.Replied(ref, f.Payload)) {
			return // the caller's node does not support aliases
		}
	} else {
		if t, ok := f.Payload.(wire.Tuple); ok && len(t) == 2 && !f.Ref.IsZero() && p.replied(f.Ref, t[1]) {
			return
		}
		var err error
		if q, f.Payload, err = p.take(f); err != nil {
			return
		}
	}
	p.pass(q, f, p.c.cfg.Node.Message(p.sender, sys.Values.Message(f.Payload)))
}

// target returns the destination of f, a signal.
func (p *Peer) target(f *dist.Frame) process.Target {
	switch {
	case !f.Ref.IsZero():
		return p.System.TargetAliased(f.Ref)
	case f.Name != "":
		return p.System.TargetNamed(f.Name)
	}
	return p.System.TargetOf(f.To)
}

// take returns the destination of f, a message, and what to deliver to it.
func (p *Peer) take(f *dist.Frame) (*process.Process, any, error) {
	t := p.target(f)
	msg, err := p.System.Take(&t, f.Payload)
	return t.Process, msg, err
}

// shown returns msg as delivered to q.
func (p *Peer) shown(q *process.Process, from wire.PID, msg any) any {
	if t := p.System.Traces(); t != nil {
		t.Received(from, q.PID(), msg)
	}
	if q.ShowsPeer {
		return p.c.cfg.Node.Show(p.sender, msg)
	}
	return msg
}

// pass delivers msg, the message of f, to q.
func (p *Peer) pass(q *process.Process, f *dist.Frame, msg any) {
	f.Payload = p.shown(q, f.From, msg)
	switch {
	case f.Token != nil && !q.Boxed:
		q.DeliverWith(&p.System.Plain, f.Payload, f.Token)
	default:
		p.hand(q, p.reader.InboxNode(f.Payload))
	}
}

// hand delivers a message to a process, which the reader may run itself.
func (p *Peer) hand(q *process.Process, n *inbox.Node) {
	inline := p.reader.Inline()
	if inline == nil || q.Boxed || !q.OnStage() {
		q.Intake().Try(n)
		return
	}
	switch q.Inbox.Push(n) {
	case mailbox.Wake:
		inline.Inject(&q.Entity)
	case mailbox.Closed:
		p.System.Undeliverable(q.PID(), n.Msg)
	}
}

// acknowledge is deliver for a message whose sender has requested a receipt.
func (p *Peer) acknowledge(f *dist.Frame) {
	p.Put(dist.Frame{Op: dist.OpReceipt, ID: f.ID, Payload: process.ReceiptOf(p.put(f))})
}

// put puts the message of f into a mailbox, or returns why it cannot.
func (p *Peer) put(f *dist.Frame) error {
	q, msg, err := p.take(f)
	if err == process.ErrNoDest || err != nil && f.Name != "" {
		return err
	} else if err != nil {
		return process.ErrNoProcess
	}
	msg = p.shown(q, f.From, p.c.cfg.Node.Message(p.sender, msg))
	if q.Boxed {
		return q.Offer(&p.System.Plain, msg, nil)
	}
	return q.DeliverWith(&p.System.Plain, msg, f.Token)
}

// replied settles the call that v, a reply of another node, answers. It reports whether there is one.
func (p *Peer) replied(ref wire.Ref, v any) bool {
	v, err := p.System.Values.Outcome(v)
	return p.answer(&p.reading, ref, v, err, false)
}

// cannotRead returns the error for a frame of the peer that this node cannot decode: see [links.Unreadable]. The connection
// stays up. A caller that waits for an answer, local or remote, gets the error; a message becomes a dead letter; an exit
// reason is
// replaced by the error.
func (p *Peer) cannotRead(u *links.Unreadable) error {
	return fmt.Errorf("node: %s cannot read what %s has sent: %w", p.System.Name, p.Name, u.Err)
}

// unread is deliver for a message that cannot be decoded.
func (p *Peer) unread(f *dist.Frame, u *links.Unreadable) {
	why := p.cannotRead(u)
	switch m := f.Payload.(type) {
	case *links.Request:
		p.Put(dist.Frame{Op: dist.OpSend, Ref: m.Ref, Payload: &links.Reply{Value: p.System.Values.Reply(why)}, Answer: true})
		return
	case *links.Reply:
		if p.answer(&p.reading, f.Ref, nil, why, true) {
			return
		}
	default:
		if from, _, ok := calls.ReadCall(u.Term); ok {
			if to, ok := calls.ReadFrom(from); ok && p.c.ReadFrom(p.System, p.sender, to).Settle(&p.System.Plain, nil, why) {
				return
			}
		} else if ref, ok := calls.ReplyRef(u.Term); ok &&
			(p.answer(&p.reading, ref, nil, why, false) || p.c.RepliedWith(ref, why, nil, why)) {
			return
		}
	}
	if f.ID != 0 {
		p.Put(dist.Frame{Op: dist.OpReceipt, ID: f.ID, Payload: why.Error()})
	}
	p.System.DeadLetter(deadletter.Letter{Cause: deadletter.Unreadable, To: f.To, Name: f.Name, Alias: f.Ref, Message: why})
}

// Spawn is a process that a peer has requested and that may be started.
type Spawn struct {
	*dist.Spawn
	Peer   *Peer
	Owner  *limits.Owner            // the owner it is counted for; given back if it is not started
	Leader wire.PID                 // its group leader; if zero, that of the node
	Inline *executor.InlineWorker   // the worker that spawns it
	Before func(q *process.Process) // called before it runs
}

// handleSpawn starts a process that the peer requests: an exported function, or a call of erpc. The answer is sent before
// anything that the process sends.
func (p *Peer) handleSpawn(f *dist.Frame) {
	s, node := f.Spawn, p.c.cfg.Node
	refuse := func(reason any) {
		p.Put(dist.Frame{Op: dist.OpSpawnReply, Ref: f.Ref, To: f.From, Payload: reason})
	}
	if err, unreadable := f.Payload.(error); unreadable {
		args := []any{"peer", string(p.Name), "error", err}
		if s != nil { // this part of the request could be decoded
			args = append(args, "module", string(s.Module), "function", string(s.Function))
		}
		p.c.cfg.Log.Warn("refused to start a process for a peer: its arguments cannot be read", args...)
		refuse(err.Error())
		return
	}
	if node.StartsNothing() || !p.hasRoom(s.Link, s.Monitor) {
		refuse(limits.SystemLimit)
		return
	}
	owner, err := p.c.TakeSpawnOf(p.Visitor.Who)
	if err != nil {
		refuse(limits.SystemLimit)
		return
	}
	start := Spawn{Spawn: s, Peer: p, Owner: owner, Inline: p.reader.Inline(), Before: func(q *process.Process) { p.started(q, f) }}
	if p.Asker().MayReach(s.Leader) { // its output goes there
		start.Leader = s.Leader
	}
	if reason := node.Spawn(start); reason != nil {
		refuse(reason)
	}
}

// started answers a spawn with q, which does not run yet, and creates its link and its monitor.
func (p *Peer) started(q *process.Process, f *dist.Frame) {
	s := f.Spawn
	q.Inherit(f.Token)
	p.Put(dist.Frame{Op: dist.OpSpawnReply, Ref: f.Ref, From: q.PID(), To: f.From,
		Linked: s.Link, Watched: s.Monitor, Token: f.Token})
	if s.Link {
		switch reason := p.acceptLink(q, f.From); {
		case reason == process.NoProc: // killed by its name
			p.Put(dist.Frame{Op: dist.OpExit, From: q.PID(), To: f.From, Payload: p.System.Values.Outward(q.Reason())})
		case reason != nil:
			p.Put(dist.Frame{Op: dist.OpExit, From: q.PID(), To: f.From, Payload: reason})
		case p.IsOver():
			q.Exit(&p.System.Plain, process.NoConnection)
		}
	}
	if s.Monitor {
		m := process.WatchedBy(p, f.From, f.Ref, q, "")
		p.attach(&m, q.PID(), q.Reason())
	}
}
