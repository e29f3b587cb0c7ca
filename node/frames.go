package node

import (
	"fmt"

	"github.com/actornode/actornode/wire"
)

// handle does what a frame from p asks for. An error ends the connection.
func (p *peer) handle(f *wire.Frame) error {
	n := p.n
	switch f.Op {
	case wire.OpSend:
		p.deliver(f)
	case wire.OpLink:
		p.linked(f)
	case wire.OpUnlink:
		p.unlinked(f)
	case wire.OpUnlinkAck:
		p.acknowledged(f)
	case wire.OpExit:
		p.exited(f)
	case wire.OpSignal:
		n.exitSignal(nil, f.From, f.To, f.Payload)
	case wire.OpMonitor:
		p.monitored(f)
	case wire.OpDemonitor:
		p.mu.Lock()
		m := p.in[f.Ref]
		delete(p.in, f.Ref)
		p.mu.Unlock()
		if m != nil {
			m.forget()
		}
	case wire.OpDown:
		p.down(f)
	case wire.OpGroupLeader:
		n.setLeader(f.To, f.Leader)
	case wire.OpSpawn:
		n.spawnFor(p, f)
	case wire.OpSpawnReply:
		p.spawned(f)
	default:
		return fmt.Errorf("node: %s has sent a signal of no kind: %v", p.name, f.Op)
	}
	return nil
}

// deliver is for a message.
func (p *peer) deliver(f *wire.Frame) {
	n := p.n
	var q *proc
	switch {
	case !f.Ref.IsZero():
		if t, ok := f.Payload.(wire.Tuple); ok && len(t) == 2 && p.answer(f.Ref, t[1], nil) {
			return
		}
		q = n.aliased(f.Ref, f.Payload)
	case f.Name != "":
		q, _ = n.named(f.Name, f.Payload)
	default:
		if q = n.lookup(f.To); q == nil {
			n.undeliverable(f.To, f.Payload)
		} else if ref, ok := replyTag(f.Payload); ok && p.answer(ref, f.Payload.(wire.Tuple)[1], nil) {
			return // the caller's node knows no aliases
		}
	}
	if q != nil {
		q.deliver(nil, f.Payload)
	}
}

// replyTag finds the reference of a call in a message that may be its reply.
func replyTag(msg any) (Ref, bool) {
	t, ok := msg.(wire.Tuple)
	if !ok || len(t) != 2 {
		return Ref{}, false
	}
	if ref, ok := t[0].(Ref); ok {
		return ref, true
	}
	return aliasOf(t[0])
}

func (p *peer) linked(f *wire.Frame) {
	q := p.n.lookup(f.To)
	if q == nil {
		p.signal(wire.Frame{Op: wire.OpExit, From: f.To, To: f.From, Payload: NoProc})
		return
	}
	key := linkKey{q.id, f.From}
	p.mu.Lock()
	known := p.over || p.links[key] != nil // an unlink of ours is under way: f is older
	if !known {
		p.links[key] = &farLink{active: true}
	}
	p.mu.Unlock()
	if !known && !q.linked(f.From) {
		p.exitLink(q.id, f.From, NoProc)
	}
}

func (p *peer) unlinked(f *wire.Frame) {
	key := linkKey{f.To.Number(), f.From}
	p.mu.Lock()
	l := p.links[key]
	switch {
	case l == nil:
	case l.unlinks == 0:
		delete(p.links, key)
	default:
		l.active = false
	}
	p.signal(wire.Frame{Op: wire.OpUnlinkAck, ID: f.ID, From: f.To, To: f.From})
	p.mu.Unlock()
	if q := p.n.lookup(f.To); q != nil && l != nil {
		q.mu.Lock()
		q.removeLinkLocked(f.From)
		q.mu.Unlock()
	}
}

