package limits

import (
	"container/list"
	"net"
	"net/netip"
)

// SourceOf returns the source by which shares of limits are counted: an IPv4 address, or the /64 of an IPv6 address, because
// one host can choose any address in that. It is not valid if addr is neither. All such connections, over Unix sockets or
// within the program, are of one source without a share.
func SourceOf(addr net.Addr) netip.Prefix {
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

// IsLocal reports whether only this machine can connect to an address.
func IsLocal(addr net.Addr) bool {
	tcp, ok := addr.(*net.TCPAddr)
	return !ok || tcp.IP.IsLoopback()
}

// Arrivals is a table of the unauthenticated connections to one listener. When there is no room for a new one another is
// dropped: the oldest of its source if that has used up its share, otherwise the oldest of the source that has the most. So a
// flood from few sources drops itself, and one from very many drops those that take long. The caller of each method holds the
// lock that guards the table.
//
// Invariants:
//
//  1. There are n arrivals, at most max, and at most share of one source that has a share; after SetMax at most as
//     many as there were.
//  2. A source is in sources if it has arrivals, and then in levels[number of its arrivals].
//  3. most is the highest level that is not empty, or 0 if all are.
type Arrivals struct {
	max, share int
	n, most    int
	sources    map[netip.Prefix]*source
	levels     map[int]*list.List // of *source, the longest on the level first
}

// source is an origin of arrivals.
type source struct {
	of       netip.Prefix
	arrivals list.List // of *Arrival, the oldest first
	level    *list.Element
}

// Arrival is a connection in the table. From and Drop are set before it is entered.
type Arrival struct {
	From netip.Prefix  // from SourceOf
	Drop func(error)   // ends the connection
	at   *list.Element // nil if not in the table
	of   *source
}

// NewArrivals returns an empty table for max connections, share of them from one source.
func NewArrivals(max, share int) *Arrivals {
	return &Arrivals{max: max, share: share, sources: make(map[netip.Prefix]*source), levels: make(map[int]*list.List)}
}

// SetMax changes the maximum number of arrivals, and of those from one source. Existing ones stay.
func (t *Arrivals) SetMax(max, share int) { t.max, t.share = max, share }

// Add adds an arrival and returns the one to be dropped for it, or nil, and whether that is because of the share of its
// source.
func (t *Arrivals) Add(a *Arrival) (dropped *Arrival, share bool) {
	if s := t.sources[a.From]; s != nil && a.From.IsValid() && s.arrivals.Len() >= t.share {
		dropped, share = s.oldest(), true
	} else if t.n >= t.max {
		dropped = t.Oldest()
	}
	if dropped != nil {
		t.Remove(dropped)
	}
	s := t.sources[a.From]
	if s == nil {
		s = &source{of: a.From}
		t.sources[a.From] = s
	}
	t.leave(s)
	a.of, a.at = s, s.arrivals.PushBack(a)
	t.n++
	t.enter(s)
	return dropped, share
}

// Oldest returns the oldest arrival of the source that has the most, or nil if there is none.
func (t *Arrivals) Oldest() *Arrival {
	if t.most == 0 {
		return nil
	}
	return t.levels[t.most].Front().Value.(*source).oldest()
}

func (s *source) oldest() *Arrival { return s.arrivals.Front().Value.(*Arrival) }

// Remove removes an arrival, if it is in the table.
func (t *Arrivals) Remove(a *Arrival) {
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

// leave removes a source from its level.
func (t *Arrivals) leave(s *source) {
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

// enter adds a source to its level.
func (t *Arrivals) enter(s *source) {
	n := s.arrivals.Len()
	if t.levels[n] == nil {
		t.levels[n] = list.New()
	}
	s.level = t.levels[n].PushBack(s)
	t.most = max(t.most, n)
}

// Len returns the number of arrivals.
func (t *Arrivals) Len() int { return t.n }

// Largest returns the maximum number of arrivals of one source, among those that have a share.
func (t *Arrivals) Largest() (n int) {
	for of, s := range t.sources {
		if of.IsValid() {
			n = max(n, s.arrivals.Len())
		}
	}
	return n
}
