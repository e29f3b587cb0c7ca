package command

import (
	"slices"
	"time"

	"github.com/actornode/actornode/internal/daemon/config"
	"github.com/actornode/actornode/node"
)

// clusterCookie is the cookie of a daemon, and the others that it accepts: those of the configuration, and the previous
// one.
type clusterCookie struct {
	now    string
	old    []string
	before string // or ""
	until  time.Time
}

// others returns the cookies that are used in addition to now, at a given time.
func (c *clusterCookie) others(at time.Time) []string {
	if c.before == "" || !at.Before(c.until) {
		return c.old
	}
	return append(slices.Clip(c.old), c.before)
}

// change returns the successor of c for the cookie of a configuration, and whether the cookie differs.
func (c *clusterCookie) change(cookie string, cfg *config.Config, at time.Time) (fresh *clusterCookie, changed bool) {
	fresh = &clusterCookie{cookie, cfg.OldCookies, c.before, c.until}
	if changed = cookie != c.now; changed {
		fresh.before, fresh.until = c.now, at.Add(cfg.CookieOverlap)
	}
	return fresh, changed
}

// cookies returns the cookies for a peer.
func (d *daemon) cookies(peer node.Atom) (in, out string, ok bool) {
	if c, own := d.live.Load().Cookies[string(peer)]; own {
		return c.In, c.Out, true
	}
	now := d.cookie.Load().now
	return now, now, true
}

// oldCookies returns the additional cookies for a peer.
func (d *daemon) oldCookies(peer node.Atom) []string {
	if _, own := d.live.Load().Cookies[string(peer)]; own {
		return nil
	}
	return d.cookie.Load().others(time.Now())
}

// rotate applies the cookie of a reloaded configuration, and reports whether it has changed.
func (d *daemon) rotate(cookie string, cfg *config.Config) (changed bool) {
	fresh, changed := d.cookie.Load().change(cookie, cfg, time.Now())
	d.cookie.Store(fresh)
	d.gossipCookies()
	if d.forget != nil {
		d.forget.Stop()
	}
	if fresh.before != "" {
		d.forget = time.AfterFunc(time.Until(fresh.until), d.gossipCookies)
	}
	if changed {
		d.log.Info("the cookie has changed: new connections use the new one", "old_until", fresh.until)
	}
	return changed
}

// gossipCookies makes gossip use the current cookies.
func (d *daemon) gossipCookies() {
	if d.gossip == nil {
		return
	}
	c := d.cookie.Load()
	old := slices.Concat(d.live.Load().Discovery.Gossip.OldCookies, c.others(time.Now()))
	if err := d.gossip.SetCookie(c.now, old...); err != nil {
		d.log.Error("gossip goes on with the cookies that it has", "error", err)
	}
}
