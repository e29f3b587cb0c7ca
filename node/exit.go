package node

import (
	"cmp"
	"maps"
	"slices"
)

// Exited is what an exit signal becomes for a process that traps exits:
// Erlang's {'EXIT', From, Reason}.
type Exited struct {
	From   PID
	Reason any
}

// death is a process that has to end, and why.
type death struct {
	p      *proc
	reason any
}

// exit ends p with a reason, whoever runs it: it is dead to all others when
// exit returns, and so are those that had to go with it. c is the context of
// the calling actor, nil elsewhere. It reports whether p was alive.
func (p *proc) exit(c *Context, reason any) bool {
	return p.leave(c, reason, c != nil && c.p == p)
}

// leave is exit; own says that it is the process's own code that ends it.
func (p *proc) leave(c *Context, reason any, own bool) bool {
	ok, wave := p.end(c, reason, own)
	// One after the other, so that a chain of a million links needs no deep stack.
	for len(wave) > 0 {
		d := wave[0]
		_, more := d.p.end(c, d.reason, c != nil && c.p == d.p)
		wave = append(wave[1:], more...)
	}
	return ok
}

// end is exit without the consequences, which it returns.
func (p *proc) end(c *Context, reason any, own bool) (ok bool, wave []death) {
	p.mu.Lock()
	if p.status.Load() != alive {
		p.mu.Unlock()
		return false, nil
	}
	p.status.Or(exiting)
	if p.cold == nil && (p.kind >= blocked || !own && !p.node.stopped.Load()) {
		p.chill() // somebody may ask for the reason
	}
	k := p.cold
	var last cold
	if k != nil {
		k.reason = reason
		last.links, last.name, last.watchers, last.watching = k.links, k.name, k.watchers, k.watching
		last.aliases, last.calls, last.cancel = k.aliases, k.calls, k.cancel
		k.links, k.watchers, k.watching, k.aliases, k.calls = pidSet{}, nil, nil, nil, nil
	}
	p.mu.Unlock()

	n := p.node
	var cache *slots
	if c != nil && c.w != nil {
		cache = &c.slots
	}
	n.table.remove(p, cache)
	n.count(c, -1)
	if last.name != "" {
		n.names.remove(last.name, p)
	}
	if p.boxed {
		p.cold.box.Close()
	}
	armed := p.in.Close()
	if k != nil {
		wave = n.tell(c, p, &last, reason)
	}
	p.status.Or(dead)
	switch p.kind {
	case staged:
		if b, ok := p.behaviour.(self); ok && armed && !own {
			n.pool.Inject(&b.p.Entity, nil) // to be unwound
		}
	case blocked, handle:
		s := p.behaviour.(self)
		if armed || p.boxed {
			s.prod()
		}
		p.mu.Lock() // s.reply
		p.mu.Unlock()
		s.answered()
	case free:
		if d, ok := p.cold.scheduler.(*dedicated); ok {
			close(d.quit)
		}
	}
	if !own && p.kind != handle {
		p.abandon()
	}
	return true, wave
}

// tell does the last things of p: its context ends, its monitors and calls are
// answered, its links broken. It returns who must die of that.
func (n *Node) tell(c *Context, p *proc, last *cold, reason any) (wave []death) {
	pid := p.pid()
	if last.cancel != nil {
		last.cancel(&ExitError{reason})
	}
	for id := range last.aliases {
		n.aliases.remove(id)
	}
	for _, m := range last.watching {
		m.forget()
	}
	for pr := last.calls; pr != nil; {
		next := pr.next
		pr.next, pr.prev = nil, nil
		pr.complete(nil, &ExitError{reason})
		pr = next
	}
	for to := range last.links.all() {
		q := n.lookup(to)
		if q == nil {
			continue
		}
		q.mu.Lock()
		linked := q.status.Load() == alive && q.cold != nil && q.cold.links.remove(pid)
		trap := linked && q.cold.trap
		q.mu.Unlock()
		switch {
		case !linked:
		case trap:
			q.signal(c, Exited{pid, reason})
		case reason != Normal:
			wave = append(wave, death{q, reason})
		}
	}
	for _, m := range slices.SortedFunc(maps.Keys(last.watchers), func(a, b *monitor) int { return cmp.Compare(a.seq, b.seq) }) {
		m.fire(c, pid, reason)
	}
	return wave
}

// exitSignal is exit/2: a signal that no link carries.
func (n *Node) exitSignal(c *Context, from, to PID, reason any) {
	p := n.lookup(to)
	if p == nil {
		return // as in Erlang: nobody there, nothing to do
	}
	if reason == Kill {
		p.exit(c, Killed)
		return
	}
	p.mu.Lock()
	trap := p.cold != nil && p.cold.trap
	p.mu.Unlock()
	switch {
	case trap:
		p.signal(c, Exited{from, reason})
	case reason == Normal && from != to:
	default:
		p.exit(c, reason)
	}
}

// setTrap is process_flag(trap_exit, on).
func (p *proc) setTrap(on bool) (was bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	k := p.chill()
	was, k.trap = k.trap, on
	return was
}

// reason returns why p, which is not alive, has exited.
func (p *proc) reason() any {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.cold == nil {
		return Normal
	}
	return p.cold.reason
}
