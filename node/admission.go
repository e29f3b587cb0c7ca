package node

import (
	"container/list"
	"errors"
	"fmt"
	"net"
	"net/netip"

	"github.com/actornode/actornode/internal/limit"
)

// sourceOf returns what shares of limits are counted by: an IPv4 address, or the /64
// that an IPv6 address is in, for that is what one host can choose from. Not valid:
// neither. All such connections, over Unix sockets or within the program, are of one
// source without a share.
func sourceOf(addr net.Addr) netip.Prefix {
	var ip netip.Addr
	if tcp, ok := addr.(*net.TCPAddr); ok {
		ip, _ = netip.AddrFromSlice(tcp.IP)
	} else if addr != nil {
		at, err := netip.ParseAddrPort(addr.String())
		if err == nil {
			ip = at.Addr()
		}
	}
	ip = ip.Unmap().WithZone("")
	bits := 64
	if ip.Is4() {
		bits = 32
	}
	source, _ := ip.Prefix(bits)
	return source
}

// pending is a table of the connections to one listener whose peers have proved nothing
// yet. When there is no room for a new one another is dropped: the oldest of its source
// if that has its share, else the oldest of the source that has the most. So a flood from
// some sources drops itself, and one from very many drops who takes long.
//
// Invariants:
//
//  1. There are n arrivals, at most max, and at most share of one source that has one.
//  2. A source is in sources if it has arrivals, and then in levels[how many it has].
//  3. most is the highest level that is not empty; 0: all are.
type pending struct {
	max, share int
	n, most    int
	sources    map[netip.Prefix]*source
	levels     map[int]*list.List // of *source, the one that has been there longest first
}

// source is where arrivals come from.
type source struct {
	of       netip.Prefix
	arrivals list.List // of *arrival, the oldest first
	level    *list.Element
}

// arrival is a connection in the table.
type arrival struct {
	from netip.Prefix
	drop func(error)   // ends it
	at   *list.Element // nil: it is not in the table
	of   *source
}

// newPending returns an empty table.
func newPending(max, share int) *pending {
	return &pending{max: max, share: share, sources: make(map[netip.Prefix]*source), levels: make(map[int]*list.List)}
}

// add enters an arrival and returns the one that is to be dropped for it, nil: none, and
// whether that is for the share of its source.
func (t *pending) add(a *arrival) (dropped *arrival, share bool) {
	if s := t.sources[a.from]; s != nil && a.from.IsValid() && s.arrivals.Len() >= t.share {
		dropped, share = s.oldest(), true
	} else if t.n >= t.max {
		dropped = t.oldest()
	}
	if dropped != nil {
		t.remove(dropped)
	}
	s := t.sources[a.from]
	if s == nil {
		s = &source{of: a.from}
		t.sources[a.from] = s
	}
	t.leave(s)
	a.of, a.at = s, s.arrivals.PushBack(a)
	t.n++
	t.enter(s)
	return dropped, share
}

// oldest returns the oldest arrival of the source that has the most; nil: there is none.
func (t *pending) oldest() *arrival {
	if t.most == 0 {
		return nil
	}
	return t.levels[t.most].Front().Value.(*source).oldest()
}

func (s *source) oldest() *arrival { return s.arrivals.Front().Value.(*arrival) }

// remove takes an arrival out, if it is in there.
func (t *pending) remove(a *arrival) {
	if a.at == nil {
		return
	}
	s := a.of
	t.leave(s)
	s.arrivals.Remove(a.at)
	a.at, a.of = nil, nil
	t.n--
	if s.arrivals.Len() == 0 {
		delete(t.sources, s.of)
		return
	}
	t.enter(s)
}

// leave takes a source out of its level.
func (t *pending) leave(s *source) {
	n := s.arrivals.Len()
	if n == 0 {
		return
	}
	t.levels[n].Remove(s.level)
	if t.levels[n].Len() == 0 {
		delete(t.levels, n)
	}
	for t.most > 0 && t.levels[t.most] == nil {
		t.most--
	}
}

// enter puts it into the level where it belongs.
func (t *pending) enter(s *source) {
	n := s.arrivals.Len()
	if t.levels[n] == nil {
		t.levels[n] = list.New()
	}
	s.level = t.levels[n].PushBack(s)
	t.most = max(t.most, n)
}

// largest returns how many arrivals the source has that has the most, of those that have a
// share.
func (t *pending) largest() (n int) {
	for of, s := range t.sources {
		if of.IsValid() {
			n = max(n, s.arrivals.Len())
		}
	}
	return n
}

// established counts the connections whose peers have proved who they are, in and out,
// those included whose handshake is about to end so.
type established struct {
	all     *limit.Limit
	share   int
	sources map[netip.Prefix]int // of those that have come in, by source
	refused uint64               // for the share of a source
}

// place is one of them.
type place struct {
	from netip.Prefix // not valid: it has no share
	held bool
}

// room returns why there is no place for a connection from there, and counts it as
// refused; nil: there is one.
func (e *established) room(from netip.Prefix) error {
	if n := e.sources[from]; from.IsValid() && n >= e.share {
		e.refused++
		return fmt.Errorf("%w: %d of them are from %v (limits.connections_per_source: %d)", errFull, n, from.Addr(), e.share)
	}
	if e.all.Used() >= e.all.Max() {
		e.all.Refuse()
		return fmt.Errorf("%w (limits.connections: %d)", errFull, e.all.Max())
	}
	return nil
}

// take takes a place. replaces: it is for a connection that ends another, so there may be
// one too many until then.
func (e *established) take(from netip.Prefix, replaces bool) (*place, error) {
	if !replaces {
		if err := e.room(from); err != nil {
			return nil, err
		}
	}
	e.all.Add(1)
	if from.IsValid() {
		e.sources[from]++
	}
	return &place{from, true}, nil
}

// give gives a place back, once.
func (e *established) give(p *place) {
	if p == nil || !p.held {
		return
	}
	p.held = false
	e.all.Give(1)
	if p.from.IsValid() {
		if e.sources[p.from]--; e.sources[p.from] == 0 {
			delete(e.sources, p.from)
		}
	}
}

var errFull = errors.New("too many connections to this node")

// limits are what is said of them.
func (e *established) limits() []LimitUse {
	most := 0
	for _, n := range e.sources {
		most = max(most, n)
	}
	return []LimitUse{LimitUse(e.all.Use()), {"connections_per_source", int64(e.share), int64(most), e.refused}}
}
