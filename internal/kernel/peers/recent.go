package peers

import (
	"sync/atomic"

	"github.com/actornode/actornode/wire"
)

// recentPeers is how many peers a [Recent] remembers, at most.
const recentPeers = 16

// Recent remembers peers that have been reached, by the origin of their PIDs: to save a look into
// the cluster. P is what the node keeps for a peer. The zero value has none. It may be used from
// anywhere.
type Recent[P any] struct {
	slots [recentPeers]atomic.Pointer[reached[P]]
}

type reached[P any] struct {
	origin wire.Origin
	p      *P
}

func (r *Recent[P]) slot(o wire.Origin) *atomic.Pointer[reached[P]] {
	return &r.slots[o.NodeID().Creation%recentPeers]
}

// Get returns the peer whose PIDs have an origin; nil: it is not among them.
func (r *Recent[P]) Get(o wire.Origin) *P {
	if one := r.slot(o).Load(); one != nil && one.origin.Equal(o) {
		return one.p
	}
	return nil
}

// Put remembers a peer, in place of another perhaps. The caller looks afterwards whether the peer is
// over, and forgets it then.
func (r *Recent[P]) Put(o wire.Origin, p *P) { r.slot(o).Store(&reached[P]{o, p}) }

// Forget takes a peer out that is over: it would keep its link, with the buffers of both directions,
// until another peer has its place.
func (r *Recent[P]) Forget(p *P) {
	for i := range r.slots {
		if one := r.slots[i].Load(); one != nil && one.p == p {
			r.slots[i].CompareAndSwap(one, nil)
		}
	}
}

// All returns those that are remembered.
func (r *Recent[P]) All() (all []*P) {
	for i := range r.slots {
		if one := r.slots[i].Load(); one != nil {
			all = append(all, one.p)
		}
	}
	return all
}
