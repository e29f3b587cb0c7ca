package peers

import (
	"github.com/actornode/actornode/internal/kernel/calls"
	"github.com/actornode/actornode/internal/kernel/limits"
	"github.com/actornode/actornode/internal/kernel/process"
	"github.com/actornode/actornode/internal/kernel/tables"
	"github.com/actornode/actornode/internal/kernel/watch"

	"github.com/actornode/actornode/internal/kernel/values"
	"github.com/actornode/actornode/node/rights"
	"github.com/actornode/actornode/wire"
	"github.com/actornode/actornode/wire/dist"
)

// RemotePeer is another node.
type RemotePeer struct {
	System  *process.System // far from what a reader writes, for senders read it
	Values  *values.Codec
	Reports *watch.Reports
	Count   func(name string, labels ...string) // counts for metrics
	Peer

	granted *rights.Granted // to the connection, as of the last frame; the reader's
}

// NodeName is part of process.Remote, and so are WhyOver and those below that say so.
func (p *RemotePeer) NodeName() wire.Atom { return p.Name }

// WhyOver says why the connection is over.
func (p *RemotePeer) WhyOver() error { return p.Why() }

// ExitSignal is part of process.Remote.
func (p *RemotePeer) ExitSignal(from, to wire.PID, reason any) {
	p.Signal(dist.Frame{Op: dist.OpSignal, From: from, To: to, Payload: p.Values.Outward(reason)})
}

// Pace holds who up while more waits for the peer than may: until there is space,
// the connection is lost or who is killed. Whatever a process does of its own
// accord ends with it; what its exit, or the peer, brings about waits for nobody.
// An actor gives up its stage before it waits.
func (p *RemotePeer) Pace(a *process.Acting) { p.PaceAfter(a, nil) }

// PaceAfter is Pace for one who has sent a message.
func (p *RemotePeer) PaceAfter(a *process.Acting, msg any) {
	sender := a.Sender()
	w := p.Box.Space(sender, msg)
	if w == nil {
		return
	}
	a.Process.WaitsFor(calls.WaitSpace, wire.At{Node: p.Name})
	defer a.Process.WaitsNoMore()
	var killed <-chan struct{}
	if a.Process != nil {
		killed = a.Process.Context().Done()
	}
	for ; w != nil; w = p.Box.Space(sender, msg) {
		a.Block()
		select {
		case <-w.Over:
			if !w.Again {
				return
			}
		case <-killed:
			p.Box.Forget(w)
			return
		}
	}
}

// LinkLost is the exit signal of a link whose other end is on another node.
func (p *RemotePeer) LinkLost(near uint64, far wire.PID, reason any) {
	if q := p.System.Numbered(near); q != nil {
		q.Mu.Lock()
		d := p.linkBrokenLocked(q, far, reason)
		q.Mu.Unlock()
		d.CarryOutAll(&p.System.Plain, false)
	}
}

// AddLink makes the link between near and far. The caller holds near.mu, and
// near is alive. False: the connection is over.
func (p *RemotePeer) AddLink(near *process.Process, far wire.PID) bool {
	if near.HasLinkLocked(far) {
		return true
	}
	if !p.ConnectLink(near.ID, near.PID(), far) {
		return false
	}
	near.AddLinkLocked(far)
	return true
}

// BreakLink tells far, if near was linked to it, that near has exited.
func (p *RemotePeer) BreakLink(near uint64, far wire.PID, reason any) {
	p.ExitLink(near, p.System.Origin.PID(near), far, p.Values.Outward(reason))
}

// RemoveLink takes the link away on behalf of near, whose mu the caller holds.
func (p *RemotePeer) RemoveLink(near uint64, far wire.PID) {
	p.CutLink(near, p.System.Origin.PID(near), far)
}

// watchOf says what m, a monitor of a process there, is about.
func watchOf(m *process.Monitor) (w Watch) {
	if m.Watcher != nil {
		w = Watch{By: m.Watcher.PID(), To: m.PID, Name: m.Name}
	}
	return w
}

// AddMonitor makes m, a monitor of a process here over one there. False: the
// connection is over.
func (p *RemotePeer) AddMonitor(m *process.Monitor) bool {
	if m.Node {
		return p.WatchNode(m)
	}
	return p.Watch(m, watchOf(m))
}

// RemoveMonitor takes a monitor over a process there away.
func (p *RemotePeer) RemoveMonitor(m *process.Monitor) { p.Unwatch(m, watchOf(m)) }

// SendDown sends the Down of m, a monitor of a process there, unless it has been
// taken away.
func (p *RemotePeer) SendDown(m *process.Monitor, pid wire.PID, reason any) {
	p.TellDown(m, frame(m, pid, p.Values.Outward(reason)))
}

// frame is the Down of m, a monitor by a process there.
func frame(m *process.Monitor, pid wire.PID, reason any) dist.Frame {
	return dist.Frame{Op: dist.OpDown, From: pid, Name: m.Name, To: m.By, Ref: m.Ref(), Payload: reason}
}

