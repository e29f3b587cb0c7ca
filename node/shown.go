package node

import (
	"cmp"
	"context"

	"github.com/actornode/actornode/internal/kernel/limits"
	"github.com/actornode/actornode/internal/kernel/peers"
	"github.com/actornode/actornode/internal/kernel/process"
	"github.com/actornode/actornode/node/rights"
	"github.com/actornode/actornode/wire"
)

// What a process can know of the node that a message comes from. A message itself
// proves nothing: a peer may put the PID of any node into it. The connection that it
// comes over does.

// PeerMessage is a message from another node, for a process that was spawned with [Options].ShowPeer. [Node.AsRequest]
// reads a call in it.
type PeerMessage struct {
	Peer    Atom   // the node whose connection it came over
	Addr    string // of that node
	Message any
	from    *peers.Sender
}

// show is a message with who sent it.
func show(from *peers.Sender, msg any) PeerMessage {
	return PeerMessage{from.Peer, from.Addr, msg, from}
}

// term is the message as other nodes see it.
func (m PeerMessage) term() any { return m.Message }

// identity is what is known of the node that has made a request.
func (f From) identity() (who rights.Identity) {
	if f.isTerm() {
		who = f.asker().Who
	}
	return who
}

// asker is who has made a request; nil: Go code of this program.
func (f From) asker() *peers.Asker {
	if !f.isTerm() {
		return nil
	}
	return farOf(f.t.Call).Sender.Asker(f.t.Call.System)
}

// granted returns what the maker of a request may do; nil: everything; nothing if the maker's node is unknown.
func (f From) granted() *rights.Granted { return f.asker().Granted() }

// farOf returns the caller of p, whose request has come as a term.
func farOf(p *process.Call) *peers.FarCaller { return peers.FarCallerOf(p) }

// Peer returns the node whose connection a request came over, and its address. ok is false for a request that was made
// on this node, or of unknown origin: a process here has passed it on as a term.
func (f From) Peer() (peer Atom, addr string, ok bool) {
	if p := f.t.Call; p != nil && p.Far != nil {
		if by := farOf(p).Sender; by != nil && by.Peer != "" {
			return by.Peer, by.Addr, true
		}
	}
	return "", "", false
}

// unknown stands for the maker of a request whose node nobody knows: one that came as a term, through another process
// of this node. All of these have one share of what a peer may make this node hold.
const unknown = limits.Unknown

// madeBy is the value for [Options].For of a process that is started because of the request, and for registerFor: the
// Peer; "" for Go code of this program; else unknown.
func (f From) madeBy() Atom {
	if !f.isTerm() {
		return ""
	}
	peer, _, _ := f.Peer()
	return cmp.Or(peer, unknown)
}

// isTerm reports whether a request came as a term, as those of other nodes do, and not from Go code of this program. If
// it has no Peer, anybody may have made such a request: perhaps a process here has passed it on.
func (f From) isTerm() bool { return f.t.Call != nil && f.t.Call.Far != nil }

// allows reports whether the maker of a request may have something run by name: see [Access].Allow. Go code of this
// program always may; a request from an unknown node may if all nodes may.
func (f From) allows(e wire.Export) bool {
	if !f.isTerm() {
		return true
	}
	peer, _, _ := f.Peer()
	return nodeOf(f.t.Call.System).allowsPeer(peer, e) && f.granted().Spawn(e)
}

// allowsPeer reports whether a peer may have something run by name, as [Access].Allow says. Peer "" is unknown.
func (n *Node) allowsPeer(peer Atom, e wire.Export) bool {
	if n.dist == nil || n.dist.cfg.Access.Allow == nil {
		return true
	}
	return peer != "" && n.dist.cfg.Access.Allow(peer, e)
}

// allowsIn reports whether the process that ctx belongs to may call e by name: one that a peer has started may call
// what that peer may call or start.
func (n *Node) allowsIn(ctx context.Context, e wire.Export) bool {
	o := process.OwnerIn(ctx)
	switch {
	case o == nil:
		return true
	case o.Peer == unknown:
		return n.allowsPeer("", e) && n.dist.cfg.Access.Rights == nil
	}
	g := (&peers.Asker{System: &n.sys, Who: o.Who}).Granted()
	return n.allowsPeer(o.Peer, e) && (g.RPC(e) || g.Spawn(e))
}
