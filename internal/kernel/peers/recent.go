package peers

import (
	"sync/atomic"

	"github.com/actornode/actornode/wire"
)

// recentPeers is the maximum number of peers that a [Recent] remembers.
const recentPeers = 16

// Recent caches peers by the origin of their PIDs, to save a lookup in the cluster. P is the node's type of a peer. The zero
// value is empty. It may be used concurrently.
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

// Get returns the peer whose PIDs have the origin o, or nil if it is not cached.
func (r *Recent[P]) Get(o wire.Origin) *P {
	if one := r.slot(o).Load(); one != nil && one.origin.Equal(o) {
		return one.p
	}
	return nil
}

// Put caches a peer, possibly replacing another. Afterwards the caller must check whether the peer's connection has ended,
// and call Forget then.
func (r *Recent[P]) Put(o wire.Origin, p *P) { r.slot(o).Store(&reached[P]{o, p}) }

// Forget removes a peer whose connection has ended: otherwise its link, with the buffers of both directions, would be kept
// until another peer replaces it.
func (r *Recent[P]) Forget(p *P) {
	for i := range r.slots {
		if one := r.slots[i].Load(); one != nil && one.p == p {
			r.slots[i].CompareAndSwap(one, nil)
		}
	}
}

// All returns the cached peers.
func (r *Recent[P]) All() (all []*P) {
	for i := range r.slots {
		if one := r.slots[i].Load(); one != nil {
			all = append(all, one.p)
		}
	}
	return all
}