func (p *RemotePeer) LinkMade(f *dist.Frame) {
	q := p.System.Lookup(f.To)
	reason := any(process.NoProc)
	if q != nil {
		reason = p.AcceptLink(q, f.From)
	}
	if reason != nil {
		p.Signal(dist.Frame{Op: dist.OpExit, From: f.To, To: f.From, Payload: reason})
	}
}

// AcceptLink is the near half of a link that far has made. It returns nil, or the reason
// of the exit signal that breaks it: near is dead, or the peer has too many links.
func (p *RemotePeer) AcceptLink(near *process.Process, far wire.PID) (reason any) {
	near.Mu.Lock()
	defer near.Mu.Unlock()
	if near.Gone() {
		return process.NoProc
	}
	switch p.Linked(near.ID, far) {
	case TooMany:
		return limits.SystemLimit
	case Made:
		p.System.Traces().Event(watch.TraceLinked, near.PID(), far, "", nil)
		near.AddLinkLocked(far)
	}
	return nil
}

func (p *RemotePeer) LinkTaken(f *dist.Frame) {
	q := p.System.Lookup(f.To)
	if q == nil {
		p.Unlinked(f)
		return
	}
	q.Mu.Lock()
	defer q.Mu.Unlock()
	if p.Unlinked(f) {
		p.System.Traces().Event(watch.TraceUnlinked, q.PID(), f.From, "", nil)
		q.RemoveLinkLocked(f.From)
	}
}

func (p *RemotePeer) LinkBroken(f *dist.Frame) {
	q := p.System.Lookup(f.To)
	if q == nil {
		return // it has told that it is dead, or will
	}
	q.Mu.Lock()
	d := p.exitedLocked(q, f)
	q.Mu.Unlock()
	d.CarryOutAll(&p.System.Plain, false)
}

func (p *RemotePeer) exitedLocked(q *process.Process, f *dist.Frame) *process.Death {
	if !p.Exited(q.ID, f.From) {
		return nil
	}
	return p.linkBrokenLocked(q, f.From, p.Values.Inward(f.Payload)) // if the link was active
}

func (p *RemotePeer) MonitorMade(f *dist.Frame) {
	q, pid, name := p.System.Lookup(f.To), f.To, f.Name
	if name != "" {
		if q = p.System.Whose(name); q != nil && tables.IsAlias(name) {
			pid, name = q.PID(), "" // whom the Down is about
		}
	}
	m := process.WatchedBy(p, f.From, f.Ref, q, name)
	p.Attach(&m, pid, process.NoProc)
}

// Attach is the near half of m, a monitor that the peer has made over pid; if
// its target is dead, nil or not, reason is told.
func (p *RemotePeer) Attach(m *process.Monitor, pid wire.PID, reason any) {
	if p.Watched(m, frame(m, pid, limits.SystemLimit)) != Made {
		return
	}
	if m.Target == nil || !m.Attach() {
		p.SendDown(m, pid, reason)
		return
	}
	if !p.IsWatched(m) { // the end of the connection may have been before attach
		m.Forget()
	}
}

// Named finds the process that a signal is for.
func (p *RemotePeer) Named(f *dist.Frame) *process.Process {
	switch {
	case !f.Ref.IsZero():
		return p.System.AliasOwner(f.Ref)
	case f.Name != "":
		return p.System.Whose(f.Name)
	}
	return p.System.Lookup(f.To)
}

// Refuses reports whether a signal of the peer must not reach q.
func (p *RemotePeer) Refuses(q *process.Process, signal string) bool {
	refused := p.Asker().IsKeptFrom(q)
	if refused {
		p.Reports.Refused(p.Name, signal, q.Name)
	}
	return refused
}

// RefusesLink reports whether the peer must not link itself to a process, which its end would end: that is kept from it. The
// peer is told then. A protected process takes the link, and loses it only; and one that has made the link itself wants it.
func (p *RemotePeer) RefusesLink(f *dist.Frame) bool {
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
	p.Reports.Refused(p.Name, "link", q.Name)
	p.Signal(dist.Frame{Op: dist.OpExit, From: f.To, To: f.From, Payload: process.NoProc})
	return true
}

// linkBrokenLocked is process.Process.LinkBrokenLocked for a link to a process of another node: a
// protected process that does not trap exits only loses the link.
func (p *RemotePeer) linkBrokenLocked(q *process.Process, from wire.PID, reason any) *process.Death {
	if q.Protected && !q.TrapsLocked() {
		q.RemoveLinkLocked(from)
		return nil
	}
	return q.LinkBrokenLocked(&p.System.Plain, from, reason)
}

// MonitorOver is the Down of a monitor by a process here.
func (p *RemotePeer) MonitorOver(f *dist.Frame, reason any) {
	if m, ok := p.Down(f.Ref).(*process.Monitor); ok {
		pid := m.PID
		if tables.IsAlias(m.Name) {
			pid = f.From
		}
		m.Deliver(&p.System.Plain, pid, reason)
	}
}
