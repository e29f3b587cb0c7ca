package node

import (
	"github.com/actornode/actornode/node/deadletter"
)

// aliasOwner finds the process that ref is an alias of, without using it up; nil: none.
func (n *Node) aliasOwner(ref Ref) *proc { return (*proc)(n.names.Owner(ref)) }

// elsewhere is a name on another node, or an alias of it by such a name.
func (n *Node) elsewhere(to Dest) (At, bool) { return n.names.Elsewhere(to) }

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
	p.node.names.Aliases.Add(id, (*named)(p), once)
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
	return p.node.names.Aliases.Remove(id)
}

// aliased finds the process for a message to an alias. The first message to a
// reply alias uses it up. It returns nil where there is none, and where the message has answered a call.
func (n *Node) aliased(ref Ref, msg any) *proc {
	id := ref.Number()
	var p *proc
	var used bool
	if n.origin.Equal(ref.Origin()) {
		var q *named
		q, used = n.names.Aliases.Take(id)
		p = (*proc)(q)
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
