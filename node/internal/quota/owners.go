package quota

import (
	"sync"

	"github.com/actornode/actornode/internal/limit"
	"github.com/actornode/actornode/wire"
)

// Owners counts the processes that single peers have started here, and the names that they
// have had registered. Processes outlive a connection, so they and their names are counted
// by the name of the peer: to connect again does not help.
type Owners struct {
	Spawned, Names *limit.Limit // of one peer; they count what was refused only

	mu sync.Mutex
	by map[wire.Atom]*Owner // guarded by mu
}

// Owner is a peer with what it has started and had registered.
type Owner struct {
	Peer wire.Atom // never changed

	h       *Owners
	spawned int // guarded by Owners.mu; so is names
	names   int
}

// idleOwners is how many owners there may be while one is kept that has nothing.
const idleOwners = 64

func (h *Owners) init() {
	h.Spawned = limit.New("spawned", 0)
	h.Names = limit.New("names", 0)
	h.by = make(map[wire.Atom]*Owner)
}

// of returns the owner for a peer. The caller holds h.mu, and counts something or tidies it.
func (h *Owners) of(peer wire.Atom) *Owner {
	if o := h.by[peer]; o != nil {
		return o
	}
	o := &Owner{h: h, Peer: peer}
	h.by[peer] = o
	return o
}

// TakeSpawn counts one more process of a peer. The error is a [*TooMany].
func (h *Owners) TakeSpawn(peer wire.Atom) (*Owner, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	o := h.of(peer)
	if int64(o.spawned) >= h.Spawned.Max() {
		h.Spawned.Refuse()
		o.tidy()
		return nil, &TooMany{peer, Spawned, h.Spawned.Max()}
	}
	o.spawned++
	return o, nil
}

// GiveSpawn is the end of a process, or of one that was not started.
func (o *Owner) GiveSpawn() {
	o.h.mu.Lock()
	defer o.h.mu.Unlock()
	o.spawned--
	o.tidy()
}

// TakeName counts one more name of a peer. The error is a [*TooMany].
func (h *Owners) TakeName(peer wire.Atom) (*Owner, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	o := h.of(peer)
	if int64(o.names) >= h.Names.Max() {
		h.Names.Refuse()
		o.tidy()
		return nil, &TooMany{peer, Names, h.Names.Max()}
	}
	o.names++
	return o, nil
}

// GiveName is the end of a name.
func (o *Owner) GiveName() {
	o.h.mu.Lock()
	defer o.h.mu.Unlock()
	o.names--
	o.tidy()
}

// tidy forgets an owner that has nothing, unless there are few. The caller holds Owners.mu.
func (o *Owner) tidy() {
	if o.spawned == 0 && o.names == 0 && len(o.h.by) > idleOwners {
		delete(o.h.by, o.Peer)
	}
}

// Most returns the most processes and names that one peer has.
func (h *Owners) Most() (spawned, names int64) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, o := range h.by {
		spawned, names = max(spawned, int64(o.spawned)), max(names, int64(o.names))
	}
	return spawned, names
}
