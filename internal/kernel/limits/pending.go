package limits

import (
	"errors"
	"sync"
)

// Pending is the arrivals at one listener, with a lock of its own, and counters of dropped ones.
type Pending struct {
	mu       sync.Mutex
	arrivals *Arrivals // guarded by mu
	dropped  [2]uint64 // because there were too many, and because of the share of a source
}

// NewPending returns a Pending for max arrivals, share of them from one source.
func NewPending(max, share int) *Pending { return &Pending{arrivals: NewArrivals(max, share)} }

// Why an arrival is dropped.
var (
	errDropped = errors.New("dropped in favour of a newer connection: too many connections have not yet proved that they know " +
		"the cookie (limits.pending)")
	errShare = errors.New("dropped in favour of a newer connection from the same address: too many from there have not yet " +
		"proved that they know the cookie " +
		"(limits.pending_per_source)")
)

// SetMax is [Arrivals.SetMax].
func (p *Pending) SetMax(max, share int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.arrivals.SetMax(max, share)
}

// Enter adds an arrival, and drops another if there are too many.
func (p *Pending) Enter(a *Arrival) {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch dropped, share := p.arrivals.Add(a); {
	case dropped == nil:
	case share:
		p.dropped[1]++
		dropped.Drop(errShare)
	default:
		p.dropped[0]++
		dropped.Drop(errDropped)
	}
}

// DropOldest drops the arrival returned by [Arrivals.Oldest].
func (p *Pending) DropOldest(why error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if a := p.arrivals.Oldest(); a != nil {
		p.arrivals.Remove(a)
		a.Drop(why)
	}
}

// Leave removes an arrival, if it is in the table.
func (p *Pending) Leave(a *Arrival) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.arrivals.Remove(a)
}

// Count adds the usage, and the number of dropped arrivals, to the limits of a node: all and share.
func (p *Pending) Count(all, share *Use) {
	p.mu.Lock()
	defer p.mu.Unlock()
	all.Used, share.Used = max(all.Used, int64(p.arrivals.Len())), max(share.Used, int64(p.arrivals.Largest()))
	all.Refused += p.dropped[0]
	share.Refused += p.dropped[1]
}
