package node

import (
	"context"
	"maps"
	"slices"

	"github.com/actornode/actornode/node/internal/list"
	"github.com/actornode/actornode/node/internal/quota"
	"github.com/actornode/actornode/node/internal/signal"
	"github.com/actornode/actornode/node/internal/table"
	"github.com/actornode/actornode/node/internal/trace"
	"github.com/actornode/actornode/wire"
)

// Exited is what an exit signal becomes for a process that traps exits:
// Erlang's {'EXIT', From, Reason}. One with the reason [Shutdown] that is from nobody (From is
// zero) is the order of [Node.Stop] to shut down: a server that traps exits should obey it as
// it does its parent.
type Exited struct {
	From   PID
	Reason any
}

// term is {'EXIT', From, Reason}, as other nodes see the message.
func (e Exited) term() any { return wire.Tuple{wire.Atom("EXIT"), e.From, e.Reason} }

// death is a process that is dead and has not told anybody yet: what it leaves.
type death struct {
	p        *proc
	reason   any
	tied     bool // linked to its parent
	links    table.PIDs
	name     Atom
	watchers list.List[monitor]
	watching map[uint64]*monitor
	aliases  map[uint64]struct{}
	calls    []ticket
	unsent   []any // what timers would have sent
	cancel   context.CancelCauseFunc
	owner    *quota.Owner
}

// exit ends p with a reason, whoever runs it: it is dead to all others when
// exit returns, and so are those that had to go with it. c is the context of
// the calling actor, nil elsewhere. It reports whether p was alive.
func (p *proc) exit(a *acting, reason any) bool {
	return p.leave(a, reason, a.is(p))
}

// leave is exit; own says that it is the process's own code that ends it. Not inlined: a
// goroutine would have its frame all its life.
//
//go:noinline
func (p *proc) leave(a *acting, reason any, own bool) bool {
	p.mu.Lock()
	if p.gone() {
		p.mu.Unlock()
		return false
	}
	var d death
	p.condemnLocked(&d, reason, own)
	p.mu.Unlock()
	if crash, ok := reason.(*Crash); ok && own {
		d.report(crash)
	}
	d.carryOutAll(a, own)
	return true
}

// carryOutAll is carryOut for d, if there is one, and for those that have to go
// with it: one after the other, so that a chain of a million links needs no deep
// stack.
func (d *death) carryOutAll(a *acting, own bool) {
	if d == nil {
		return
	}
	wave := d.carryOut(a, own)
	for len(wave) > 0 {
		d := wave[0]
		wave = append(wave[1:], d.carryOut(a, a.is(d.p))...)
	}
}

// condemnLocked is the moment of p's death. The caller holds p.mu, p is alive,
// and d.carryOut must follow.
func (p *proc) condemnLocked(d *death, reason any, own bool) {
	d.p, d.reason, d.tied = p, reason, p.tied
	p.tied = false
	k := p.cold
	p.status.End(own, own && k == nil && !d.tied)
	if k == nil {
		if own || p.node.stopped.Load() {
			return
		}
		k = p.coldPart() // somebody may ask for the reason
	}
	k.reason = reason
	if p.byName {
		p.byName = false
		p.node.byName.Delete(p)
	}
	d.links, d.name, d.watchers, d.watching = k.links, k.name, k.watchers, k.watching
	d.aliases, d.cancel, d.owner = k.aliases, k.cancel, k.owner
	if k.timers != nil {
		d.unsent = k.timers.End()
	}
	for c := k.calls.First(); c != nil; c = k.calls.First() {
		k.calls.Remove(&c.entry)
		d.calls = append(d.calls, ticket{c, c.Current()})
	}
	k.links, k.watchers, k.watching, k.aliases = table.PIDs{}, list.List[monitor]{}, nil, nil
}

// carryOut makes the death known. It returns those that had to go with p.
func (d *death) carryOut(a *acting, own bool) (wave []*death) {
	p, n := d.p, d.p.node
	var cache *table.Slots
	if a.w != nil {
		cache = &a.ctx.slots
	}
	if d.name != "" {
		n.names.Remove(d.name, (*named)(p)) // first: who is not among the processes has no name
	}
	n.count(a, -1)
	n.table.Remove(p.id, cache)
	if d.owner != nil {
		d.owner.GiveSpawn()
	}
	n.tracing.Gone(p.pid(), d.reason)
	armed := p.intake().close()
	if d.has() {
		wave = d.tell(a)
	}
	p.status.Told()
	r := p.runner()
	r.exited(a, armed, own)
	if !own && r.busy(a) {
		p.status.Abandon(&n.lingering)
	}
	return wave
}

