package peers

import (
	"time"

	"github.com/actornode/actornode/internal/kernel/limits"

	"github.com/actornode/actornode/internal/wire/links"
)

// Holds returns the limits of resources that peers make this node hold, and their usage.
func (c *Cluster) Holds() []limits.Use {
	q := c.cfg.Quota
	use := func(l *limits.Limit, used int64) limits.Use {
		return limits.Use{Name: l.Use().Name, Max: l.Max(), Used: used, Refused: l.Refused()}
	}
	var answers, monitors, links int64
	for _, p := range c.All() {
		w := p.Box.Waiting()
		p.mu.Lock()
		n := p.tables.Counts()
		p.mu.Unlock()
		answers, monitors, links = max(answers, int64(w.Answers)), max(monitors, int64(n.Watchers)), max(links, int64(n.Links))
	}
	spawned, names := q.Owners.Most()
	return []limits.Use{
		use(q.Queued, q.Queued.Used()), use(q.Answers, answers), use(q.Fragments, q.Fragments.Used()), use(q.Stalls, 0),
		use(q.Monitors, monitors), use(q.Links, links), use(q.Owners.Spawned, spawned), use(q.Owners.Names, names),
		use(q.Held(), q.Held().Used()),
	}
}

// lookAtPeers ends the links to peers that do not accept what is sent to them. It returns the time until it must be called
// again, at the latest.
func (c *Cluster) lookAtPeers() (again time.Duration) {
	now := c.cfg.Env.Now()
	again = c.cfg.Quota.LookEvery()
	for _, p := range c.All() {
		if p.ending || p.IsOver() {
			continue
		}
		p.logRefusals()
		if why := p.lookAt(now); why != nil {
			p.ending = true
			c.wg.Add(1)
			c.cfg.Env.Go(func() { p.endTelling(why) })
		} else {
			again = p.backlog.Again(again)
		}
	}
	return again
}

// endTelling is a goroutine, because telling the peer may take a while: started by lookAtPeers, ended by itself, waited for
// by Stop. The reader accepts nothing more meanwhile.
func (p *Peer) endTelling(why error) {
	defer p.c.wg.Done()
	p.ended.Store(true)
	p.c.cfg.Log.Warn("closing a connection: the peer exceeded a limit", "peer", string(p.Name), "reason", why.Error())
	if l, ok := p.Conn().(links.Explainer); ok {
		l.Explain(why.Error())
	}
	p.End(why)
}

// lookAt returns why the link must end, or nil.
func (p *Peer) lookAt(now time.Time) (why error) {
	p.mu.Lock()
	link, unacked := p.link, p.unacked
	p.mu.Unlock()
	w := p.Box.Waiting()
	if g, ok := link.(links.Counter); ok {
		_, n := g.Gauge()
		w.Linked = max(w.Linked, n)
	}
	l := limits.Look{At: now, Steady: link != nil, Waits: w.Outside + w.Linked, Limit: p.Box.Limit(), Held: p.Box.Held(),
		Answers: w.Answers, Longest: w.Longest, Unacked: unacked}
	switch link := link.(type) {
	case nil:
	case links.Progress:
		l.Sent, l.Unsent, l.Steady = link.Taken()
	default:
		_, l.Sent = link.Traffic()
	}
	return p.c.cfg.Quota.Judge(&p.backlog, l)
}
