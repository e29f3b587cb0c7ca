package process

import (
	"github.com/actornode/actornode/internal/kernel/tables"
	"github.com/actornode/actornode/node/deadletter"
	"github.com/actornode/actornode/wire"
)

// AliasOwner returns the process that ref is an alias of, without using it up, or nil if there is none.
func (sys *System) AliasOwner(ref wire.Ref) *Process { return (*Process)(sys.Names.Owner(ref)) }

// Alias creates an alias of the acting process: a random reference, known only to those who are given it.
func (a *Acting) Alias(once bool, as tables.As) wire.Ref {
	p, id := a.Own(), a.System.Env.Uint64() // unguessable: its holders may send to the process
	ref := a.System.Origin.RefOf(id)
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
	p.System.Names.Aliases.Add(id, (*Named)(p), once, as)
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

// takeAlias returns the process for a message to an alias, and what to deliver to it. It returns nil if there is no such
// process, if the alias does not accept the message, and if the message has answered a call.
func (n *System) takeAlias(ref wire.Ref, msg any) (p *Process, m any) {
	id, how := ref.Number(), tables.Missing
	if n.Origin.Equal(ref.Origin()) {
		var q *Named
		q, m, how = n.Names.Aliases.Take(id, msg)
		p = (*Process)(q)
	}
	switch how {
	case tables.Missing:
		if !n.Host.Answered(ref, msg) {
			n.DeadLetter(deadletter.Letter{Cause: deadletter.NoAlias, Alias: ref, Message: msg})
		}
	case tables.Refused:
		n.DeadLetter(deadletter.Letter{Cause: deadletter.WrongType, Alias: ref, Message: msg})
	case tables.Used:
		p.Mu.Lock()
		delete(p.ColdPart().Aliases, id)
		p.Mu.Unlock()
	}
	return p, m
}
