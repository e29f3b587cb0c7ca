package node

import (
	"fmt"
	"sync/atomic"
	"time"

	"github.com/actornode/actornode/internal/limit"
	"github.com/actornode/actornode/wire"
)

// quota is what all peers together may make this node hold, and each one's share of it:
// the limits of [ClusterLimits] that say so.
//
// Invariants:
//
//  1. queued is the sum of what the outboxes have told, and busy is how many of them have
//     told more than nothing. An outbox tells when what waits in it has changed by
//     quotaStep, or is gone: so no message costs a word in memory that all share.
//  2. Only the goroutine of ticks ends peers. A goroutine that puts a frame into an outbox
//     may hold any lock, so it calls ask instead.
//  3. fragments is the sum of what the links have taken, each by an account of its own,
//     which gives back what is left when the link is closed.
type quota struct {
	of ClusterLimits // all filled in

	queued    *limit.Limit
	busy      atomic.Int64
	answers   *limit.Limit // counts those who were ended only; so does stalls
	stalls    *limit.Limit
	fragments *limit.Limit
	largest   int // bytes of one peer's fragments
	look      chan struct{}

	held held
}

// quotaStep is by how many bytes an outbox changes until it tells the quota. What a link
// holds beyond that waits for its writer: nobody else sends as much.
const quotaStep = 64 << 10

func (q *quota) init(c ClusterLimits, message int) {
	q.of = c
	q.queued = limit.New("queued", int64(c.Queued))
	q.answers = limit.New("answers", int64(c.Answers))
	q.stalls = limit.New("stall", 0)
	q.fragments = limit.New("fragment_bytes", int64(c.Fragments))
	q.largest = max(c.Fragments/2, message)
	q.look = make(chan struct{}, 1)
	q.held.init(c)
}

// change is told that an outbox holds so many bytes, and has held was.
func (q *quota) change(was, now int) {
	if q == nil || was == now {
		return
	}
	q.queued.Add(int64(now - was))
	if now > was && q.queued.Over() {
		q.ask()
	}
	switch {
	case was == 0:
		q.busy.Add(1)
	case now == 0:
		q.busy.Add(-1)
	}
}

// room returns how many bytes may wait for a peer that may have limit: fewer while too
// many wait for all.
func (q *quota) room(limit int) int {
	if q == nil || !q.queued.Over() {
		return limit
	}
	return min(limit, q.share())
}

// share is what one of those may have for whom something waits.
func (q *quota) share() int {
	return max(quotaStep, int(q.queued.Max()/max(1, q.busy.Load())))
}

// ask has the goroutine of ticks look at the peers.
func (q *quota) ask() {
	select {
	case q.look <- struct{}{}:
	default: // it will
	}
}

// budget is what a peer may take of the memory for fragments. It is for one link.
type budget struct {
	q    *quota
	used atomic.Int64
}

// Take is part of [wire.Budget].
func (b *budget) Take(bytes int) bool {
	if b.used.Add(int64(bytes)) > int64(b.q.largest) {
		b.q.fragments.Refuse()
	} else if b.q.fragments.Take(int64(bytes)) {
		return true
	}
	b.used.Add(-int64(bytes))
	return false
}

// Give is part of [wire.Budget].
func (b *budget) Give(bytes int) {
	b.used.Add(-int64(bytes))
	b.q.fragments.Give(int64(bytes))
}

func (d *dist) budget(Atom) wire.Budget { return &budget{q: &d.quota} }

// holdLimits are the limits for what peers make this node hold.
func (d *dist) holdLimits() []LimitUse {
	q := &d.quota
	use := func(l *limit.Limit, used int64) LimitUse {
		return LimitUse{Name: l.Use().Name, Max: l.Max(), Used: used, Refused: l.Refused()}
	}
	var answers, monitors, links int64
	for _, p := range d.all() {
		w := p.box.waits()
		p.mu.Lock()
		answers, monitors, links = max(answers, int64(w.answers)), max(monitors, int64(len(p.in))), max(links, int64(len(p.links)))
		p.mu.Unlock()
	}
	spawned, names := q.held.most()
	return []LimitUse{
		use(q.queued, q.queued.Used()), use(q.answers, answers), use(q.fragments, q.fragments.Used()), use(q.stalls, 0),
		use(q.held.monitors, monitors), use(q.held.links, links), use(q.held.spawned, spawned), use(q.held.names, names),
	}
}

// Peers are looked at looksPerStall times in ClusterLimits.Stall, whether they take what
// is sent to them, and whenever the answers that wait for one are too many, or twice as
// many as the last time.
const (
	looksPerStall = 4
	leastLook     = time.Millisecond
	// farTooMany times as many answers as may wait are not waited for if the peer takes
	// nothing for aMoment.
	farTooMany = 4
	aMoment    = 200 * time.Millisecond
)

func (q *quota) lookEvery() time.Duration { return max(q.of.Stall/looksPerStall, leastLook) }

