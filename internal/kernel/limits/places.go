package limits

import (
	"errors"
	"fmt"
	"net/netip"

	"github.com/actornode/actornode/wire"
)

// Places counts the connections whose peers have proved who they are, in and out,
// those included whose handshake is about to end so. Whoever calls a method holds the lock
// that guards them.
type Places struct {
	Names DynamicNames // those that go with a place

	all     *Limit
	share   int
	sources map[netip.Prefix]int // of those that have come in, by source
	refused uint64               // for the share of a source
}

// NewPlaces returns the places for max connections, share of them from one source.
func NewPlaces(max, share int) *Places {
	return &Places{all: NewLimit("connections", int64(max)), share: share, sources: make(map[netip.Prefix]int)}
}

// SetMax changes how many connections there may be, and how many of them from one source. Those that there are stay.
func (e *Places) SetMax(max, share int) {
	e.all.SetMax(int64(max))
	e.share = share
}

// Place is the place of one of them.
type Place struct {
	Visitor Visitor      // whose connection it is; the owner's
	Named   wire.NodeID  // the name that the node has got from this one, which is free with the place; the owner's
	from    netip.Prefix // not valid: it has no share
	held    bool
}

// Room returns why there is no place for a connection from there, and counts it as
// refused; nil: there is one.
func (e *Places) Room(from netip.Prefix) error {
	if n := e.sources[from]; from.IsValid() && n >= e.share {
		e.refused++
		return fmt.Errorf("%w: %d of them are from %v (limits.connections_per_source: %d)", ErrFull, n, from.Addr(), e.share)
	}
	if e.all.Used() >= e.all.Max() {
		e.all.Refuse()
		return fmt.Errorf("%w (limits.connections: %d)", ErrFull, e.all.Max())
	}
	return nil
}

// Take takes a place. replaces: it is for a connection that ends another, so there may be
// one too many until then.
func (e *Places) Take(from netip.Prefix, replaces bool) (*Place, error) {
	if !replaces {
		if err := e.Room(from); err != nil {
			return nil, err
		}
	}
	e.all.Add(1)
	if from.IsValid() {
		e.sources[from]++
	}
	return &Place{from: from, held: true}, nil
}

// Give gives a place back, once. Nil is none.
func (e *Places) Give(p *Place) {
	if p == nil || !p.held {
		return
	}
	p.held = false
	e.all.Give(1)
	e.Names.Give(p.Named)
	if p.from.IsValid() {
		if e.sources[p.from]--; e.sources[p.from] == 0 {
			delete(e.sources, p.from)
		}
	}
}

// ErrFull says that there is no place for a connection.
var ErrFull = errors.New("too many connections to this node")

// Limits are the limits, and what is used of them.
func (e *Places) Limits() []Use {
	most := 0
	for _, n := range e.sources {
		most = max(most, n)
	}
	return []Use{e.all.Use(), {Name: "connections_per_source", Max: int64(e.share), Used: int64(most), Refused: e.refused}}
}
