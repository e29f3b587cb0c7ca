package peers

import (
	"github.com/actornode/actornode/internal/kernel/limits"
	"github.com/actornode/actornode/internal/kernel/process"
	"github.com/actornode/actornode/internal/kernel/tables"
	"github.com/actornode/actornode/internal/kernel/watch"
	"github.com/actornode/actornode/wire"
	"github.com/actornode/actornode/wire/dist"
)

// Links, monitors and exit signals between local and remote processes. Methods without the prefix Handle carry out local
// operations and send them to the peer; methods with it handle frames of the peer. Both are named like the operations of the
// protocol.

// NodeName implements process.Remote, like Why, Pace and the methods below without Handle.
func (p *Peer) NodeName() wire.Atom { return p.Name }

// Put sends a control frame that need not be in order with the changes of the tables.
func (p *Peer) Put(f dist.Frame) { p.Box.Put(nil, f) }

// putIf sends f, which reports a change of the tables, if ok. The caller holds mu.
func (p *Peer) putIf(f dist.Frame, ok bool) {
	if ok {
		p.Box.Put(nil, f)
	}
}

// Link links near, which is alive and whose lock the caller holds, to far. It returns false if the connection has ended.
func (p *Peer) Link(near *process.Process, far wire.PID) bool {
	if near.HasLinkLocked(far) {
		return true
	}
	p.mu.Lock()
	f, ok := p.tables.Link(near.ID, near.PID(), far)
	p.putIf(f, ok)
	p.mu.Unlock()
	if ok {
		near.AddLinkLocked(far)
	}
	return ok
}

// HandleLink creates the link that a remote process requests. The peer is told if the local process is dead or the link is
// refused.
func (p *Peer) HandleLink(f *dist.Frame) {
	reason := any(process.NoProc)
	if q := p.System.Lookup(f.To); q != nil {
		reason = p.acceptLink(q, f.From)
	}
	if reason != nil {
		p.Put(dist.Frame{Op: dist.OpExit, From: f.To, To: f.From, Payload: reason})
	}
}

// acceptLink creates the local half of a link that far has requested. It returns nil, or the reason of the exit signal that
// breaks the link: near is dead, or the peer has too many links.
func (p *Peer) acceptLink(near *process.Process, far wire.PID) (reason any) {
	near.Mu.Lock()
	defer near.Mu.Unlock()
	if near.Gone() {
		return process.NoProc
	}
	switch p.addLink(near.ID, far) {
	case TooMany:
		return limits.SystemLimit
	case Made:
		p.System.Traces().Event(watch.TraceLinked, near.PID(), far, "", nil)
		near.AddLinkLocked(far)
	}
	return nil
}

func (p *Peer) addLink(near uint64, far wire.PID) Result {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.isShort(p.tables.Counts().Links) {
		return TooMany
	}
	r := p.tables.HandleLink(near, far)
	p.refuseIf(r, limits.HeldLinks)
	return r
}

// refusesLink reports whether the peer must not link to a process that it has no right to kill, because its exit would kill
// it. It tells the peer. A protected process accepts the link, since breaking it does not kill the process, and so does a
// process that has created the link itself.
func (p *Peer) refusesLink(f *dist.Frame) bool {
	q := p.System.Lookup(f.To)
	if q == nil || q.Protected || p.System.Operators.Load() == nil || !p.Asker().IsKeptFrom(q) {
		return false
	}
	q.Mu.Lock()
	mutual := q.HasLinkLocked(f.From)
	q.Mu.Unlock()
	if mutual {
		return false
	}
	p.System.Reports.Refused(p.Name, "link", q.Name())
	p.Put(dist.Frame{Op: dist.OpExit, From: f.To, To: f.From, Payload: process.NoProc})
	return true
}

// Unlink removes the link on behalf of near, whose lock the caller holds.
func (p *Peer) Unlink(near *process.Process, far wire.PID) {
	p.mu.Lock()
	defer p.mu.Unlock()
	f, ok := p.tables.Unlink(near.ID, near.PID(), far, p.c.unlinkID)
	if ok && p.link != nil && !p.link.Peer().Acks {
		p.tables.HandleUnlinkAck(near.ID, far, f.ID)
	}
	if ok && p.tables.Unacked() {
		p.unacked = true
		p.c.cfg.Quota.Ask()
	}
	p.putIf(f, ok)
}

