package limits

import (
	"sync/atomic"
)

// costs is the memory of one thing of a kind, in bytes: measured, with the tables of both ends and the garbage collector's
// overhead. Rounded up.
var costs = [HeldKinds]int64{HeldMonitors: 320, HeldLinks: 320, HeldSpawned: 1024, HeldNames: 512}

// leastHeld is what each peer may hold, whatever others hold, in bytes.
const leastHeld = 16 << 10

// mostFactor is the maximum that all peers together hold, as a multiple of the limit, if some had taken all before the others
// came.
const mostFactor = 2

// Held is what all peers together make the node hold in tables. Each of them has limits of its own; when the sum of all
// exceeds the limit, a peer gets no more than its share of that, so one with many names holds no more than one with a single
// name.
type Held struct {
	all     *Limit
	holders atomic.Int64 // those that hold something
}

// Holder is what one peer holds. It may be used concurrently.
type Holder struct {
	held *Held
	used atomic.Int64
}

// NewHolder returns the holder of a peer that holds nothing; for a nil Quota it returns nil, which bounds nothing.
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

// Full reports whether one more thing of a kind would be refused, and counts that as a refusal.
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
