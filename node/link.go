package node

// link makes a link between p, the caller, and another process. Each side has
// the other in its set; the sets are changed one after the other, never with
// both locked.
func (p *proc) link(c *Context, to PID) {
	me := p.pid()
	if to == me {
		return
	}
	p.mu.Lock()
	if p.status.Load() != alive || !p.addLinkLocked(to) {
		p.mu.Unlock()
		return
	}
	p.mu.Unlock()
	if q := p.node.lookup(to); q != nil && q.linked(me) {
		if p.status.Load() != alive { // killed meanwhile, perhaps before q knew of the link
			q.mu.Lock()
			q.removeLinkLocked(me)
			q.mu.Unlock()
		}
		return
	}
	// Nobody there: an exit signal with the reason noproc comes back.
	reason := NoProc
	if !p.node.origin.Minted(to) && to.Node() != p.node.cfg.Name {
		reason = NoConnection
	}
	p.mu.Lock()
	removed := p.status.Load() == alive && p.removeLinkLocked(to)
	trap := p.cold != nil && p.cold.trap
	p.mu.Unlock()
	switch {
	case !removed:
	case trap:
		p.signal(c, Exited{to, reason})
	default:
		p.exit(c, reason)
	}
}

// linked adds from to p's links; false: p is dead.
func (p *proc) linked(from PID) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.status.Load() != alive {
		return false
	}
	p.addLinkLocked(from)
	return true
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
	return p.chill().links.add(p.node.origin, pid)
}

// removeLinkLocked reports whether p was linked to pid.
func (p *proc) removeLinkLocked(pid PID) bool {
	if p.tied && p.isParent(pid) {
		p.tied = false
		return true
	}
	return p.cold != nil && p.cold.links.remove(pid)
}

func (p *proc) unlink(to PID) {
	p.mu.Lock()
	was := p.removeLinkLocked(to)
	p.mu.Unlock()
	if !was {
		return
	}
	if q := p.node.lookup(to); q != nil {
		q.mu.Lock()
		q.removeLinkLocked(p.pid())
		q.mu.Unlock()
	}
}

// Linked reports whether the process is linked to another.
func (c *Context) Linked(to PID) bool {
	p := c.p
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.tied && p.isParent(to) || p.cold != nil && p.cold.links.has(to)
}
