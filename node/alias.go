package node

import (
	"github.com/actornode/actornode/node/deadletter"
	"github.com/actornode/actornode/node/internal/names"
)

// aliasOwner finds the process that ref is an alias of, without using it up; nil: none.
func (n *Node) aliasOwner(ref Ref) *proc {
	if !n.origin.Equal(ref.Origin()) {
		return nil
	}
	return n.aliases.Peek(ref.Number())
}

// elsewhere is a name on another node. An alias of another node is called, monitored and linked to
// by such a name, too: see [names.OfAlias].
func (n *Node) elsewhere(to Dest) (At, bool) {
	switch to := to.(type) {
	case At:
		return to, to.Node != n.cfg.Name
	case Ref:
		if !n.origin.Equal(to.Origin()) && !to.IsZero() {
			return names.OfAlias(to), true
		}
	}
	return At{}, false
}

// alias makes ref an alias of p.
func (p *proc) alias(ref Ref, once bool) Ref {
	id := ref.Number()
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.gone() {
		return ref
	}
	k := p.coldPart()
	if k.aliases == nil {
		k.aliases = make(map[uint64]struct{})
	}
	k.aliases[id] = struct{}{}
	p.node.aliases.Add(id, p, once)
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
	return p.node.aliases.Remove(id)
}

// aliased finds the process for a message to an alias. The first message to a
// reply alias uses it up. It returns nil where there is none, and where the message has answered a call.
func (n *Node) aliased(ref Ref, msg any) *proc {
	id := ref.Number()
	var p *proc
	var used bool
	if n.origin.Equal(ref.Origin()) {
		p, used = n.aliases.Take(id)
	}
	if p == nil && n.answered(ref, msg) {
		return nil
	}
	if p == nil {
		n.deadLetter(deadletter.Letter{Cause: deadletter.NoAlias, Alias: ref, Message: msg})
		return nil
	}
	if used {
		p.mu.Lock()
		delete(p.coldPart().aliases, id)
		p.mu.Unlock()
	}
	return p
}
