package limits

import (
	"sync/atomic"
	"time"
)

// Limits are the bounds, without defaults. See ClusterLimits of package node.
type Limits struct {
	Queued    int // bytes queued for all peers, above which each is limited to its share
	Answers   int // bytes of answers queued for one peer
	Fragments int // bytes of unfinished messages of all peers
	Message   int // bytes of the longest message, which one peer may always use
	Stall     time.Duration

	Monitors, Links, Spawned, Names int // per peer

	Held int // bytes of these, of all peers, above which each is limited to its share
}

// Quota is what all peers together may make a node hold, and each one's share of it. A nil *Quota bounds nothing.
type Quota struct {
	Owners Owners

	// Maximum, usage and number of refusals. For Answers, Stalls, Monitors and Links only refusals are counted.
	Queued, Answers, Stalls, Fragments, Monitors, Links *Limit

	held Held

	busy    atomic.Int64
	largest atomic.Int64 // maximum bytes of one peer's fragments
	stall   atomic.Int64 // a time.Duration
	looks   chan struct{}
}

// Step is the change of the bytes queued for a peer that is reported. What a link holds beyond that waits for its writer: no
// other goroutine sends as much.
const Step = 64 << 10

// NewQuota returns an unused Quota.
func NewQuota(of Limits) *Quota {
	q := &Quota{
		Queued: NewLimit("queued", 0), Answers: NewLimit("answers", 0), Stalls: NewLimit("stall", 0),
		Fragments: NewLimit("fragment_bytes", 0), Monitors: NewLimit("monitors", 0), Links: NewLimit("links", 0),
		looks: make(chan struct{}, 1),
	}
	q.held.all = NewLimit("held", 0)
	q.Owners.init(q)
	q.Set(of)
	return q
}

// Set changes the bounds. What is used stays; while usage exceeds a bound, more is refused.
func (q *Quota) Set(of Limits) {
	for _, l := range []struct {
		is *Limit
		to int
	}{
		{q.Queued, of.Queued}, {q.Answers, of.Answers}, {q.Fragments, of.Fragments}, {q.Monitors, of.Monitors}, {q.Links, of.Links},
		{q.Owners.Spawned, of.Spawned}, {q.Owners.Names, of.Names}, {q.held.all, of.Held},
	} {
		l.is.SetMax(int64(l.to))
	}
	q.largest.Store(int64(max(of.Fragments/2, of.Message)))
	q.stall.Store(int64(of.Stall))
}

// Stall is how long a peer may accept nothing.
func (q *Quota) Stall() time.Duration { return time.Duration(q.stall.Load()) }

// Change records that now bytes are queued for a peer, after was before.
func (q *Quota) Change(was, now int) {
	if q == nil || was == now {
		return
	}
	q.Queued.Add(int64(now - was))
	if now > was && q.Queued.Over() {
		q.Ask()
	}
	switch {
	case was == 0:
		q.busy.Add(1)
	case now == 0:
		q.busy.Add(-1)
	}
}

// Room returns the number of bytes that may be queued for a peer whose limit is limit: fewer while too many are queued for
// all.
func (q *Quota) Room(limit int) int {
	if q == nil || !q.Queued.Over() {
		return limit
	}
	return min(limit, q.share())
}

// share returns the share of each peer for which something is queued.
func (q *Quota) share() int {
	return max(Step, int(q.Queued.Max()/max(1, q.busy.Load())))
}

// Busy returns the number of peers for which something is queued.
func (q *Quota) Busy() int { return int(q.busy.Load()) }

// Ask requests that the driver checks the peers soon.
func (q *Quota) Ask() {
	select {
	case q.looks <- struct{}{}:
	default: // requested already
	}
}

// Looks receives when the driver must check the peers.
func (q *Quota) Looks() <-chan struct{} { return q.looks }

// Budget is what a peer may take of the memory for fragments. It is for one link.
type Budget struct {
	q    *Quota
	used atomic.Int64
}

// NewBudget returns the budget of a new link.
func (q *Quota) NewBudget() *Budget { return &Budget{q: q} }

// TailChanged records that a session keeps now bytes that its peer has not acknowledged, after was before. They count as
// queued for all peers.
func (b *Budget) TailChanged(was, now int) { b.q.Change(was, now) }

// TailRoom returns the number of bytes that a session whose maximum is most may keep: fewer while too many are queued for all
// peers.
func (b *Budget) TailRoom(most int) int { return b.q.Room(most) }

// Take takes bytes, and reports whether they were available.
func (b *Budget) Take(bytes int) bool {
	if b.used.Add(int64(bytes)) > b.q.largest.Load() {
		b.q.Fragments.Refuse()
	} else if b.q.Fragments.Take(int64(bytes)) {
		return true
	}
	b.used.Add(-int64(bytes))
	return false
}

// Give gives bytes back.
func (b *Budget) Give(bytes int) {
	b.used.Add(-int64(bytes))
	b.q.Fragments.Give(int64(bytes))
}
