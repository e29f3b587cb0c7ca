package node

import (
	"errors"
	"fmt"

	"github.com/actornode/actornode/internal/linkopt"
	"github.com/actornode/actornode/node/internal/erpc"
	"github.com/actornode/actornode/node/internal/gencall"
	"github.com/actornode/actornode/node/internal/names"
	"github.com/actornode/actornode/node/internal/peers"
	"github.com/actornode/actornode/node/internal/trace"
	"github.com/actornode/actornode/wire"
	"github.com/actornode/actornode/wire/dist"
)

// Handle is part of reader.Node: it does what a frame from p asks for. An error ends the
// connection.
func (p *peer) Handle(f *dist.Frame) error {
	n := p.n
	p.reading.inline = p.reader.Inline()
	if u := linkopt.UnreadableIn(f.Payload); u != nil && f.Op != dist.OpSend {
		f.Payload = p.cannotRead(u)
	} else if u != nil {
		p.unread(f, u)
		return nil
	}
	switch f.Op {
	case dist.OpSend:
		if f.ID != 0 {
			p.acknowledge(f)
			return nil
		}
		p.deliver(f)
	case dist.OpReceipt:
		p.answer(&p.reading, n.origin.RefOf(f.ID), f.Payload, nil)
	case dist.OpLink:
		if f.From.Node() != p.name {
			return p.notOurs(f)
		}
		p.linked(f)
	case dist.OpUnlink:
		p.unlinked(f)
	case dist.OpUnlinkAck:
		p.Acknowledged(f)
	case dist.OpExit:
		if f.From.Node() != p.name {
			return p.notOurs(f)
		}
		p.exited(f)
	case dist.OpSignal:
		if q := p.target(f); q != nil && !p.refuses(q, "exit") {
			n.exitSignal(&n.acting, f.From, q.pid(), n.values.Inward(f.Payload))
		}
	case dist.OpMonitor:
		p.monitored(f)
	case dist.OpDemonitor:
		if m := p.Demonitored(f.Ref); m != nil {
			m.Forget()
		}
	case dist.OpDown:
		p.down(&p.reading, f)
	case dist.OpGroupLeader:
		if q := n.lookup(f.To); q == nil || !p.refuses(q, "group_leader") {
			n.setLeader(f.To, f.Leader)
		}
	case dist.OpSpawn:
		n.spawnFor(p, f)
	case dist.OpSpawnReply:
		p.spawned(f)
	default:
		return fmt.Errorf("node: %s sent a signal of an unknown kind: %v", p.name, f.Op)
	}
	return nil
}

// notOurs is the error for a signal of a link whose other end is not the peer's.
func (p *peer) notOurs(f *dist.Frame) error {
	return fmt.Errorf("node: %s sent a link signal for %v, which is not its own process", p.name, f.From)
}

// target finds the process that a signal is for.
func (p *peer) target(f *dist.Frame) *proc {
	switch {
	case !f.Ref.IsZero():
		return p.n.aliasOwner(f.Ref)
	case f.Name != "":
		return p.n.whose(f.Name)
	}
	return p.n.lookup(f.To)
}

