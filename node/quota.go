package node

import (
	"time"

	"github.com/actornode/actornode/internal/limit"
	"github.com/actornode/actornode/node/internal/quota"
	"github.com/actornode/actornode/wire/dist"
)

// newQuota returns what all peers may make the node hold.
func newQuota(c ClusterLimits, message int) *quota.Quota {
	return quota.New(quota.Limits{
		Queued: c.Queued, Answers: c.Answers, Fragments: c.Fragments, Message: message, Stall: c.Stall,
		Monitors: c.Monitors, Links: c.Links, Spawned: c.Spawned, Names: c.Names,
	})
}

// holdLimits are the limits for what peers make this node hold.
func (d *distribution) holdLimits() []LimitUse {
	q := d.quota
	use := func(l *limit.Limit, used int64) LimitUse {
		return LimitUse{Name: l.Use().Name, Max: l.Max(), Used: used, Refused: l.Refused()}
	}
	var answers, monitors, links int64
	for _, p := range d.all() {
		w := p.box.Waiting()
		p.mu.Lock()
		answers, monitors, links = max(answers, int64(w.Answers)), max(monitors, int64(len(p.in))), max(links, int64(len(p.links)))
		p.mu.Unlock()
	}
	spawned, names := q.Owners.Most()
	return []LimitUse{
		use(q.Queued, q.Queued.Used()), use(q.Answers, answers), use(q.Fragments, q.Fragments.Used()), use(q.Stalls, 0),
		use(q.Monitors, monitors), use(q.Links, links), use(q.Owners.Spawned, spawned), use(q.Owners.Names, names),
	}
}

// lookAtPeers ends the links to those who do not take what is sent to them. It returns when
// to look again, at the latest.
func (d *distribution) lookAtPeers() (again time.Duration) {
	now := d.n.env.Now()
	again = d.quota.LookEvery()
	for _, p := range d.all() {
		if p.ending || p.isOver() {
			continue
		}
		p.logRefusals()
		if why := p.lookAt(now); why != nil {
			p.ending = true
			d.wg.Add(1)
			d.n.env.Go(func() { p.endTelling(why) })
		} else {
			again = p.backlog.Again(again)
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
	if l, ok := link.(dist.Explainer); ok {
		l.Explain(why.Error())
	}
	p.end(why)
}

// lookAt reports why the link must end, or nil.
func (p *peer) lookAt(now time.Time) (why error) {
	p.mu.Lock()
	link, unacked := p.link, p.unacked
	p.mu.Unlock()
	w := p.box.Waiting()
	if g, ok := link.(dist.Gauge); ok {
		_, n := g.Gauge()
		w.Linked = max(w.Linked, n)
	}
	l := quota.Look{At: now, Steady: link != nil, Waits: w.Outside + w.Linked, Limit: p.box.Limit(),
		Answers: w.Answers, Longest: w.Longest, Unacked: unacked}
	switch link := link.(type) {
	case nil:
	case dist.Taker:
		l.Sent, l.Unsent, l.Steady = link.Taken()
	default:
		_, l.Sent = link.Traffic()
	}
	return p.n.dist.quota.Judge(&p.backlog, l)
}
