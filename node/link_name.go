package node

// nameLink is a link that a process has asked for by a name on another node.
type nameLink struct {
	pid    PID  // the process that had the name when that node was last asked; zero: not answered yet
	asking int  // requests under way
	wanted bool // it was not unlinked since
}

// nameLinks are those of one process. Few processes have any, so they hang on the node; they are
// guarded by the mu of the process, and go with it.
type nameLinks map[At]*nameLink

// nameLinksLocked returns those of p; nil: it has none. The caller holds p.mu.
func (p *proc) nameLinksLocked() nameLinks {
	if !p.byName {
		return nil
	}
	all, _ := p.node.byName.Load(p)
	return all.(nameLinks)
}

// spareNames is how many names a process remembers beside those that are linked.
const spareNames = 16

// linkName links p to the process that has a name on another node, once that node has answered.
func (p *proc) linkName(a *acting, at At) {
	p.mu.Lock()
	if p.gone() {
		p.mu.Unlock()
		return
	}
	all := p.nameLinksLocked()
	if all == nil {
		p.chill() // an exit looks here where there is something to take away
		all = make(nameLinks)
		p.byName = true
		p.node.byName.Store(p, all)
	}
	l := all[at]
	if l == nil {
		p.forgetNamesLocked(all)
		l = new(nameLink)
		all[at] = l
	}
	l.asking++
	l.wanted = true
	p.mu.Unlock()
	p.node.askWhere(a, at, func(pid PID, why any) { p.nameAnswered(at, l, pid, why) })
}

// nameAnswered is the answer to a request of linkName.
func (p *proc) nameAnswered(at At, l *nameLink, pid PID, why any) {
	a := &p.node.acting
	p.mu.Lock()
	l.asking--
	if !l.wanted {
		p.mu.Unlock()
		return
	}
	if why == nil {
		l.pid = pid
	} else if all := p.nameLinksLocked(); l.asking == 0 && all[at] == l {
		delete(all, at)
	}
	p.mu.Unlock()
	if why != nil {
		p.linkFailed(a, PID{}, why)
		return
	}
	p.link(a, pid)
	p.mu.Lock()
	wanted := l.wanted
	p.mu.Unlock()
	if !wanted { // unlinked while the link was made
		p.unlink(a, pid)
	}
}

// unlinkName is unlink for a name on another node. A link by that name is taken away at once;
// for one that was made otherwise that node is asked which process has the name.
func (p *proc) unlinkName(a *acting, at At) {
	p.mu.Lock()
	all := p.nameLinksLocked()
	l := all[at]
	if l == nil {
		p.mu.Unlock()
		p.node.askWhere(a, at, func(pid PID, why any) {
			if why == nil {
				p.unlink(&p.node.acting, pid)
			}
		})
		return
	}
	l.wanted = false
	delete(all, at)
	pid := l.pid
	p.mu.Unlock()
	if !pid.IsZero() {
		p.unlink(a, pid)
	}
}

// linkedName reports whether p is linked to a process by its name on another node.
func (p *proc) linkedName(at At) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	l := p.nameLinksLocked()[at]
	return l != nil && p.hasLinkLocked(l.pid)
}

// forgetNamesLocked forgets names whose link is gone, where they are more than the links of p
// and some. The caller holds p.mu.
func (p *proc) forgetNamesLocked(all nameLinks) {
	if len(all) < 2*p.cold.links.Len()+spareNames {
		return
	}
	for at, l := range all {
		if l.asking == 0 && !p.hasLinkLocked(l.pid) {
			delete(all, at)
		}
	}
}