// has reports whether p leaves anything: tell takes more stack than a goroutine begins with.
func (d *death) has() bool {
	return d.tied || d.links.Len() != 0 || d.calls != nil || d.unsent != nil || d.cancel != nil ||
		!d.watchers.IsEmpty() || len(d.watching) != 0 || len(d.aliases) != 0
}

// tell does the last things of p: its context ends, its calls are answered, its
// links broken, its monitors told. What a link or a monitor does to a process
// is done with that process locked, so that it is over when an Unlink or a
// Demonitor comes too late.
func (d *death) tell(a *acting) (wave []*death) {
	if d.cancel != nil {
		d.cancel(&ExitError{d.reason})
	}
	if len(d.aliases) != 0 || len(d.watching) != 0 {
		d.forget()
	}
	if d.tied {
		wave = d.tellLink(a, wave, d.p.node.origin.PID(d.p.parent-1))
	}
	if d.links.Len() != 0 {
		for to := range d.links.All() {
			wave = d.tellLink(a, wave, to)
		}
	}
	for _, t := range d.calls {
		t.settle(a, nil, &ExitError{d.reason})
	}
	if !d.watchers.IsEmpty() {
		d.tellWatchers(a)
	}
	for _, msg := range d.unsent {
		d.p.node.undeliverable(d.p.pid(), msg)
	}
	return wave
}

// forget takes away what others would reach p by.
func (d *death) forget() {
	for id := range d.aliases {
		d.p.node.names.Aliases.Remove(id)
	}
	for _, number := range slices.Sorted(maps.Keys(d.watching)) { // other nodes see the order
		d.watching[number].forget()
	}
}

// tellWatchers is what becomes of the monitors of p: the first comes first.
func (d *death) tellWatchers(a *acting) {
	for m := range d.watchers.Oldest() {
		m.fire(a, d.p.pid(), d.reason)
	}
}

// tellLink breaks the link to a process. If that process has to go, it is added
// to wave.
func (d *death) tellLink(a *acting, wave []*death, to PID) []*death {
	q := d.p.node.lookup(to)
	if q == nil {
		if far := d.p.node.remoteNow(to); far != nil {
			far.exitLink(d.p.id, to, d.reason)
		}
		return wave
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	if next := q.linkBrokenLocked(a, d.p.pid(), d.reason); next != nil {
		wave = append(wave, next)
	}
	return wave
}

// linkBrokenLocked is the exit signal of from, which p is linked to perhaps. If p
// has to go, its death is returned, to be carried out.
func (p *proc) linkBrokenLocked(a *acting, from PID, reason any) *death {
	if p.gone() || !p.removeLinkLocked(from) {
		return nil
	}
	p.node.traces().Event(trace.Signal, p.pid(), from, "", reason)
	switch signal.Link(reason, p.trapsLocked()) {
	case signal.Message:
		p.signal(a, Exited{from, reason})
	case signal.End:
		d := new(death)
		p.condemnLocked(d, reason, a.is(p))
		return d
	}
	return nil
}

// exitSignal is exit/2: a signal that no link carries.
func (n *Node) exitSignal(a *acting, from, to PID, reason any) {
	p := n.lookup(to)
	if p == nil { // as in Erlang: nobody there, nothing to do
		if far := n.remoteOf(to); far != nil {
			far.exitSignal(from, to, reason)
			far.pace(a)
		}
		return
	}
	n.traces().Event(trace.Signal, p.pid(), from, "", reason)
	p.mu.Lock()
	traps := p.trapsLocked()
	p.mu.Unlock()
	switch effect, why := signal.Exit(reason, traps, from == to); effect {
	case signal.Message:
		p.signal(a, Exited{from, reason})
	case signal.End:
		p.exit(a, why)
	}
}

// trapsLocked reports whether p traps exits.
func (p *proc) trapsLocked() bool { return p.cold != nil && p.cold.trap }

// setTrap is process_flag(trap_exit, on).
func (p *proc) setTrap(on bool) (was bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	k := p.coldPart()
	was, k.trap = k.trap, on
	return was
}

// reason returns why p, which is not alive, has exited.
func (p *proc) reason() any {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.cold == nil {
		return Normal
	}
	return p.cold.reason
}