// progress is how much a peer had taken of what is sent to it, and when. It belongs to the
// goroutine of ticks.
type progress struct {
	at     time.Time // zero: it has not been looked at
	sent   uint64
	unsent int
}

// backlog is what is known of a peer that takes less than is sent to it. It belongs to
// the goroutine of ticks.
type backlog struct {
	moved   progress // when it has taken something for the last time, or little has waited
	answers progress // since when too many answers wait
	ending  bool
}

// lookAtPeers ends the links to those who do not take what is sent to them. It returns when
// to look again, at the latest.
func (d *dist) lookAtPeers() (again time.Duration) {
	now := d.n.env.Now()
	again = d.quota.lookEvery()
	for _, p := range d.all() {
		if p.backlog.ending || p.isOver() {
			continue
		}
		p.logRefusals()
		if why := p.lookAt(now); why != nil {
			p.backlog.ending = true
			d.wg.Add(1)
			d.n.env.Go(func() { p.endTelling(why) })
		} else if !p.backlog.answers.at.IsZero() {
			again = min(again, aMoment)
		}
	}
	return again
}

// endTelling is a goroutine, for the peer may take a while to be told: started by
// lookAtPeers, ended by itself, waited for by stop. The reader takes nothing more meanwhile.
func (p *peer) endTelling(why error) {
	defer p.n.dist.wg.Done()
	p.ended.Store(true)
	p.mu.Lock()
	link := p.link
	p.mu.Unlock()
	p.n.cfg.Log.Warn("closing a connection: the peer exceeded a limit", "peer", string(p.name), "reason", why.Error())
	if l, ok := link.(wire.Explainer); ok {
		l.Explain(why.Error())
	}
	p.end(why)
}

// lookAt reports why the link must end, or nil.
func (p *peer) lookAt(now time.Time) (why error) {
	q := &p.n.dist.quota
	p.mu.Lock()
	link, unacked := p.link, p.unacked
	p.mu.Unlock()
	w := p.box.waits()
	if g, ok := link.(wire.Gauge); ok {
		_, n := g.Gauge()
		w.linked = max(w.linked, n)
	}
	waits := w.outside + w.linked
	t, steady := progress{at: now}, true
	switch l := link.(type) {
	case nil:
	case wire.Taker:
		t.sent, t.unsent, steady = l.Taken()
	default:
		_, t.sent = l.Traffic()
	}
	was := &p.backlog.moved
	if link == nil || !steady || waits <= p.box.limit || was.at.IsZero() || t.sent != was.sent || t.unsent != was.unsent {
		*was = t
	} else if still := now.Sub(was.at); still >= q.of.Stall {
		q.stalls.Refuse()
		return fmt.Errorf("the peer took nothing for %v while %s waited to be sent (limits.stall)", still.Round(time.Millisecond),
			bytesText(waits))
	}
	if unacked {
		q.held.links.Refuse()
		return fmt.Errorf("the peer does not acknowledge removed links: %d wait (limits.links)", 2*q.of.Links)
	}
	if p.answersTooMany(t, waits, w.answers, w.longest) {
		q.answers.Refuse()
		return fmt.Errorf("the peer does not read its answers: %s of them wait, %s are allowed (limits.answers)",
			bytesText(w.answers), bytesText(q.room(q.of.Answers)))
	}
	return nil
}

// answersTooMany reports whether the answers that wait are too many. The longest does not
// count, for a peer may ask for one that is longer than all that may wait. The others are too
// many when more of them wait than may, and at the rate at which the peer takes something
// they would not be gone within Stall; when far more wait, and it has taken nothing for a
// moment; and when more wait than its share, while more waits for all peers than may. Then the
// longest counts, too, if the peer has taken nothing for a moment.
func (p *peer) answersTooMany(t progress, waits, answers, longest int) bool {
	q := &p.n.dist.quota
	was := &p.backlog.answers
	others, over := answers-longest, q.queued.Over()
	if others <= q.of.Answers && (!over || answers <= q.share()) {
		*was = progress{}
		return false
	}
	if was.at.IsZero() {
		*was = t
	}
	moved := max(0, int64(t.sent-was.sent)-int64(t.unsent-was.unsent))
	passed := t.at.Sub(was.at)
	rests := t.at.Sub(p.backlog.moved.at) >= min(aMoment, q.lookEvery())
	switch {
	case over && others > q.share():
		return true
	case rests && (others > farTooMany*q.of.Answers || over && answers > q.share()):
		return true
	case passed < q.lookEvery():
		return false
	case float64(waits)*passed.Seconds() > float64(moved)*q.of.Stall.Seconds():
		return true
	}
	*was = t
	return false
}

// bytesText is a number of bytes for people.
func bytesText(n int) string {
	switch {
	case n >= 1<<20:
		return fmt.Sprintf("%.1f MiB", float64(n)/(1<<20))
	case n >= 1<<10:
		return fmt.Sprintf("%.1f KiB", float64(n)/(1<<10))
	}
	return fmt.Sprintf("%d bytes", n)
}
