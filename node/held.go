package node

import (
	"errors"
	"sync"

	"github.com/actornode/actornode/internal/limit"
	"github.com/actornode/actornode/wire"
)

// held is how many things single peers make this node hold. Monitors and links are counted
// by the tables of a peer, and are gone with it. Processes outlive a connection, so they
// and their names are counted by the name of the peer: to connect again does not help.
//
// Invariants:
//
//  1. An owner is in by exactly while it has processes, or is about to.
//  2. A process that a peer has started has its owner in cold from before it can run, and
//     gives back what it counts for when it dies, or is not started after all.
type held struct {
	monitors, links, spawned, names *limit.Limit // they count what was refused only

	mu sync.Mutex
	by map[Atom]*owner // guarded by mu
}

// owner is what the processes are that one peer has started. held.mu guards it.
type owner struct {
	h       *held
	name    Atom
	spawned int
	names   int
}

// heldKind is a kind of things that a peer can make this node hold, for the log.
type heldKind uint8

const (
	heldMonitors heldKind = iota
	heldLinks
	heldSpawned
	heldNames
)

var kinds = [...]string{heldMonitors: "monitors", heldLinks: "links", heldSpawned: "spawned", heldNames: "names"}

func (h *held) init(c ClusterLimits) {
	h.monitors = limit.New("monitors", int64(c.Monitors))
	h.links = limit.New("links", int64(c.Links))
	h.spawned = limit.New("spawned", int64(c.Spawned))
	h.names = limit.New("names", int64(c.Names))
	h.by = make(map[Atom]*owner)
}

func (h *held) limit(k heldKind) *limit.Limit {
	return [...]*limit.Limit{h.monitors, h.links, h.spawned, h.names}[k]
}

// own counts one more process of a peer; named: with a name. It returns nil and what there
// are too many of if that must not be.
func (h *held) own(peer Atom, named bool) (*owner, heldKind) {
	h.mu.Lock()
	defer h.mu.Unlock()
	o := h.by[peer]
	if o == nil {
		o = &owner{h: h, name: peer}
	}
	switch {
	case int64(o.spawned) >= h.spawned.Max():
		h.spawned.Refuse()
		return nil, heldSpawned
	case named && int64(o.names) >= h.names.Max():
		h.names.Refuse()
		return nil, heldNames
	}
	h.by[peer] = o
	o.spawned++
	if named {
		o.names++
	}
	return o, 0
}

// give is the end of a process.
func (o *owner) give(named bool) {
	o.h.mu.Lock()
	defer o.h.mu.Unlock()
	if o.spawned--; o.spawned == 0 {
		delete(o.h.by, o.name)
	}
	if named {
		o.names--
	}
}

// most returns the most processes and names that one peer has.
func (h *held) most() (spawned, names int64) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, o := range h.by {
		spawned, names = max(spawned, int64(o.spawned)), max(names, int64(o.names))
	}
	return spawned, names
}

// owned notes whose process p is, which does not run yet.
func (p *proc) owned(by *owner, named bool) {
	p.mu.Lock()
	alive := !p.gone()
	if alive {
		k := p.chill()
		k.owner, k.named = by, named
	}
	p.mu.Unlock()
	if !alive {
		by.give(named)
	}
}

// errOwnsTooMany says that a node has started as many processes here as it may.
var errOwnsTooMany = errors.New("node: the other node has started too many processes")

// spawnOwned starts a process on behalf of another node that has asked for it by a message.
func (n *Node) spawnOwned(peer Atom, o Options, b Actor) error {
	owner, _ := n.dist.quota.held.own(peer, false)
	if owner == nil {
		if p := n.dist.get(peer); p != nil {
			p.refuse(heldSpawned)
		}
		return errOwnsTooMany
	}
	known := false
	o.before = func(q *proc) {
		known = true
		q.owned(owner, false)
	}
	_, err := n.SpawnOpt(o, b)
	if !known {
		owner.give(false)
	}
	return err
}

// What is known of refusals of one kind, for the log.
const (
	noneRefused uint32 = iota
	toBeLogged
	logged
)

// refuse has it said in the log, once for each connection and kind, that p has too many of
// something; the limit has counted it. The caller may hold any lock.
func (p *peer) refuse(k heldKind) {
	if p.refused[k].CompareAndSwap(noneRefused, toBeLogged) {
		p.n.dist.quota.ask()
	}
}

// logRefusals says what has been refused for the first time. It is for the goroutine of
// ticks.
func (p *peer) logRefusals() {
	for k := range p.refused {
		if p.refused[k].CompareAndSwap(toBeLogged, logged) {
			p.n.cfg.Log.Warn("refused: the peer has too many", "peer", string(p.name), "what", kinds[k],
				"at most", p.n.dist.quota.held.limit(heldKind(k)).Max())
		}
	}
}

// tooMany reports whether p has as many monitors, or links, as it may, and counts that it
// is refused one more. The caller holds p.mu.
func (p *peer) tooMany(k heldKind) bool {
	n := len(p.links)
	if k == heldMonitors {
		n = len(p.in)
	}
	l := p.n.dist.quota.held.limit(k)
	if int64(n) < l.Max() {
		return false
	}
	l.Refuse()
	p.refuse(k)
	return true
}

// hasRoomFor reports whether p may have what a spawn asks for beside the process.
func (p *peer) hasRoomFor(s *wire.Spawn) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return !(s.Link && p.tooMany(heldLinks) || s.Monitor && p.tooMany(heldMonitors))
}
