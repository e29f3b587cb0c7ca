package node

import (
	"github.com/actornode/actornode/node/internal/list"
	"github.com/actornode/actornode/node/internal/names"
	"github.com/actornode/actornode/node/internal/trace"
	"github.com/actornode/actornode/wire"
)

// Down says that a monitored process has exited: Erlang's
// {'DOWN', Ref, process, Object, Reason}. For a monitor by name, Name and Node
// say what was monitored and PID is zero.
type Down struct {
	Ref    Ref
	PID    PID
	Name   Atom
	Node   Atom
	Reason any // noproc if there was nobody to monitor
}

// term is {'DOWN', Ref, process, Pid | {Name, Node}, Reason}, as other nodes see
// the message.
func (d Down) term() any {
	var what any = d.PID
	if d.Name != "" {
		what = wire.Tuple{d.Name, d.Node}
	}
	return wire.Tuple{wire.Atom("DOWN"), d.Ref, wire.Atom("process"), what, d.Reason}
}

// monitor is one process's watch over another. It is in watcher.cold.watching
// and in target.cold.watchers; whoever takes it out of the former answers for
// the Down.
type monitor struct {
	ref     Ref
	watcher *proc
	target  *proc
	name    Atom

	// Of target.cold.watchers, guarded by target.mu until the target is dead, and not changed from
	// then on.
	entry list.Entry[monitor]

	// Where one of the two is on another node: far is that node, pid the target
	// there (zero: known by name), by the watcher there.
	far remote
	pid PID
	by  PID

	node bool // of far itself: see MonitorNode
}

func (m *monitor) down(pid PID, reason any) any {
	if m.node {
		return NodeDown{Node: m.far.nodeName(), Reason: reason.(string)}
	}
	if m.name != "" && !names.IsAlias(m.name) {
		at := m.watcher.node.cfg.Name
		if m.far != nil {
			at = m.far.nodeName()
		}
		return Down{Ref: m.ref, Name: m.name, Node: at, Reason: reason}
	}
	return Down{Ref: m.ref, PID: pid, Reason: reason}
}

// about is whom m watches, if it is known.
func (m *monitor) about() PID {
	if m.target != nil {
		return m.target.pid()
	}
	return m.pid
}

// fire delivers the Down unless the monitor has been taken away.
func (m *monitor) fire(a *acting, pid PID, reason any) {
	w := m.watcher
	if w == nil {
		m.far.tellDown(m, pid, reason)
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if !w.gone() && w.cold.watching[m.ref.Number()] == m {
		delete(w.cold.watching, m.ref.Number())
		w.signal(a, m.down(pid, reason))
	}
}

// forget takes the monitor off its target.
func (m *monitor) forget() {
	t := m.target
	if t == nil {
		if m.far != nil {
			m.far.unwatch(m)
		}
		return
	}
	t.mu.Lock()
	if !t.gone() && t.cold != nil {
		t.cold.watchers.Remove(&m.entry)
	}
	t.mu.Unlock()
}

// add puts m where it belongs; false: the target is dead.
func (m *monitor) add(a *acting) bool {
	w := m.watcher
	w.mu.Lock()
	if w.gone() {
		w.mu.Unlock()
		return true
	}
	k := w.coldPart()
	if k.watching == nil {
		k.watching = make(map[uint64]*monitor)
	}
	k.watching[m.ref.Number()] = m
	w.mu.Unlock()

	ok := false
	if m.target != nil {
		ok = m.attach()
	} else if ok = m.far.watch(m); ok {
		m.far.pace(a)
	}
	if ok && w.gone() { // killed meanwhile
		m.forget()
	}
	if !ok {
		w.mu.Lock()
		if w.cold.watching != nil {
			delete(w.cold.watching, m.ref.Number())
		}
		w.mu.Unlock()
	}
	return ok
}

// attach puts m among its target's watchers; false: the target is dead.
func (m *monitor) attach() bool {
	t := m.target
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.gone() {
		return false
	}
	t.coldPart().watchers.Add(&m.entry, m)
	return true
}

// monitor starts a watch over to, or over the process that has the name.
func (p *proc) monitor(a *acting, to PID, name Atom) Ref {
	m := &monitor{ref: a.newRef(), watcher: p, name: name}
	m.target = p.node.lookup(to)
	if m.target == p { // as in Erlang: a reference, but no monitor
		return m.ref
	}
	p.node.traces().Event(trace.Monitor, p.pid(), to, name, nil)
	if m.target == nil && name == "" {
		m.far, m.pid = p.node.remoteOf(to), to
	}
	if m.target == nil && m.far == nil || !m.add(a) {
		reason := NoProc
		if name == "" && !to.IsZero() && to.Node() != p.node.cfg.Name {
			reason = NoConnection
		}
		p.signal(a, m.down(to, reason))
	}
	return m.ref
}

// monitorTo starts a watch over what to names.
func (p *proc) monitorTo(a *acting, to Dest) Ref {
	switch to := to.(type) {
	case PID:
		return p.monitor(a, to, "")
	case Atom:
		pid, _ := p.node.Whereis(to)
		return p.monitor(a, pid, to)
	case At:
		return p.monitorAt(a, to)
	}
	if at, far := p.node.elsewhere(to); far {
		return p.monitorAt(a, at)
	}
	pid, _ := p.node.resolve(to)
	return p.monitor(a, pid, "")
}

// monitorAt watches whoever has a name on another node, or on this one.
func (p *proc) monitorAt(a *acting, at At) Ref {
	if at.Node == p.node.cfg.Name {
		return p.monitorTo(a, at.Name)
	}
	p.node.traces().Event(trace.Monitor, p.pid(), PID{}, at.Name, nil)
	m := &monitor{ref: a.newRef(), watcher: p, name: at.Name, far: p.node.remoteNamed(at.Node)}
	if m.far == nil {
		p.signal(a, Down{Ref: m.ref, Name: at.Name, Node: at.Node, Reason: NoConnection})
	} else if !m.add(a) {
		p.signal(a, m.down(PID{}, NoConnection))
	}
	return m.ref
}

func (p *proc) demonitor(a *acting, ref Ref, flush bool) bool {
	p.mu.Lock()
	var m *monitor
	if p.cold != nil {
		if m = p.cold.watching[ref.Number()]; m != nil && m.ref == ref {
			delete(p.cold.watching, ref.Number())
		}
	}
	p.mu.Unlock()
	if m != nil {
		if t := p.node.traces(); t != nil {
			t.Event(trace.Demonitor, p.pid(), m.about(), m.name, nil)
		}
		m.forget()
		if m.target == nil {
			m.far.pace(a)
		}
	} else if flush {
		p.discard(a, func(msg any) bool {
			d, ok := msg.(Down)
			return ok && d.Ref == ref
		})
	}
	return m != nil
}

// discard removes the first waiting message that match wants, the one that is
// being handled excepted. Only p's own code calls it.
func (p *proc) discard(a *acting, match func(any) bool) {
	held := false
	remove := func() {
		if a.proc == nil {
			held = p.q.More()
		}
		for p.refill() {
			if !p.boxed {
				break
			}
		}
		p.q.Remove(match, held)
	}
	p.runner().owning(a, remove)
}
