package limits

import (
	"strings"
	"sync"

	"github.com/actornode/actornode/node/rights"
	"github.com/actornode/actornode/wire"
)

// Owners counts the processes that single peers have started here, and the names that they have registered. Processes outlive
// a connection, so they and their names are counted by the identity of the peer, that is its name and how it has proved that:
// reconnecting does not help, and a node that takes over the name of another gets nothing that belongs to that one.
type Owners struct {
	Spawned, Names *Limit // of one peer; only their refusals are counted

	q  *Quota
	mu sync.Mutex
	by map[identity]*Owner // guarded by mu
}

// identity is a rights.Identity as a key.
type identity struct {
	name, cookie wire.Atom
	tls          string
}

func keyOf(who rights.Identity) identity {
	return identity{who.Name, wire.Atom(who.Cookie), strings.Join(who.TLS, "\x00")}
}

// Owner is a peer with what it has started and registered.
type Owner struct {
	Peer wire.Atom       // immutable, like Who
	Who  rights.Identity // Peer is its name; later another node may have the same name

	h       *Owners
	holder  *Holder
	spawned int // guarded by Owners.mu; so is names
	names   int
}

// idleOwners is the number of owners up to which those that have nothing are kept.
const idleOwners = 64

func (h *Owners) init(q *Quota) {
	h.q = q
	h.Spawned = NewLimit("spawned", 0)
	h.Names = NewLimit("names", 0)
	h.by = make(map[identity]*Owner)
}

// of returns the owner for a peer. The caller holds h.mu, and counts something or calls tidy.
func (h *Owners) of(who rights.Identity) *Owner {
	key := keyOf(who)
	if o := h.by[key]; o != nil {
		return o
	}
	o := &Owner{h: h, Peer: who.Name, Who: who, holder: h.q.NewHolder()}
	h.by[key] = o
	return o
}

// TakeSpawn counts one more process of a peer. The error is a [*TooMany].
func (h *Owners) TakeSpawn(who rights.Identity) (*Owner, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	o := h.of(who)
	if int64(o.spawned) >= h.Spawned.Max() {
		h.Spawned.Refuse()
		o.tidy()
		return nil, &TooMany{who.Name, HeldSpawned, h.Spawned.Max()}
	}
	if !o.holder.Take(HeldSpawned) {
		o.tidy()
		return nil, &TooMany{who.Name, HeldSpawned, 0}
	}
	o.spawned++
	return o, nil
}

// GiveSpawn uncounts a process that has ended, or was not started.
func (o *Owner) GiveSpawn() {
	o.h.mu.Lock()
	defer o.h.mu.Unlock()
	o.spawned--
	o.holder.Add(HeldSpawned, -1)
	o.tidy()
}

// TakeName counts one more name of a peer. The error is a [*TooMany].
func (h *Owners) TakeName(who rights.Identity) (*Owner, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	o := h.of(who)
	if int64(o.names) >= h.Names.Max() {
		h.Names.Refuse()
		o.tidy()
		return nil, &TooMany{who.Name, HeldNames, h.Names.Max()}
	}
	if !o.holder.Take(HeldNames) {
		o.tidy()
		return nil, &TooMany{who.Name, HeldNames, 0}
	}
	o.names++
	return o, nil
}

// GiveName uncounts a name.
func (o *Owner) GiveName() {
	o.h.mu.Lock()
	defer o.h.mu.Unlock()
	o.names--
	o.holder.Add(HeldNames, -1)
	o.tidy()
}

// tidy removes an owner that has nothing, unless there are few. The caller holds Owners.mu.
func (o *Owner) tidy() {
	if o.spawned == 0 && o.names == 0 && len(o.h.by) > idleOwners {
		delete(o.h.by, keyOf(o.Who))
	}
}

// Most returns the maximum number of processes, and of names, of one peer.
func (h *Owners) Most() (spawned, names int64) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, o := range h.by {
		spawned, names = max(spawned, int64(o.spawned)), max(names, int64(o.names))
	}
	return spawned, names
}
