package process

import (
	"github.com/actornode/actornode/wire"
)

// Links by names on other nodes. Few processes have any, so they are stored in the System; they are guarded by the Mu of the
// process, and removed with it.

// NameLinksLocked returns those of p, or nil if it has none. The caller holds p.Mu.
func (p *Process) NameLinksLocked() nameLinks {
	if !p.byName {
		return nil
	}
	all, _ := p.System.ByName.Load(p)
	return all.(nameLinks)
}

// LinkName links p to the process with the name at on another node, once that node has answered.
func (p *Process) LinkName(a *Acting, at wire.At) {
	p.Mu.Lock()
	if p.Gone() {
		p.Mu.Unlock()
		return
	}
	all := p.NameLinksLocked()
	if all == nil {
		p.ColdPart() // an exit checks Cold for what to remove
		all = make(nameLinks)
		p.byName = true
		p.System.ByName.Store(p, all)
	}
	l := all.Ask(at, p.Cold.Links.Len(), p.HasLinkLocked)
	p.Mu.Unlock()
	p.System.Host.Whereis(a, at, func(pid wire.PID, why any) { p.nameAnswered(at, l, pid, why) })
}

// nameAnswered handles the answer to a request of LinkName.
func (p *Process) nameAnswered(at wire.At, l *nameLink, pid wire.PID, why any) {
	a := &p.System.Plain
	p.Mu.Lock()
	wanted := p.NameLinksLocked().Answered(at, l, pid, why == nil)
	p.Mu.Unlock()
	switch {
	case !wanted:
		return
	case why != nil:
		p.LinkFailed(a, wire.PID{}, why)
		return
	}
	p.Link(a, pid)
	p.Mu.Lock()
	wanted = l.Wanted()
	p.Mu.Unlock()
	if !wanted { // unlinked while the link was made
		p.Unlink(a, pid)
	}
}

// UnlinkName is Unlink for a name on another node. A link by that name is removed at once; for any other link that node is
// asked which process has the name.
func (p *Process) UnlinkName(a *Acting, at wire.At) {
	p.Mu.Lock()
	pid, ok := p.NameLinksLocked().Remove(at)
	p.Mu.Unlock()
	if !ok {
		p.System.Host.Whereis(a, at, func(pid wire.PID, why any) {
			if why == nil {
				p.Unlink(&p.System.Plain, pid)
			}
		})
		return
	}
	if !pid.IsZero() {
		p.Unlink(a, pid)
	}
}

// LinkedName reports whether p is linked to a process by its name on another node.
func (p *Process) LinkedName(at wire.At) bool {
	p.Mu.Lock()
	defer p.Mu.Unlock()
	pid := p.NameLinksLocked().Find(at)
	return !pid.IsZero() && p.HasLinkLocked(pid)
}