// HandleUnlink removes the link that a remote process has removed, and acknowledges that.
func (p *Peer) HandleUnlink(f *dist.Frame) {
	q := p.System.Lookup(f.To)
	if q == nil {
		p.removeLink(f)
		return
	}
	q.Mu.Lock()
	defer q.Mu.Unlock()
	if p.removeLink(f) {
		p.System.Traces().Event(watch.TraceUnlinked, q.PID(), f.From, "", nil)
		q.RemoveLinkLocked(f.From)
	}
}

func (p *Peer) removeLink(f *dist.Frame) (removed bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	removed = p.System.Origin.Minted(f.To) && p.tables.HandleUnlink(f.To.Number(), f.From)
	p.Put(dist.Frame{Op: dist.OpUnlinkAck, ID: f.ID, From: f.To, To: f.From}) // before anything else to f.From
	return removed
}

// HandleUnlinkAck notes that the peer has acknowledged an unlink of this node.
func (p *Peer) HandleUnlinkAck(f *dist.Frame) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.System.Origin.Minted(f.To) {
		p.tables.HandleUnlinkAck(f.To.Number(), f.From, f.ID)
	}
}

// Exit tells far, if near was linked to it, that near has exited.
func (p *Peer) Exit(near uint64, far wire.PID, reason any) {
	reason = p.System.Values.Outward(reason)
	p.mu.Lock()
	defer p.mu.Unlock()
	p.putIf(p.tables.Exit(near, p.System.Origin.PID(near), far, reason))
}

// HandleExit breaks the link to a remote process that has exited.
func (p *Peer) HandleExit(f *dist.Frame) {
	q := p.System.Lookup(f.To)
	if q == nil {
		return // it has sent its exit, or will
	}
	var d *process.Death
	q.Mu.Lock()
	p.mu.Lock()
	linked := p.tables.HandleExit(q.ID, f.From)
	p.mu.Unlock()
	if linked {
		d = p.breakLinkLocked(q, f.From, p.System.Values.Inward(f.Payload))
	}
	q.Mu.Unlock()
	d.CarryOutAll(&p.System.Plain, false)
}

// loseLink breaks a link because the connection has ended.
func (p *Peer) loseLink(l Link, reason any) {
	if q := p.System.Numbered(l.Near); q != nil {
		q.Mu.Lock()
		d := p.breakLinkLocked(q, l.Far, reason)
		q.Mu.Unlock()
		d.CarryOutAll(&p.System.Plain, false)
	}
}

// breakLinkLocked is [process.Process.LinkBrokenLocked] for a link to a process of the peer: a protected process that does
// not trap exits only loses the link.
func (p *Peer) breakLinkLocked(q *process.Process, far wire.PID, reason any) *process.Death {
	if q.Protected && !q.TrapsLocked() {
		q.RemoveLinkLocked(far)
		return nil
	}
	return q.LinkBrokenLocked(&p.System.Plain, far, reason)
}

// Signal is exit/2 for a remote process.
func (p *Peer) Signal(from, to wire.PID, reason any) {
	p.Put(dist.Frame{Op: dist.OpSignal, From: from, To: to, Payload: p.System.Values.Outward(reason)})
}

// HandleSignal handles exit/2 of a remote process.
func (p *Peer) HandleSignal(f *dist.Frame) {
	if q := p.processOf(f); q != nil && !p.refuses(q, "exit") {
		p.System.ExitSignal(&p.System.Plain, f.From, q.PID(), p.System.Values.Inward(f.Payload))
	}
}

// HandleGroupLeader sets the group leader of a local process.
func (p *Peer) HandleGroupLeader(f *dist.Frame) {
	if q := p.System.Lookup(f.To); q != nil && !p.refuses(q, "group_leader") && p.Asker().MayReach(f.Leader) {
		q.SetLeader(f.Leader)
	}
}

// refuses reports whether a signal of the peer must not reach q, and logs that.
func (p *Peer) refuses(q *process.Process, signal string) bool {
	refused := p.Asker().IsKeptFrom(q)
	if refused {
		p.System.Reports.Refused(p.Name, signal, q.Name())
	}
	return refused
}

// ends returns the ends of m, a monitor of a remote process.
func ends(m *process.Monitor) (e Ends) {
	if m.Watcher != nil {
		e = Ends{By: m.Watcher.PID(), To: m.PID, Name: m.Name}
	}
	return e
}

// Monitor adds m, a monitor by a local process of a remote one or of the node. It returns false if the connection has ended.
func (p *Peer) Monitor(m *process.Monitor) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if m.Node {
		return p.tables.MonitorNode(m)
	}
	f, ok := p.tables.Monitor(m, ends(m))
	p.putIf(f, ok)
	return ok
}

