package node

import "sync"

// aliases is the table of active aliases, by reference number.
type aliases struct {
	mu sync.Mutex
	m  map[uint64]alias
}

type alias struct {
	p    *proc
	once bool
}

func (t *aliases) remove(id uint64) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	_, ok := t.m[id]
	delete(t.m, id)
	return ok
}

// peek finds whom ref is an alias of, without using it up; nil: nobody.
func (t *aliases) peek(n *Node, ref Ref) *proc {
	t.mu.Lock()
	defer t.mu.Unlock()
	if !n.origin.Equal(ref.Origin()) {
		return nil
	}
	return t.m[ref.Number()].p
}

// alias makes ref an alias of p.
func (p *proc) alias(ref Ref, once bool) Ref {
	id := ref.Number()
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.gone() {
		return ref
	}
	k := p.chill()
	if k.aliases == nil {
		k.aliases = make(map[uint64]struct{})
	}
	k.aliases[id] = struct{}{}
	t := &p.node.aliases
	t.mu.Lock()
	t.m[id] = alias{p, once}
	t.mu.Unlock()
	return ref
}

func (p *proc) unalias(ref Ref) bool {
	if !p.node.origin.Equal(ref.Origin()) {
		return false
	}
	id := ref.Number()
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.cold == nil {
		return false
	}
	if _, mine := p.cold.aliases[id]; !mine {
		return false
	}
	delete(p.cold.aliases, id)
	return p.node.aliases.remove(id)
}

// aliased finds the process for a message to an alias. The first message to a
// reply alias uses it up.
func (n *Node) aliased(ref Ref, msg any) *proc {
	id := ref.Number()
	t := &n.aliases
	t.mu.Lock()
	a, ok := t.m[id]
	ok = ok && n.origin.Equal(ref.Origin())
	if ok && a.once {
		delete(t.m, id)
	}
	t.mu.Unlock()
	if !ok {
		n.dead.add(DeadLetter{Cause: CauseNoAlias, Alias: ref, Message: msg})
		return nil
	}
	if a.once {
		a.p.mu.Lock()
		delete(a.p.chill().aliases, id)
		a.p.mu.Unlock()
	}
	return a.p
}