func (p *peer) acknowledged(f *wire.Frame) {
	key := linkKey{f.To.Number(), f.From}
	p.mu.Lock()
	defer p.mu.Unlock()
	l := p.links[key]
	if l == nil || l.unlinks != f.ID {
		return
	}
	l.unlinks = 0
	if !l.active {
		delete(p.links, key)
	}
}

func (p *peer) exited(f *wire.Frame) {
	key := linkKey{f.To.Number(), f.From}
	p.mu.Lock()
	l := p.links[key]
	counts := l != nil && l.active && l.unlinks == 0
	if counts {
		delete(p.links, key)
	}
	p.mu.Unlock()
	if counts && p.n.origin.Minted(f.To) {
		p.n.breakLink(key, f.Payload)
	}
}

func (p *peer) monitored(f *wire.Frame) {
	q := p.n.lookup(f.To)
	if f.Name != "" {
		q = p.n.names.get(f.Name)
	}
	m := &monitor{ref: f.Ref, far: p, by: f.From, target: q, name: f.Name}
	p.mu.Lock()
	if !p.over {
		p.in[f.Ref] = m
	}
	p.mu.Unlock()
	if q == nil || !m.attach() {
		p.tellDown(m, f.To, NoProc)
	}
}

func (p *peer) down(f *wire.Frame) {
	if p.answer(f.Ref, nil, &ExitError{f.Payload}) {
		return
	}
	p.mu.Lock()
	m := p.out[f.Ref.Number()]
	if m != nil && m.ref == f.Ref {
		delete(p.out, f.Ref.Number())
	} else {
		m = nil
	}
	p.mu.Unlock()
	if m != nil {
		m.fire(nil, m.pid, f.Payload)
	}
}

// spawned is the answer to a spawn that was asked for.
func (p *peer) spawned(f *wire.Frame) {
	if f.From.IsZero() {
		p.answer(f.Ref, nil, &SpawnError{f.Payload})
		return
	}
	p.mu.Lock()
	call := p.calls[f.Ref.Number()].call
	p.mu.Unlock()
	if !call {
		p.answer(f.Ref, f.From, nil)
	}
}

// SpawnError says why another node has not started a process.
type SpawnError struct{ Reason any }

func (e *SpawnError) Error() string {
	return "node: the process was not started: " + wire.FormatPlain(e.Reason)
}

// spawnFor starts a process that another node asks for: what this node exports,
// and the calls of erpc. The answer goes before anything that the process does.
func (n *Node) spawnFor(p *peer, f *wire.Frame) {
	s := f.Spawn
	o := Options{Name: s.Name, Leader: s.Leader}
	b, err := n.behaviourFor(p, s)
	if err != nil {
		p.signal(wire.Frame{Op: wire.OpSpawnReply, Ref: f.Ref, To: f.From, Payload: ErrorTerm(err)})
		return
	}
	var started *proc
	o.before = func(q *proc) {
		started = q
		p.mu.Lock()
		if p.over {
			p.mu.Unlock()
			return
		}
		p.signal(wire.Frame{Op: wire.OpSpawnReply, Ref: f.Ref, From: q.pid(), To: f.From, Linked: s.Link, Watched: s.Monitor})
		var m *monitor
		if s.Link {
			p.links[linkKey{q.id, f.From}] = &farLink{active: true}
		}
		if s.Monitor {
			m = &monitor{ref: f.Ref, far: p, by: f.From, target: q}
			p.in[f.Ref] = m
		}
		p.mu.Unlock()
		if s.Link && !q.linked(f.From) {
			p.exitLink(q.id, f.From, q.reason())
		}
		if m != nil && !m.attach() {
			p.tellDown(m, q.pid(), q.reason())
		}
	}
	if _, err := n.SpawnOpt(o, b); err != nil && started == nil {
		reason := any(wire.Atom("system_limit"))
		if o.Name != "" {
			reason = wire.Atom("badarg")
		}
		p.signal(wire.Frame{Op: wire.OpSpawnReply, Ref: f.Ref, To: f.From, Payload: reason})
	}
}
