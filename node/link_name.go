package node

import "github.com/actornode/actornode/node/internal/namelink"

// Links by names on other nodes: package namelink. Few processes have any, so they hang on the
// node; they are guarded by the mu of the process, and go with it.

// nameLinksLocked returns those of p; nil: it has none. The caller holds p.mu.
func (p *proc) nameLinksLocked() namelink.Links {
	if !p.byName {
		return nil
	}
	all, _ := p.node.byName.Load(p)
	return all.(namelink.Links)
}

// linkName links p to the process that has a name on another node, once that node has answered.
func (p *proc) linkName(a *acting, at At) {
	p.mu.Lock()
	if p.gone() {
		p.mu.Unlock()
		return
	}
	all := p.nameLinksLocked()
	if all == nil {
		p.coldPart() // an exit looks here where there is something to take away
		all = make(namelink.Links)
		p.byName = true
		p.node.byName.Store(p, all)
	}
	l := all.Ask(at, p.cold.links.Len(), p.hasLinkLocked)
	p.mu.Unlock()
	p.node.askWhere(a, at, func(pid PID, why any) { p.nameAnswered(at, l, pid, why) })
}

// nameAnswered is the answer to a request of linkName.
func (p *proc) nameAnswered(at At, l *namelink.Link, pid PID, why any) {
	a := &p.node.acting
	p.mu.Lock()
	wanted := p.nameLinksLocked().Answered(at, l, pid, why == nil)
	p.mu.Unlock()
	switch {
	case !wanted:
		return
	case why != nil:
		p.linkFailed(a, PID{}, why)
		return
	}
	p.link(a, pid)
	p.mu.Lock()
	wanted = l.Wanted()
	p.mu.Unlock()
	if !wanted { // unlinked while the link was made
		p.unlink(a, pid)
	}
}

// unlinkName is unlink for a name on another node. A link by that name is taken away at once;
// for one that was made otherwise that node is asked which process has the name.
func (p *proc) unlinkName(a *acting, at At) {
	p.mu.Lock()
	pid, ok := p.nameLinksLocked().Remove(at)
	p.mu.Unlock()
	if !ok {
		p.node.askWhere(a, at, func(pid PID, why any) {
			if why == nil {
				p.unlink(&p.node.acting, pid)
			}
		})
		return
	}
	if !pid.IsZero() {
		p.unlink(a, pid)
	}
}

// linkedName reports whether p is linked to a process by its name on another node.
func (p *proc) linkedName(at At) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	pid := p.nameLinksLocked().Find(at)
	return !pid.IsZero() && p.hasLinkLocked(pid)
}
