package node

// nameLink is a link that a process has asked for by a name on another node.
type nameLink struct {
	pid    PID  // the process that had the name when that node was last asked; zero: not answered yet
	asking int  // requests under way
	wanted bool // it was not unlinked since
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
	k := p.chill()
	l := k.byName[at]
	if l == nil {
		p.forgetNamesLocked()
		if k.byName == nil {
			k.byName = make(map[At]*nameLink)
		}
		l = new(nameLink)
		k.byName[at] = l
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
	} else if l.asking == 0 && p.cold.byName[at] == l {
		delete(p.cold.byName, at)
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
	var l *nameLink
	if p.cold != nil {
		l = p.cold.byName[at]
	}
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
	delete(p.cold.byName, at)
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
	if p.cold == nil {
		return false
	}
	l := p.cold.byName[at]
	return l != nil && p.hasLinkLocked(l.pid)
}

// forgetNamesLocked forgets names whose link is gone, where they are more than the links of p
// and some. The caller holds p.mu.
func (p *proc) forgetNamesLocked() {
	k := p.cold
	if len(k.byName) < 2*k.links.Len()+spareNames {
		return
	}
	for at, l := range k.byName {
		if l.asking == 0 && !p.hasLinkLocked(l.pid) {
			delete(k.byName, at)
		}
	}
}
