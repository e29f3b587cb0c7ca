package process

import (
	"context"
	"sync/atomic"

	"github.com/actornode/actornode/internal/kernel/tables"

	"github.com/actornode/actornode/internal/kernel/watch"
	"github.com/actornode/actornode/internal/mailbox/inbox"

	"github.com/actornode/actornode/wire"
)

// Monitor is a monitor of one process by another. It is in Watcher.Cold.Watching and in Target.Cold.Watchers; whoever removes
// it from the former is responsible for the Down.
type Monitor struct {
	ref     wire.Ref
	Watcher *Process
	Target  *Process
	Name    wire.Atom

	// Of Target.Cold.Watchers, guarded by Target.Mu until the target is dead, and not changed after that.
	entry tables.ListEntry[Monitor]

	// Set if one of the two is on another node: Far is that node, PID the remote target (zero if known by name), By the remote
	// watcher.
	Far Remote
	PID wire.PID
	By  wire.PID

	Node bool // a monitor of Far itself: see MonitorNode

	// Of a remote watcher.
	over  uint32                // atomic: 1 when it no longer watches
	scope atomic.Pointer[scope] // nil until the Context is requested
}

// message returns the watcher's message.
func (m *Monitor) message(pid wire.PID, reason any) any {
	to := m.Watcher.System.Host
	if m.Node {
		return to.NodeDown(m.Far.NodeName(), reason.(string))
	}
	d := Down{Ref: m.ref, PID: pid, Reason: reason}
	if m.Name != "" && !tables.IsAlias(m.Name) {
		d.PID, d.Name, d.Node = wire.PID{}, m.Name, m.Watcher.System.Name
		if m.Far != nil {
			d.Node = m.Far.NodeName()
		}
	}
	if reason == NoConnection && m.Far != nil {
		d.Cause = m.Far.Why()
	}
	return to.Down(d)
}

// WatchedBy returns the monitor by a remote process of a local one; target is nil if that has exited.
func WatchedBy(far Remote, by wire.PID, ref wire.Ref, target *Process, name wire.Atom) Monitor {
	return Monitor{ref: ref, Far: far, By: by, Target: target, Name: name}
}

// IsOver reports whether the watcher of m, a remote process, has removed it, or can no longer be reached.
func (m *Monitor) IsOver() bool { return atomic.LoadUint32(&m.over) != 0 }

// Context returns a context that ends when the watcher of m, a remote process, no longer watches.
func (m *Monitor) Context() context.Context {
	s := m.scope.Load()
	if s == nil {
		ctx, cancel := context.WithCancelCause(context.Background())
		s = &scope{ctx, cancel}
		if !m.scope.CompareAndSwap(nil, s) {
			s = m.scope.Load()
		}
	}
	if m.IsOver() { // Forget may have found no scope
		s.cancel(nil)
	}
	return s.Context
}

// Ref returns the reference of the monitor.
func (m *Monitor) Ref() wire.Ref { return m.ref }

// Fire delivers the Down of a monitor by a local process, unless it has been removed.
func (m *Monitor) Fire(reason any) { m.Deliver(&m.Watcher.System.Plain, m.PID, reason) }

// about returns whom m watches, if known.
func (m *Monitor) about() wire.PID {
	if m.Target != nil {
		return m.Target.PID()
	}
	return m.PID
}

// Deliver delivers the Down unless the monitor has been removed.
func (m *Monitor) Deliver(a *Acting, pid wire.PID, reason any) {
	w := m.Watcher
	if w == nil {
		m.Far.Down(m, pid, reason)
		return
	}
	w.Mu.Lock()
	defer w.Mu.Unlock()
	if !w.Gone() && w.Cold.Watching[m.ref.Number()] == m {
		delete(w.Cold.Watching, m.ref.Number())
		w.Signal(a, m.message(pid, reason))
	}
}

// Forget ends the monitor: its watcher no longer watches, and the target no longer has it.
func (m *Monitor) Forget() {
	m.End()
	m.Detach()
}

// End records that the watcher no longer watches.
func (m *Monitor) End() {
	atomic.StoreUint32(&m.over, 1)
	if s := m.scope.Load(); s != nil {
		s.cancel(nil)
	}
}

// Detach removes the monitor from its target. A remote watcher still watches, and learns in another way what it waits for.
func (m *Monitor) Detach() {
	t := m.Target
	if t == nil {
		if m.Far != nil {
			m.Far.Demonitor(m)
		}
		return
	}
	t.Mu.Lock()
	if !t.Gone() && t.Cold != nil {
		t.Cold.Watchers.Remove(&m.entry)
	}
	t.Mu.Unlock()
}

