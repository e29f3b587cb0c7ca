package node

import (
	"github.com/actornode/actornode/node/internal/signal"
	"github.com/actornode/actornode/node/internal/trace"
)

// link makes a link between p, the caller, and another process. Each side has
// the other in its set; the sets of two local processes are changed with both
// locked, so that a link has two ends or none, whatever both do at a time.
func (p *proc) link(a *acting, to PID) {
	me := p.pid()
	if to == me {
		return
	}
	q := p.node.lookup(to)
	if t := p.node.traces(); t != nil {
		t.Event(trace.Link, me, to, "", nil)
		t.Event(trace.Linked, to, me, "", nil)
	}
	if q != nil && p.linkPair(q) {
		return
	}
	if p.gone() {
		return
	}
	if far := p.node.remoteOf(to); far != nil {
		p.mu.Lock()
		done := p.gone() || far.connectLink(p, to)
		p.mu.Unlock()
		if done {
			far.pace(a)
			return
		}
	}
	// Nobody there: an exit signal with the reason noproc comes back.
	reason := NoProc
	if !p.node.origin.Minted(to) && to.Node() != p.node.cfg.Name {
		reason = NoConnection
	}
	p.linkFailed(a, to, reason)
}

// linkFailed is the exit signal that comes back where there is nobody to link to. to is zero
// where only a name is known.
func (p *proc) linkFailed(a *acting, to PID, reason any) {
	p.mu.Lock()
	traps := p.trapsLocked()
	done := p.gone() || p.hasLinkLocked(to) // a signal is on its way
	p.mu.Unlock()
	switch {
	case done:
	case signal.Link(reason, traps) == signal.Message:
		p.signal(a, Exited{to, reason})
	default:
		p.exit(a, reason)
	}
}

// linkPair links two processes. It reports whether there is no more to do: they
// are linked, or were, and if q is dying will be told, or p is dead.
func (p *proc) linkPair(q *proc) bool {
	lockPair(p, q)
	defer unlockPair(p, q)
	switch {
	case p.gone():
		return true
	case q.gone():
		return p.hasLinkLocked(q.pid())
	}
	p.addLinkLocked(q.pid())
	q.addLinkLocked(p.pid())
	return true
}

// lockPair locks two processes, the one with the lower number first. Nothing
// else locks a process while it holds another.
func lockPair(p, q *proc) {
	if p.id > q.id {
		p, q = q, p
	}
	p.mu.Lock()
	q.mu.Lock()
}

func unlockPair(p, q *proc) {
	p.mu.Unlock()
	q.mu.Unlock()
}

// isParent reports whether pid is the process that spawned p.
func (p *proc) isParent(pid PID) bool {
	return p.parent != 0 && pid.Number() == p.parent-1 && p.node.origin.Minted(pid)
}

// addLinkLocked notes that p is linked to pid; false: it was. The link that
// most processes have, the one to their parent, takes no memory.
func (p *proc) addLinkLocked(pid PID) bool {
	if p.isParent(pid) {
		was := p.tied
		p.tied = true
		return !was
	}
	return p.coldPart().links.Add(p.node.origin, pid)
}

// removeLinkLocked reports whether p was linked to pid.
func (p *proc) removeLinkLocked(pid PID) bool {
	if p.tied && p.isParent(pid) {
		p.tied = false
		return true
	}
	return p.cold != nil && p.cold.links.Remove(pid)
}

func (p *proc) unlink(a *acting, to PID) {
	q := p.node.lookup(to)
	if t := p.node.traces(); t != nil {
		t.Event(trace.Unlink, p.pid(), to, "", nil)
		t.Event(trace.Unlinked, to, p.pid(), "", nil)
	}
	if q != nil && q != p {
		lockPair(p, q)
		p.removeLinkLocked(to)
		q.removeLinkLocked(p.pid())
		unlockPair(p, q)
		return
	}
	p.mu.Lock()
	far := p.node.remoteNow(to)
	if p.removeLinkLocked(to) && far != nil {
		far.cutLink(p.id, to)
	}
	p.mu.Unlock()
	if far != nil {
		far.pace(a)
	}
}

// hasLinkLocked reports whether p is linked to pid.
func (p *proc) hasLinkLocked(pid PID) bool {
	return p.tied && p.isParent(pid) || p.cold != nil && p.cold.links.Has(pid)
}
