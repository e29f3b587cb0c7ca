package process

import (
	"maps"
	"slices"

	"github.com/actornode/actornode/internal/kernel/limits"
	"github.com/actornode/actornode/internal/kernel/tables"

	"github.com/actornode/actornode/internal/kernel/watch"
	"github.com/actornode/actornode/wire"
)

// Death is the state of a process that is dead and has not notified any others yet.
type Death struct {
	p        *Process
	reason   any
	Tied     bool // linked to its parent
	global   bool // see Process.Global
	Links    tables.PIDs
	name     wire.Atom
	Watchers tables.List[Monitor]
	Watching map[uint64]*Monitor
	aliases  map[uint64]struct{}
	Calls    []Ticket
	unsent   []any // messages of unfired timers
	scope    *scope
	owner    *limits.Owner
}

// Exit ends p with a reason, whatever runs it: when Exit returns, p is dead to all others, and so are the processes that die
// with it. It acts on behalf of a. It reports whether p was alive.
func (p *Process) Exit(a *Acting, reason any) bool {
	return p.Leave(a, reason, a.Is(p))
}

// Leave is Exit; own reports that the process's own code ends it.
func (p *Process) Leave(a *Acting, reason any, own bool) bool {
	p.Mu.Lock()
	if p.Gone() {
		p.Mu.Unlock()
		return false
	}
	var d Death
	p.condemnLocked(&d, reason, own)
	p.Mu.Unlock()
	if own {
		if told := p.System.Host.Crashed(Crash{p, d.name, reason, d.Tied}); told != nil {
			defer told()
		}
	}
	d.CarryOutAll(a, own)
	return true
}

// CarryOutAll is carryOut for d, which may be nil, and for the processes that die with it: one after the other, so that a
// chain of a million links needs no deep stack.
func (d *Death) CarryOutAll(a *Acting, own bool) {
	if d == nil {
		return
	}
	wave := d.carryOut(a, own)
	for len(wave) > 0 {
		d := wave[0]
		wave = append(wave[1:], d.carryOut(a, a.Is(d.p))...)
	}
}

// condemnLocked marks p as dead. The caller holds p.Mu, p is alive, and d.carryOut must follow.
func (p *Process) condemnLocked(d *Death, reason any, own bool) {
	d.p, d.reason, d.Tied, d.global = p, reason, p.Tied, p.Global
	p.Tied, p.Global = false, false
	k := p.Cold
	p.Status.End(own, own && k == nil && !d.Tied && !d.global)
	if k == nil {
		if own || p.System.Stopped.Load() {
			return
		}
		k = p.ColdPart() // the reason may be queried
	}
	k.Reason = reason
	if p.byName {
		p.byName = false
		p.System.ByName.Delete(p)
	}
	d.Links, d.name, d.Watchers, d.Watching = k.Links, k.Name, k.Watchers, k.Watching
	d.aliases, d.scope, d.owner = k.Aliases, k.scope, k.Owner
	if k.Timers != nil {
		d.unsent = k.Timers.End()
	}
	for c := k.Calls.First(); c != nil; c = k.Calls.First() {
		k.Calls.Remove(&c.entry)
		d.Calls = append(d.Calls, Ticket{c, c.Current()})
	}
	k.Links, k.Watchers, k.Watching, k.Aliases = tables.PIDs{}, tables.List[Monitor]{}, nil, nil
}

// carryOut notifies others of the death. It returns those that die with p.
func (d *Death) carryOut(a *Acting, own bool) (wave []*Death) {
	p, n := d.p, d.p.System
	if d.name != "" {
		n.Names.Remove(d.name, (*Named)(p)) // first: a process that is not in the table has no name
	}
	n.Count(a, -1)
	n.Table.Remove(p.ID, a.Slots())
	if n.Cycles != nil {
		p.Announced()
		n.Cycles.Remove(Waiter{Process: p}) // from a wait for a child, which did not block it
	}
	if d.owner != nil {
		d.owner.GiveSpawn()
	}
	n.Tracing.Gone(p.PID(), d.reason)
	armed := p.Intake().close()
	if d.has() {
		wave = d.tell(a)
	}
	p.Status.Told()
	r := p.Runner()
	r.Exited(a, armed, own)
	if !own && r.Busy(a) {
		p.Status.Abandon(&n.Lingering)
	}
	return wave
}

// has reports whether tell has anything to do: tell takes more stack than a goroutine starts with.
func (d *Death) has() bool {
	return d.Tied || d.global || d.Links.Len() != 0 || d.Calls != nil || d.unsent != nil || d.scope != nil ||
		!d.Watchers.IsEmpty() || len(d.Watching) != 0 || len(d.aliases) != 0
}

