package limits

import (
	"errors"
	"fmt"
	"net/netip"

	"github.com/actornode/actornode/wire"
)

// Places counts the authenticated connections, in and out, including those whose handshake is about to succeed. The caller of
// each method holds the lock that guards them.
type Places struct {
	Names DynamicNames // the names that go with a place

	all     *Limit
	share   int
	sources map[netip.Prefix]int // incoming ones by source
	refused uint64               // because of the share of a source
}

// NewPlaces returns the places for max connections, share of them from one source.
func NewPlaces(max, share int) *Places {
	return &Places{all: NewLimit("connections", int64(max)), share: share, sources: make(map[netip.Prefix]int)}
}

// SetMax changes the maximum number of connections, and of those from one source. Existing ones stay.
func (e *Places) SetMax(max, share int) {
	e.all.SetMax(int64(max))
	e.share = share
}

// Place is the place of one connection.
type Place struct {
	Visitor Visitor      // the connected node; for the owner
	Named   wire.NodeID  // the name assigned to the node by this one, released with the place; for the owner
	from    netip.Prefix // not valid if it has no share
	held    bool
}

// Room returns why there is no place for a connection from that source, and counts a refusal then, or nil if there is one.
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

// Take takes a place. replaces reports that the connection ends another, so there may be one too many until then.
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

// Give releases a place, once. p may be nil.
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

// ErrFull reports that there is no place for a connection.
var ErrFull = errors.New("too many connections to this node")

// Limits returns the limits and their usage.
func (e *Places) Limits() []Use {
	most := 0
	for _, n := range e.sources {
		most = max(most, n)
	}
	return []Use{e.all.Use(), {Name: "connections_per_source", Max: int64(e.share), Used: int64(most), Refused: e.refused}}
}