// add adds m to its watcher and its target. It returns false if the target is dead.
func (m *Monitor) add(a *Acting) bool {
	w := m.Watcher
	w.Mu.Lock()
	if w.Gone() {
		w.Mu.Unlock()
		return true
	}
	k := w.ColdPart()
	if k.Watching == nil {
		k.Watching = make(map[uint64]*Monitor)
	}
	k.Watching[m.ref.Number()] = m
	w.Mu.Unlock()

	ok := false
	if m.Target != nil {
		ok = m.Attach()
	} else if ok = m.Far.Monitor(m); ok {
		m.Far.Pace(a)
	}
	if ok && w.Gone() { // killed meanwhile
		m.Forget()
	}
	if !ok {
		w.Mu.Lock()
		if w.Cold.Watching != nil {
			delete(w.Cold.Watching, m.ref.Number())
		}
		w.Mu.Unlock()
	}
	return ok
}

// Attach adds m to its target's watchers. It returns false if the target is dead.
func (m *Monitor) Attach() bool {
	t := m.Target
	t.Mu.Lock()
	defer t.Mu.Unlock()
	if t.Gone() {
		return false
	}
	t.ColdPart().Watchers.Add(&m.entry, m)
	if m.Watcher == nil { // of another node: possibly for a call
		inbox.KeepOwned(t.Cold.Box)
	}
	return true
}

// Monitor starts to monitor the process of a destination.
func (p *Process) Monitor(a *Acting, dest wire.Dest) wire.Ref {
	to := p.System.Target(dest)
	m := &Monitor{ref: a.NewRef(), Watcher: p, Target: to.Process, Name: to.Name}
	if m.Target == p { // as in Erlang: a reference, but no monitor
		return m.ref
	}
	if to.ByName() {
		m.Name = to.At().Name
	}
	p.System.Traces().Event(watch.TraceMonitor, p.PID(), to.PID, m.Name, nil)
	if to.Node == "" {
		if m.Target == nil || !m.add(a) {
			p.Signal(a, m.message(to.PID, NoProc))
		}
		return m.ref
	}
	var far Remote
	if to.ByName() {
		far = p.System.Remotes.Named(to.Node)
	} else {
		far = p.System.Remotes.Reach(to.PID)
	}
	p.monitorOn(a, m, far, to)
	return m.ref
}

// MonitorOn is Monitor of a process of another node, far, or nil if it is not connected: no connection is made.
func (p *Process) MonitorOn(a *Acting, far Remote, to wire.Dest) wire.Ref {
	t := p.System.Target(to)
	_, name := t.PIDOrName()
	m := &Monitor{ref: a.NewRef(), Watcher: p, Name: name}
	p.monitorOn(a, m, far, t)
	return m.ref
}

func (p *Process) monitorOn(a *Acting, m *Monitor, far Remote, to Target) {
	m.Far, m.PID = far, to.PID
	switch {
	case far == nil:
		d := Down{Ref: m.ref, PID: to.PID, Name: m.Name, Reason: NoConnection}
		if to.ByName() {
			d.Node = to.Node
		}
		p.Signal(a, p.System.Host.Down(d))
	case !m.add(a):
		p.Signal(a, m.message(to.PID, NoConnection))
	}
}

func (p *Process) Demonitor(a *Acting, ref wire.Ref, flush bool) bool {
	p.Mu.Lock()
	var m *Monitor
	if p.Cold != nil {
		if m = p.Cold.Watching[ref.Number()]; m != nil && m.ref == ref {
			delete(p.Cold.Watching, ref.Number())
		}
	}
	p.Mu.Unlock()
	if m != nil {
		if t := p.System.Traces(); t != nil {
			t.Event(watch.TraceDemonitor, p.PID(), m.about(), m.Name, nil)
		}
		m.Forget()
		if m.Target == nil {
			m.Far.Pace(a)
		}
	} else if flush {
		p.Discard(a, func(msg any) bool { return p.System.Host.IsDown(msg, ref) })
	}
	return m != nil
}

// Discard removes the first queued message for which match returns true, except the one being handled. Only p's own code may
// call it.
func (p *Process) Discard(a *Acting, match func(any) bool) {
	p.Runner().Owning(a, func() {
		held := a.Blocks == nil && p.Queue.More()
		for p.Refill() && p.Boxed {
		}
		p.Queue.Remove(match, held)
	})
}

// MonitorNode requests a message when the connection to a node is lost. Demonitor cancels it.
func (p *Process) MonitorNode(a *Acting, name wire.Atom) wire.Ref {
	m, why := &Monitor{ref: a.NewRef(), Watcher: p, Node: true}, "this node runs without distribution"
	if q := p.System.Remotes.Named(name); q != nil {
		if m.Far = q; m.add(a) {
			return m.ref
		}
		if over := q.Why(); over != nil {
			why = over.Error()
		}
	}
	p.Signal(a, p.System.Host.NodeDown(name, why))
	return m.ref
}
