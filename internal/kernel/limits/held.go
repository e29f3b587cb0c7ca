package limits

import (
	"sync/atomic"
)

// costs is what one thing of a kind takes in memory, in bytes: measured, with what the tables of both ends need and what the
// garbage collector leaves. Rounded up.
var costs = [HeldKinds]int64{HeldMonitors: 320, HeldLinks: 320, HeldSpawned: 1024, HeldNames: 512}

// leastHeld is what each peer may hold, whatever others do, in bytes.
const leastHeld = 16 << 10

// mostFactor is how many times the limit all peers together hold, at most, when some had taken all before the others came.
const mostFactor = 2

// Held is what all peers together make the node hold in tables. Each of them has limits of its own; when
// all hold more than may be, a peer gets no more than its share of that, so those with many names have no more together than one.
type Held struct {
	all     *Limit
	holders atomic.Int64 // those that hold something
}

// Holder is what one peer holds. Its methods are for any goroutine.
type Holder struct {
	held *Held
	used atomic.Int64
}

// NewHolder returns the holder of a peer that holds nothing; of a nil Quota, nil, which bounds nothing.
func (q *Quota) NewHolder() *Holder {
	if q == nil {
		return nil
	}
	return &Holder{held: &q.held}
}

// Held returns the limit of what is held.
func (q *Quota) Held() *Limit { return q.held.all }

// Take takes one more thing of a kind, and reports whether it may be held.
func (h *Holder) Take(k HeldKind) bool {
	if h == nil {
		return true
	}
	if h.full(costs[k]) {
		h.held.all.Refuse()
		return false
	}
	h.Add(k, 1)
	return true
}

// Full reports whether one more thing of a kind would be refused, and counts it as such.
func (h *Holder) Full(k HeldKind) bool {
	if h == nil || !h.full(costs[k]) {
		return false
	}
	h.held.all.Refuse()
	return true
}

func (h *Holder) full(cost int64) bool {
	most, all, own := h.held.all.Max(), h.held.all.Used()+cost, h.used.Load()+cost
	return most > 0 && all > most && own > leastHeld && (all > mostFactor*most || own > most/max(1, h.held.holders.Load()))
}

// Add counts n more things of a kind that are held already; n may be negative.
func (h *Holder) Add(k HeldKind, n int) {
	if h == nil || n == 0 {
		return
	}
	change := costs[k] * int64(n)
	h.held.all.Add(change)
	switch used := h.used.Add(change); {
	case change > 0 && used == change:
		h.held.holders.Add(1)
	case change < 0 && used == 0:
		h.held.holders.Add(-1)
	}
}