// HandleMonitor creates the monitor that a remote process requests.
func (p *Peer) HandleMonitor(f *dist.Frame) {
	q, pid, name := p.System.Lookup(f.To), f.To, f.Name
	if name != "" {
		if q = p.System.Whose(name); q != nil && tables.IsAlias(name) {
			pid, name = q.PID(), "" // the Down is about the PID
		}
	}
	m := process.WatchedBy(p, f.From, f.Ref, q, name)
	p.attach(&m, pid, process.NoProc)
}

// attach adds m, a monitor by a remote process of pid, and attaches it to its target. If the target is dead, or nil, the peer
// is sent a Down with reason.
func (p *Peer) attach(m *process.Monitor, pid wire.PID, reason any) {
	if p.addMonitor(m, downFrame(m, pid, limits.SystemLimit)) != Made {
		return
	}
	if m.Target == nil || !m.Attach() {
		p.Down(m, pid, reason)
		return
	}
	if !p.hasMonitor(m) { // the connection may have ended before Attach
		m.Forget()
	}
}

// addMonitor adds m, a monitor by a remote process, and ends the one that it replaces. If there are too many, it sends down.
func (p *Peer) addMonitor(m Monitor, down dist.Frame) Result {
	p.mu.Lock()
	r := TooMany
	var was Monitor
	if !p.isShort(p.tables.Counts().Watchers) {
		was = p.tables.MonitorBy(m.Ref())
		r = p.tables.HandleMonitor(m)
		p.refuseIf(r, limits.HeldMonitors)
	}
	p.putIf(down, r == TooMany)
	p.mu.Unlock()
	if r == Made && was != nil {
		was.Forget()
	}
	return r
}

// hasMonitor reports whether m, a monitor by a remote process, still exists.
func (p *Peer) hasMonitor(m Monitor) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.tables.HasMonitorBy(m)
}

// MonitorBy returns the monitor by a remote process with the reference ref, or nil.
func (p *Peer) MonitorBy(ref wire.Ref) Monitor {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.tables.MonitorBy(ref)
}

// Exchange replaces the monitor by a remote process with the reference ref, if there is one, by what with returns for it.
func (p *Peer) Exchange(ref wire.Ref, with func(m Monitor) Monitor) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if m := p.tables.in[ref]; m != nil {
		p.tables.in[ref] = with(m)
	}
}

// Demonitor removes a monitor by a local process.
func (p *Peer) Demonitor(m *process.Monitor) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.putIf(p.tables.Demonitor(m, ends(m)))
}

// HandleDemonitor removes a monitor by a remote process, and reports whether there was one.
func (p *Peer) HandleDemonitor(ref wire.Ref) bool {
	p.mu.Lock()
	m := p.tables.HandleDemonitor(ref)
	p.mu.Unlock()
	if m != nil {
		m.Forget()
	}
	return m != nil
}

// Down sends the Down of m, a monitor by a remote process, unless m has been removed.
func (p *Peer) Down(m *process.Monitor, pid wire.PID, reason any) {
	if p.PutDown(m, downFrame(m, pid, p.System.Values.Outward(reason))) {
		m.End()
	}
}

// PutDown sends down, the Down of m, a monitor by a remote process. It returns false, and sends nothing, if m has been
// removed.
func (p *Peer) PutDown(m Monitor, down dist.Frame) (put bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	put = p.tables.Down(m)
	p.putIf(down, put)
	return put
}

func downFrame(m *process.Monitor, pid wire.PID, reason any) dist.Frame {
	return dist.Frame{Op: dist.OpDown, From: pid, Name: m.Name, To: m.By, Ref: m.Ref(), Payload: reason}
}

// HandleDown delivers the Down of a monitor by a local process.
func (p *Peer) HandleDown(f *dist.Frame, reason any) {
	p.mu.Lock()
	m, ok := p.tables.HandleDown(f.Ref).(*process.Monitor)
	p.mu.Unlock()
	if ok {
		pid := m.PID
		if tables.IsAlias(m.Name) {
			pid = f.From
		}
		m.Deliver(&p.System.Plain, pid, reason)
	}
}

// shortLinks is the number of links, and of monitors, that a peer may have here even if memory is short: each call has a
// monitor, and an operator must be able to inspect the node.
const shortLinks = 64

// isShort reports whether a peer that has this many links, or monitors, may have no more of them because memory is short.
func (p *Peer) isShort(has int) bool {
	return has >= shortLinks && p.c.cfg.Shed != nil && p.c.cfg.Shed.Refuses()
}

// processOf returns the process that the signal f is for.
func (p *Peer) processOf(f *dist.Frame) *process.Process { return p.target(f).Process }