// tell carries out the consequences of p's death: its context ends, its calls are answered, its links break, its monitors
// fire. The effect of a link or a monitor on a process takes place with that process locked, so that it is complete when an
// Unlink or a Demonitor comes too late.
func (d *Death) tell(a *Acting) (wave []*Death) {
	if d.scope != nil {
		d.scope.cancel(d.p.System.Host.ErrorOf(d.reason))
	}
	if len(d.aliases) != 0 || len(d.Watching) != 0 {
		d.Forget()
	}
	if d.Tied {
		wave = d.tellLink(a, wave, d.p.System.Origin.PID(d.p.Parent-1))
	}
	if d.Links.Len() != 0 {
		for to := range d.Links.All() {
			wave = d.tellLink(a, wave, to)
		}
	}
	for _, t := range d.Calls {
		if !t.Call.Forwarded(t.N) {
			t.Settle(a, nil, d.p.System.Host.ErrorOf(d.reason))
		}
	}
	if !d.Watchers.IsEmpty() {
		d.tellWatchers(a)
	}
	if d.global {
		d.p.System.Global.Ended(d.p.PID())
	}
	for _, msg := range d.unsent {
		d.p.System.Undeliverable(d.p.PID(), msg)
	}
	return wave
}

// Forget removes p's aliases and monitors.
func (d *Death) Forget() {
	for id := range d.aliases {
		d.p.System.Names.Aliases.Remove(id)
	}
	for _, number := range slices.Sorted(maps.Keys(d.Watching)) { // the order is visible to other nodes
		d.Watching[number].Forget()
	}
}

// tellWatchers fires the monitors of p, the oldest first.
func (d *Death) tellWatchers(a *Acting) {
	for m := range d.Watchers.Oldest() {
		m.Deliver(a, d.p.PID(), d.reason)
	}
}

// tellLink breaks the link to a process. If that process dies, it is added to wave.
func (d *Death) tellLink(a *Acting, wave []*Death, to wire.PID) []*Death {
	q := d.p.System.Lookup(to)
	if q == nil {
		if far := d.p.System.Remotes.Connected(to); far != nil {
			far.Exit(d.p.ID, to, d.reason)
		}
		return wave
	}
	q.Mu.Lock()
	defer q.Mu.Unlock()
	if next := q.LinkBrokenLocked(a, d.p.PID(), d.reason); next != nil {
		wave = append(wave, next)
	}
	return wave
}

// LinkBrokenLocked is the exit signal of from, which p may be linked to. If p dies, its death is returned, to be carried out.
func (p *Process) LinkBrokenLocked(a *Acting, from wire.PID, reason any) *Death {
	if p.Gone() || !p.RemoveLinkLocked(from) {
		return nil
	}
	p.System.Traces().Event(watch.TraceSignal, p.PID(), from, "", reason)
	switch Link(reason, p.TrapsLocked()) {
	case Message:
		p.Signal(a, p.System.Host.Exited(from, reason))
	case End:
		d := new(Death)
		p.condemnLocked(d, reason, a.Is(p))
		return d
	}
	return nil
}

// ExitSignal is exit/2: a signal without a link.
func (n *System) ExitSignal(a *Acting, from, to wire.PID, reason any) {
	p := n.Lookup(to)
	if p == nil { // as in Erlang: no process, nothing to do
		if far := n.Remotes.Reach(to); far != nil {
			far.Signal(from, to, reason)
			far.Pace(a)
		}
		return
	}
	n.Traces().Event(watch.TraceSignal, p.PID(), from, "", reason)
	p.Mu.Lock()
	traps := p.TrapsLocked()
	p.Mu.Unlock()
	switch effect, why := Exit(reason, traps, from == to); effect {
	case Message:
		p.Signal(a, p.System.Host.Exited(from, reason))
	case End:
		p.Exit(a, why)
	}
}

// TrapsLocked reports whether p traps exits.
func (p *Process) TrapsLocked() bool { return p.Cold != nil && p.Cold.Trap }

// SetTrap is process_flag(trap_exit, on).
func (p *Process) SetTrap(on bool) (was bool) {
	p.Mu.Lock()
	defer p.Mu.Unlock()
	k := p.ColdPart()
	was, k.Trap = k.Trap, on
	return was
}

// Reason returns the exit reason of p, which is not alive.
func (p *Process) Reason() any {
	p.Mu.Lock()
	defer p.Mu.Unlock()
	if p.Cold == nil {
		return Normal
	}
	return p.Cold.Reason
}

// Ended reports whether p has exited, with its exit reason.
func (p *Process) Ended() (reason any, ended bool) {
	if !p.Gone() {
		return nil, false
	}
	return p.Reason(), true
}
