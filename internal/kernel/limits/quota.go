package limits

import (
	"sync/atomic"
	"time"
)

// Limits are the bounds, all of them filled in. See ClusterLimits of package node.
type Limits struct {
	Queued    int // bytes that may wait for all peers, before each has its share only
	Answers   int // bytes of answers that may wait for one peer
	Fragments int // bytes of unfinished messages of all peers
	Message   int // bytes of the longest message, which one peer may always have
	Stall     time.Duration

	Monitors, Links, Spawned, Names int // of one peer

	Held int // bytes of these, of all peers, before each has its share only
}

// Quota is what all peers together may make a node hold, and each one's share of it. A nil
// *Quota bounds nothing.
type Quota struct {
	Owners Owners

	// What may be, what is used, and how often something was refused. Answers, Stalls, Monitors and Links
	// count the refused only.
	Queued, Answers, Stalls, Fragments, Monitors, Links *Limit

	held Held

	busy    atomic.Int64
	largest atomic.Int64 // bytes of one peer's fragments
	stall   atomic.Int64 // a time.Duration
	looks   chan struct{}
}

// Step is by how many bytes what waits for a peer changes until that is told. What a link
// holds beyond that waits for its writer: nobody else sends as much.
const Step = 64 << 10

// NewQuota returns a Quota of which nothing is used.
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

// Set changes the bounds. What is used stays; with less allowed than that, more is refused until enough is given back.
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

// Stall is how long a peer may take nothing.
func (q *Quota) Stall() time.Duration { return time.Duration(q.stall.Load()) }

// Change is told that so many bytes wait for a peer now, and was did before.
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

// Room returns how many bytes may wait for a peer that may have limit: fewer while too
// many wait for all.
func (q *Quota) Room(limit int) int {
	if q == nil || !q.Queued.Over() {
		return limit
	}
	return min(limit, q.share())
}

// share is what one of those may have for whom something waits.
func (q *Quota) share() int {
	return max(Step, int(q.Queued.Max()/max(1, q.busy.Load())))
}

// Busy returns for how many peers something waits.
func (q *Quota) Busy() int { return int(q.busy.Load()) }

// Ask has the driver look at the peers soon.
func (q *Quota) Ask() {
	select {
	case q.looks <- struct{}{}:
	default: // it will
	}
}

// Looks is sent to when the driver is to look at the peers.
func (q *Quota) Looks() <-chan struct{} { return q.looks }

// Budget is what a peer may take of the memory for fragments. It is for one link.
type Budget struct {
	q    *Quota
	used atomic.Int64
}

// NewBudget returns the budget of a new link.
func (q *Quota) NewBudget() *Budget { return &Budget{q: q} }

// TailChanged is told that a session keeps so many bytes now that its peer has not acknowledged, and kept was before. They count
// as what waits for all peers.
func (b *Budget) TailChanged(was, now int) { b.q.Change(was, now) }

// TailRoom returns how many bytes a session may keep that may keep most: fewer while too many wait for all peers.
func (b *Budget) TailRoom(most int) int { return b.q.Room(most) }

// Take takes so many bytes, and reports whether they were there.
func (b *Budget) Take(bytes int) bool {
	if b.used.Add(int64(bytes)) > b.q.largest.Load() {
		b.q.Fragments.Refuse()
	} else if b.q.Fragments.Take(int64(bytes)) {
		return true
	}
	b.used.Add(-int64(bytes))
	return false
}

// Give gives some of them back.
func (b *Budget) Give(bytes int) {
	b.used.Add(-int64(bytes))
	b.q.Fragments.Give(int64(bytes))
}
