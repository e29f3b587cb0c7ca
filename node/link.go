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
	if p.status.Load() != alive || !p.chill().links.add(to) {
		p.mu.Unlock()
		return
	}
	p.mu.Unlock()
	if q := p.node.lookup(to); q != nil && q.linked(me) {
		if p.status.Load() != alive { // killed meanwhile, perhaps before q knew of the link
			q.mu.Lock()
			q.chill().links.remove(me)
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
	removed := p.status.Load() == alive && p.cold.links.remove(to)
	trap := p.cold.trap
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
	p.chill().links.add(from)
	return true
}

func (p *proc) unlink(to PID) {
	p.mu.Lock()
	was := p.cold != nil && p.cold.links.remove(to)
	p.mu.Unlock()
	if !was {
		return
	}
	if q := p.node.lookup(to); q != nil {
		q.mu.Lock()
		if q.cold != nil {
			q.cold.links.remove(p.pid())
		}
		q.mu.Unlock()
	}
}
