package process

import (
	"github.com/actornode/actornode/internal/kernel/watch"
	"github.com/actornode/actornode/internal/mailbox/inbox"

	"github.com/actornode/actornode/wire"
)

// Link links p, the caller, to another process. Each side has the other in its set; the sets of two local processes are
// changed with both locked, so that a link has two ends or none, whatever both do concurrently.
func (p *Process) Link(a *Acting, to wire.PID) {
	me := p.PID()
	if to == me {
		return
	}
	q := p.System.Lookup(to)
	if t := p.System.Traces(); t != nil {
		t.Event(watch.TraceLink, me, to, "", nil)
		t.Event(watch.TraceLinked, to, me, "", nil)
	}
	if q != nil && p.linkPair(q) {
		return
	}
	if p.Gone() {
		return
	}
	if far := p.System.Remotes.Reach(to); far != nil {
		p.Mu.Lock()
		done := p.Gone() || far.Link(p, to)
		p.Mu.Unlock()
		if done {
			far.Pace(a)
			return
		}
	}
	// No such process: an exit signal with the reason noproc comes back.
	reason := NoProc
	if !p.System.Origin.Minted(to) && to.Node() != p.System.Name {
		reason = NoConnection
	}
	p.LinkFailed(a, to, reason)
}

// LinkFailed is the exit signal that comes back if there is no process to link to. to is zero if only a name is known.
func (p *Process) LinkFailed(a *Acting, to wire.PID, reason any) {
	p.Mu.Lock()
	traps := p.TrapsLocked()
	done := p.Gone() || p.HasLinkLocked(to) // a signal is on its way
	p.Mu.Unlock()
	switch {
	case done:
	case Link(reason, traps) == Message:
		p.Signal(a, p.System.Host.Exited(to, reason))
	default:
		p.Exit(a, reason)
	}
}

// linkPair links two processes. It returns true if nothing remains to be done: they are linked, or were and q, which is
// dying, will notify p, or p is dead.
func (p *Process) linkPair(q *Process) bool {
	lockPair(p, q)
	defer unlockPair(p, q)
	switch {
	case p.Gone():
		return true
	case q.Gone():
		return p.HasLinkLocked(q.PID())
	}
	p.AddLinkLocked(q.PID())
	q.AddLinkLocked(p.PID())
	return true
}

// lockPair locks two processes, the one with the lower number first. Nothing else locks a process while it holds another.
func lockPair(p, q *Process) {
	if p.ID > q.ID {
		p, q = q, p
	}
	p.Mu.Lock()
	q.Mu.Lock()
}

func unlockPair(p, q *Process) {
	p.Mu.Unlock()
	q.Mu.Unlock()
}

// isParent reports whether pid is the process that spawned p.
func (p *Process) isParent(pid wire.PID) bool {
	return p.Parent != 0 && pid.Number() == p.Parent-1 && p.System.Origin.Minted(pid)
}

// AddLinkLocked records that p is linked to pid. It returns false if it was. The link that most processes have, the one to
// their parent, takes no memory.
func (p *Process) AddLinkLocked(pid wire.PID) bool {
	if p.Boxed {
		inbox.KeepOwned(p.Cold.Box)
	}
	if p.isParent(pid) {
		was := p.Tied
		p.Tied = true
		return !was
	}
	return p.ColdPart().Links.Add(p.System.Origin, pid)
}

// RemoveLinkLocked removes the link to pid, and reports whether there was one.
func (p *Process) RemoveLinkLocked(pid wire.PID) bool {
	if p.Tied && p.isParent(pid) {
		p.Tied = false
		return true
	}
	return p.Cold != nil && p.Cold.Links.Remove(pid)
}

func (p *Process) Unlink(a *Acting, to wire.PID) {
	q := p.System.Lookup(to)
	if t := p.System.Traces(); t != nil {
		t.Event(watch.TraceUnlink, p.PID(), to, "", nil)
		t.Event(watch.TraceUnlinked, to, p.PID(), "", nil)
	}
	if q != nil && q != p {
		lockPair(p, q)
		p.RemoveLinkLocked(to)
		q.RemoveLinkLocked(p.PID())
		unlockPair(p, q)
		return
	}
	p.Mu.Lock()
	far := p.System.Remotes.Connected(to)
	if p.RemoveLinkLocked(to) && far != nil {
		far.Unlink(p, to)
	}
	p.Mu.Unlock()
	if far != nil {
		far.Pace(a)
	}
}

// HasLinkLocked reports whether p is linked to pid.
func (p *Process) HasLinkLocked(pid wire.PID) bool {
	return p.Tied && p.isParent(pid) || p.Cold != nil && p.Cold.Links.Has(pid)
}
