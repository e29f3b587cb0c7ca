package command

import (
	"context"
	"sync"
	"sync/atomic"

	"github.com/actornode/actornode/internal/daemon/config"
	"github.com/actornode/actornode/node"
	"github.com/actornode/actornode/node/discovery"
	"github.com/actornode/actornode/node/dns"
	"github.com/actornode/actornode/wire/epmd"
)

// mappedHosts finds nodes by EPMD. The list of hosts can change while it is in use.
type mappedHosts struct {
	discovery.EPMD
	hosts atomic.Pointer[[]string]
}

var _ discovery.Lister = (*mappedHosts)(nil)

func newMappedHosts(c epmd.Config, hosts []string) *mappedHosts {
	m := &mappedHosts{EPMD: discovery.EPMD{Config: c}}
	m.hosts.Store(&hosts)
	return m
}

// List is part of discovery.Lister.
func (m *mappedHosts) List(ctx context.Context) ([]node.Atom, error) {
	return (&discovery.EPMD{Config: m.Config, Hosts: *m.hosts.Load()}).List(ctx)
}

// dnsFinder finds nodes by a finder of package dns, which can be replaced while it is in use.
type dnsFinder struct {
	mu  sync.Mutex
	now *dns.Finder             // guarded by mu, like all that follows
	me  *discovery.Announcement // nil if not announced
	old dns.Stats               // of the previous finders
}

var _ discovery.Lister = (*dnsFinder)(nil)

func newDNSFinder(f *dns.Finder) *dnsFinder { return &dnsFinder{now: f} }

// findsByDNS makes the DNS finder of a configuration, or returns nil if there is none.
func (d *daemon) findsByDNS(cfg *config.Config) (*dns.Finder, error) {
	c, on := cfg.Discovery.DNS.Config()
	if !on {
		return nil, nil
	}
	c.Log = d.log.Logger
	return dns.New(c)
}

// set replaces the current finder with f.
func (d *dnsFinder) set(f *dns.Finder) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.old, d.now = d.sumLocked(), f
	if d.me != nil {
		_, _ = f.Announce(context.Background(), *d.me) // it logs errors, and publishes nothing
	}
}

func (d *dnsFinder) finder() *dns.Finder {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.now
}

// sumLocked adds the counts of now to those of old.
func (d *dnsFinder) sumLocked() dns.Stats {
	s := d.now.Stats()
	s.Lookups += d.old.Lookups
	s.Failures += d.old.Failures
	s.Stale += d.old.Stale
	return s
}

// Stats returns the counts of all finders so far.
func (d *dnsFinder) Stats() dns.Stats {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.sumLocked()
}

// Find is part of discovery.Finder.
func (d *dnsFinder) Find(ctx context.Context, name node.Atom) ([]discovery.Endpoint, error) {
	return d.finder().Find(ctx, name)
}

// List is part of discovery.Lister.
func (d *dnsFinder) List(ctx context.Context) ([]node.Atom, error) { return d.finder().List(ctx) }

// Announce is part of discovery.Finder.
func (d *dnsFinder) Announce(ctx context.Context, me discovery.Announcement) (stop func(), err error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.me = &me
	return d.now.Announce(ctx, me)
}