// deliver is for a message. One that a bounded mailbox has no room for is a dead
// letter, whatever its policy: see [reader.Reader].
func (p *peer) deliver(f *dist.Frame) {
	n := p.n
	var q *proc
	switch m := f.Payload.(type) {
	case *linkopt.Request:
		if q = p.target(f); q != nil && !names.IsAlias(f.Name) { // one for a single message is used up by it
			p.pass(q, f, p.called(q, f, m))
			return
		}
		p.monitored(&dist.Frame{From: f.From, To: f.To, Name: f.Name, Ref: m.Ref})
		f.Payload = gencall.Message(f)
	case *linkopt.Reply:
		if v, err := n.values.Outcome(m.Value); p.settle(&p.reading, f.Ref, v, err, true) {
			return
		}
		f.Payload = gencall.Message(f)
	}
	switch {
	case !f.Ref.IsZero():
		if t, ok := f.Payload.(wire.Tuple); ok && len(t) == 2 && p.replied(f.Ref, t[1]) {
			return
		}
		q = n.aliased(f.Ref, f.Payload)
	case f.Name != "":
		q, _ = n.named(f.Name, f.Payload)
	default:
		if q = n.lookup(f.To); q == nil {
			n.undeliverable(f.To, f.Payload)
		} else if ref, ok := gencall.ReplyRef(f.Payload); ok &&
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
func (p *peer) pass(q *proc, f *dist.Frame, msg any) {
	n := p.n
	f.Payload = msg
	if t := n.traces(); t != nil {
		_, msg := viaPeer(f.Payload)
		t.Received(f.From, q.pid(), msg)
	}
	switch {
	case f.Token != nil && !q.boxed:
		q.deliverWith(&n.acting, f.Payload, f.Token)
	default:
		p.hand(q, p.reader.InboxNode(f.Payload))
	}
}

func (p *peer) linked(f *dist.Frame) {
	q := p.n.lookup(f.To)
	reason := any(NoProc)
	if q != nil {
		reason = p.acceptLink(q, f.From)
	}
	if reason != nil {
		p.signal(dist.Frame{Op: dist.OpExit, From: f.To, To: f.From, Payload: reason})
	}
}

// acceptLink is the near half of a link that far has made. It returns nil, or the reason
// of the exit signal that breaks it: near is dead, or the peer has too many links.
func (p *peer) acceptLink(near *proc, far PID) (reason any) {
	near.mu.Lock()
	defer near.mu.Unlock()
	if near.gone() {
		return NoProc
	}
	switch p.Linked(near.id, far) {
	case peers.TooMany:
		return systemLimit
	case peers.Made:
		p.n.traces().Event(trace.Linked, near.pid(), far, "", nil)
		near.addLinkLocked(far)
	}
	return nil
}

func (p *peer) unlinked(f *dist.Frame) {
	q := p.n.lookup(f.To)
	if q == nil {
		p.Unlinked(f)
		return
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	if p.Unlinked(f) {
		p.n.traces().Event(trace.Unlinked, q.pid(), f.From, "", nil)
		q.removeLinkLocked(f.From)
	}
}

func (p *peer) exited(f *dist.Frame) {
	q := p.n.lookup(f.To)
	if q == nil {
		return // it has told that it is dead, or will
	}
	q.mu.Lock()
	d := p.exitedLocked(q, f)
	q.mu.Unlock()
	d.carryOutAll(&p.n.acting, false)
}

func (p *peer) exitedLocked(q *proc, f *dist.Frame) *death {
	if !p.Exited(q.id, f.From) {
		return nil
	}
	return p.n.farLinkBrokenLocked(q, f.From, p.n.values.Inward(f.Payload)) // if the link was active
}

func (p *peer) monitored(f *dist.Frame) {
	q, pid, name := p.n.lookup(f.To), f.To, f.Name
	if name != "" {
		if q = p.n.whose(name); q != nil && names.IsAlias(name) {
			pid, name = q.pid(), "" // whom the Down is about
		}
	}
	p.watched(&monitor{ref: f.Ref, far: p, by: f.From, target: q, name: name}, pid, NoProc)
}

// watched is the near half of m, a monitor that the peer has made over pid; if
// its target is dead, nil or not, reason is told.
func (p *peer) watched(m *monitor, pid PID, reason any) {
	if p.Watched(m, m.frame(pid, systemLimit)) != peers.Made {
		return
	}
	if m.target == nil || !m.attach() {
		p.tellDown(m, pid, reason)
		return
	}
	if !p.IsWatched(m) { // the end of the connection may have been before attach
		m.forget()
	}
}

func (p *peer) down(a *acting, f *dist.Frame) {
	reason := p.n.values.Inward(f.Payload)
	if p.answer(a, f.Ref, nil, &ExitError{reason}) {
		return
	}
	if m, ok := p.Down(f.Ref).(*monitor); ok {
		pid := m.pid
		if names.IsAlias(m.name) {
			pid = f.From
		}
		m.fire(&p.n.acting, pid, reason)
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
		p.signal(dist.Frame{Op: dist.OpSpawnReply, Ref: f.Ref, To: f.From, Payload: reason})
	}
	if err, unreadable := f.Payload.(error); unreadable {
		refuse(err.Error())
		return
	}
	if n.takesNothing() || !p.HasRoom(s.Link, s.Monitor) {
		refuse(systemLimit)
		return
	}
	owner, err := n.dist.TakeSpawn(p.name)
	if err != nil {
		refuse(systemLimit)
		return
	}
	o := Options{Name: s.Name, Leader: s.Leader, owner: owner, inline: p.reader.Inline()}
	b, err := n.wanted(p, s)
	if err != nil {
		owner.GiveSpawn()
		refuse(errorTerm(err))
		return
	}
	var started *proc
	o.before = func(q *proc) {
		started = q
		q.inherit(f.Token)
		p.signal(dist.Frame{Op: dist.OpSpawnReply, Ref: f.Ref, From: q.pid(), To: f.From,
			Linked: s.Link, Watched: s.Monitor, Token: f.Token})
		if s.Link {
			switch reason := p.acceptLink(q, f.From); {
			case reason == NoProc: // killed by its name
				p.signal(dist.Frame{Op: dist.OpExit, From: q.pid(), To: f.From, Payload: n.values.Outward(q.reason())})
			case reason != nil:
				p.signal(dist.Frame{Op: dist.OpExit, From: q.pid(), To: f.From, Payload: reason})
			case p.IsOver():
				q.exit(&p.n.acting, NoConnection)
			}
		}
		if s.Monitor {
			p.watched(&monitor{ref: f.Ref, far: p, by: f.From, target: q}, q.pid(), q.reason())
		}
	}
	if _, err := n.SpawnOpt(o, b); err != nil && started == nil {
		owner.GiveSpawn()
		if o.Name != "" && !errors.Is(err, ErrTooMany) {
			refuse(wire.Atom("badarg"))
		} else {
			refuse(systemLimit)
		}
	}
}

// replied settles the call that a reply of another node is for. It reports whether there is one.
func (p *peer) replied(ref Ref, v any) bool {
	v, err := p.n.values.Outcome(v)
	return p.settle(&p.reading, ref, v, err, false)
}
