package process

import (
	"github.com/actornode/actornode/node/deadletter"
	"github.com/actornode/actornode/wire"
)

// AliasOwner finds the process that ref is an alias of, without using it up; nil: none.
func (sys *System) AliasOwner(ref wire.Ref) *Process { return (*Process)(sys.Names.Owner(ref)) }

// Alias makes ref an alias of p.
func (p *Process) Alias(ref wire.Ref, once bool) wire.Ref {
	id := ref.Number()
	p.Mu.Lock()
	defer p.Mu.Unlock()
	if p.Gone() {
		return ref
	}
	k := p.ColdPart()
	if k.Aliases == nil {
		k.Aliases = make(map[uint64]struct{})
	}
	k.Aliases[id] = struct{}{}
	p.System.Names.Aliases.Add(id, (*Named)(p), once)
	return ref
}

func (p *Process) Unalias(ref wire.Ref) bool {
	if !p.System.Origin.Equal(ref.Origin()) {
		return false
	}
	id := ref.Number()
	p.Mu.Lock()
	defer p.Mu.Unlock()
	if p.Cold == nil {
		return false
	}
	if _, mine := p.Cold.Aliases[id]; !mine {
		return false
	}
	delete(p.Cold.Aliases, id)
	return p.System.Names.Aliases.Remove(id)
}

// Aliased finds the process for a message to an alias. The first message to a
// reply alias uses it up. It returns nil where there is none, and where the message has answered a call.
func (n *System) Aliased(ref wire.Ref, msg any) *Process {
	id := ref.Number()
	var p *Process
	var used bool
	if n.Origin.Equal(ref.Origin()) {
		var q *Named
		q, used = n.Names.Aliases.Take(id)
		p = (*Process)(q)
	}
	if p == nil && n.Host.Answered(ref, msg) {
		return nil
	}
	if p == nil {
		n.DeadLetter(deadletter.Letter{Cause: deadletter.NoAlias, Alias: ref, Message: msg})
		return nil
	}
	if used {
		p.Mu.Lock()
		delete(p.ColdPart().Aliases, id)
		p.Mu.Unlock()
	}
	return p
}
