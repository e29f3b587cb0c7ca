package node

import (
	"cmp"
	"fmt"
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
//  1. An owner that has processes or names is in by. Of those that have none at most
//     idleOwners are: a peer that starts one process after the other has one owner.
//  2. A process that a peer has started has its owner in cold from before it can run, and
//     gives back what it counts for when it dies, or is not started after all.
//  3. A name that a peer has had registered has its owner in names.owners, and is given
//     back when the name goes, whatever the reason. Its process may be anybody's.
//  4. Nothing else is locked while mu is.
type held struct {
	monitors, links, spawned, names *limit.Limit // they count what was refused only

	mu sync.Mutex
	by map[Atom]*owner // guarded by mu
}

// owner is a peer with what it has started and had registered. held.mu guards it.
type owner struct {
	h       *held
	name    Atom // of the peer, or Unknown
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

// of returns the owner for a peer. The caller holds h.mu, and counts something or tidies it.
func (h *held) of(peer Atom) *owner {
	if o := h.by[peer]; o != nil {
		return o
	}
	o := &owner{h: h, name: peer}
	h.by[peer] = o
	return o
}

// idleOwners is how many owners there may be while one is kept that has nothing.
const idleOwners = 64

// own counts one more process of a peer. It returns nil if there are too many.
func (h *held) own(peer Atom) *owner {
	h.mu.Lock()
	defer h.mu.Unlock()
	o := h.of(peer)
	if int64(o.spawned) >= h.spawned.Max() {
		h.spawned.Refuse()
		o.tidy()
		return nil
	}
	o.spawned++
	return o
}

// give is the end of a process, or of one that was not started.
func (o *owner) give() {
	o.h.mu.Lock()
	defer o.h.mu.Unlock()
	o.spawned--
	o.tidy()
}

// ownName counts one more name of a peer. It returns nil if there are too many.
func (h *held) ownName(peer Atom) *owner {
	h.mu.Lock()
	defer h.mu.Unlock()
	o := h.of(peer)
	if int64(o.names) >= h.names.Max() {
		h.names.Refuse()
		o.tidy()
		return nil
	}
	o.names++
	return o
}

// giveName is the end of a name.
func (o *owner) giveName() {
	o.h.mu.Lock()
	defer o.h.mu.Unlock()
	o.names--
	o.tidy()
}

// tidy forgets an owner that has nothing, unless there are few. The caller holds held.mu.
func (o *owner) tidy() {
	if o.spawned == 0 && o.names == 0 && len(o.h.by) > idleOwners {
		delete(o.h.by, o.name)
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
func (p *proc) owned(by *owner) {
	p.mu.Lock()
	alive := !p.gone()
	if alive {
		p.chill().owner = by
	}
	p.mu.Unlock()
	if !alive {
		by.give()
	}
}

// heldError says that a peer makes this node hold as much of something as it may.
type heldError struct {
	peer Atom
	kind heldKind
	most int64
}

func (e *heldError) Error() string {
	if e.kind == heldNames {
		return fmt.Sprintf("node: %s has registered its limit of %d names here (limits.names)", e.who(), e.most)
	}
	return fmt.Sprintf("node: %s has started its limit of %d processes here (limits.spawned)", e.who(), e.most)
}

func (e *heldError) who() string {
	if e.peer == Unknown {
		return "an unknown peer"
	}
	return string(e.peer)
}

// Is makes it an [ErrTooMany].
func (e *heldError) Is(target error) bool { return target == ErrTooMany }

// Term is system_limit.
func (e *heldError) Term() any { return systemLimit }

// tooManyHeld is the error for a peer that has too many of something.
func (n *Node) tooManyHeld(peer Atom, k heldKind) *heldError {
	return &heldError{peer, k, n.dist.quota.held.limit(k).Max()}
}

// logHeld has it logged that a peer has too many, if the peer is connected, and returns e.
// The caller holds no lock.
func (n *Node) logHeld(e *heldError) error {
	if p := n.dist.get(e.peer); p != nil {
		p.refuse(e.kind)
	}
	return e
}

// countsFor reports whether what is done for a node counts as what a peer makes this one hold.
func (n *Node) countsFor(peer Atom) bool { return n.dist != nil && peer != "" && peer != n.cfg.Name }

// ownFor counts a process that is to be started for a peer, as o says.
func (n *Node) ownFor(o *Options) error {
	if !n.countsFor(o.For) || o.owner != nil {
		return nil
	}
	if o.owner = n.dist.quota.held.own(o.For); o.owner == nil {
		return n.logHeld(n.tooManyHeld(o.For, heldSpawned))
	}
	return nil
}

// spawnOwned starts a process for a peer that has asked for it by a message; "": nobody
// knows which has.
func (n *Node) spawnOwned(peer Atom, o Options, b Actor) error {
	peer = cmp.Or(peer, Unknown)
	o.owner = n.dist.quota.held.own(peer)
	if o.owner == nil {
		return n.logHeld(n.tooManyHeld(peer, heldSpawned))
	}
	owner := o.owner
	_, err := n.SpawnOpt(o, b)
	if err != nil {
		owner.give()
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
			p.n.cfg.Log.Warn("a request of a peer was refused: the peer has reached its limit on this node", "peer", string(p.name),
				"what", kinds[k],
				"limit", p.n.dist.quota.held.limit(heldKind(k)).Max())
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
