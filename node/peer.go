package node

import (
	"errors"

	"github.com/actornode/actornode/internal/kernel/limits"
	"github.com/actornode/actornode/internal/kernel/peers"
	"github.com/actornode/actornode/internal/kernel/process"
	"github.com/actornode/actornode/wire"
	"github.com/actornode/actornode/wire/dist"
)

// peerHost is peers.Node: what the connections of a node ask of this package.
type peerHost struct{ n *Node }

// Up is part of peers.Node, and so are the others.
func (h peerHost) Up(p *peers.Peer, about dist.Peer) {
	h.n.watchers.Tell(NodeUp{p.Name, about.Hidden, about.Foreign()})
	if !about.Hidden {
		h.n.watchers.TellServer(peers.LinkUp(p.Name))
	}
}

// Down tells the name server. If the peer has given this node its name, the node ends.
func (h peerHost) Down(p *peers.Peer) {
	h.n.watchers.TellServer(peers.LinkDown(p.Name))
	if p.Name == h.n.dist.cfg.NamedBy {
		h.n.nameLost(p.Why())
	}
}

// Message makes calls and casts of terms.
func (h peerHost) Message(from *peers.Sender, msg any) any { return h.n.received(from, msg) }

// Request returns the Request of the type that the body has.
func (h peerHost) Request(body any, t process.Ticket) any {
	return h.n.types.maker(body).request(body, From{t: t})
}

// Show returns a PeerMessage.
func (h peerHost) Show(from *peers.Sender, msg any) any { return show(from, msg) }

// BodyPath is the path to the body of a Request or a Cast.
func (h peerHost) BodyPath(msg any) string {
	switch msg.(type) {
	case untyped:
		return "{3}"
	case interface{ uncast() any }:
		return "{2}"
	}
	return ""
}

// StartsNothing reports whether the node drains, or is short of memory.
func (h peerHost) StartsNothing() bool { return h.n.takesNothing() }

// Spawn starts what the node exports, and the calls of erpc.
func (h peerHost) Spawn(s peers.Spawn) (reason any) {
	b, err := h.n.wanted(s.Peer, s.Spawn)
	if err != nil {
		s.Owner.GiveSpawn()
		return errorTerm(err)
	}
	started := false
	o := Options{Name: s.Name, Leader: s.Leader, owner: s.Owner, inline: s.Inline, before: func(q *process.Process) {
		started = true
		s.Before(q)
	}}
	_, err = h.n.SpawnOpt(o, b)
	switch {
	case err == nil, started:
		return nil
	case o.Name != "" && !errors.Is(err, ErrTooMany):
		reason = wire.Atom("badarg")
	default:
		reason = limits.SystemLimit
	}
	s.Owner.GiveSpawn()
	return reason
}
