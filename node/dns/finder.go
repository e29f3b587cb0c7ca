package dns

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/actornode/actornode/internal/cause"
	"github.com/actornode/actornode/node"
	"github.com/actornode/actornode/node/discovery"
)

// Finder finds nodes by DNS. Any number of nodes may share one.
//
// Invariants:
//
//  1. One lookup of the names runs at a time, in the goroutine that holds turn.
//  2. last has the last good answer for each name.
type Finder struct {
	cfg  Config
	turn chan struct{} // capacity 1: held by the goroutine that looks names up

	mu     sync.Mutex
	last   map[string]map[node.Atom][]discovery.Endpoint // by name looked up
	logged map[string]string                             // failures that have been logged, by name
	fresh  time.Time                                     // no lookup before this time
	why    error                                         // the error of the last lookup
	stats  Stats
}

// Stats counts what a Finder has done.
type Stats struct {
	Lookups  uint64 // of one name each
	Failures uint64 // of those; an answer that a name does not exist is not a failure
	Stale    uint64 // failures after which an older answer stayed in use
}

// New returns a Finder. It checks cfg.
func New(cfg Config) (*Finder, error) {
	if err := cfg.validate(); err != nil {
		return nil, err
	}
	return &Finder{cfg: cfg, turn: make(chan struct{}, 1),
		last: make(map[string]map[node.Atom][]discovery.Endpoint), logged: make(map[string]string)}, nil
}

// Stats returns the counts up to now.
func (f *Finder) Stats() Stats {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.stats
}

// Find is part of discovery.Finder. It returns discovery.ErrUnknownNode if the answers do not name the node.
func (f *Finder) Find(ctx context.Context, name node.Atom) ([]discovery.Endpoint, error) {
	failed := f.look(ctx)
	f.mu.Lock()
	defer f.mu.Unlock()
	var all []discovery.Endpoint
	for _, nodes := range f.last {
		all = append(all, nodes[name]...)
	}
	switch {
	case len(all) > 0:
		return all, nil
	case failed != nil:
		return nil, fmt.Errorf("dns: cannot find %s: %w", name, failed)
	}
	return nil, fmt.Errorf("dns: %s is in no answer: %w", name, discovery.ErrUnknownNode)
}

// List is part of discovery.Lister: all nodes that the answers name, old answers included where there is no new one.
// The error says which names could not be looked up.
func (f *Finder) List(ctx context.Context) ([]node.Atom, error) {
	failed := f.look(ctx)
	f.mu.Lock()
	defer f.mu.Unlock()
	all := make(map[node.Atom]struct{})
	for _, nodes := range f.last {
		for name := range nodes {
			all[name] = struct{}{}
		}
	}
	return slices.Sorted(maps.Keys(all)), failed
}

// Announce is part of discovery.Finder. It publishes nothing: others make the DNS records. It logs a warning if other
// nodes cannot find this node by DNS.
func (f *Finder) Announce(_ context.Context, me discovery.Announcement) (stop func(), err error) {
	base, host, _ := strings.Cut(string(me.Name), "@")
	if base != f.cfg.Base {
		f.cfg.Log.Warn("dns: other nodes cannot find this node by DNS: its name must have the form "+f.cfg.Base+"@HOST", "name",
			string(me.Name))
	} else if len(f.cfg.Services) == 0 && net.ParseIP(host) == nil {
		f.cfg.Log.Warn("dns: other nodes cannot find this node by DNS: its name must have the form "+f.cfg.Base+"@ADDRESS", "name",
			string(me.Name))
	}
	return func() {}, nil
}

// look looks up all names, unless that was done a moment ago. If another goroutine is already doing so, it waits for
// that one.
func (f *Finder) look(ctx context.Context) error {
	if fresh, why := f.isFresh(); fresh {
		return why
	}
	select {
	case f.turn <- struct{}{}:
		defer func() { <-f.turn }()
	case <-ctx.Done():
		return cause.Of(ctx)
	}
	if fresh, why := f.isFresh(); fresh {
		return why
	}
	return f.ask(ctx)
}

// ask is look for the goroutine that holds turn. It is no DNS failure if asker ends: the next caller tries again.
func (f *Finder) ask(asker context.Context) error {
	ctx, cancel := context.WithTimeout(asker, f.cfg.Timeout)
	defer cancel()
	var errs []error
	if f.cfg.Host != "" {
		nodes, err := f.addresses(ctx)
		if asker.Err() != nil {
			return cause.Of(asker)
		}
		errs = append(errs, f.take(f.cfg.Host, nodes, err))
	}
	for _, s := range f.cfg.Services {
		nodes, err := f.targets(ctx, s)
		if asker.Err() != nil {
			return cause.Of(asker)
		}
		errs = append(errs, f.take(s.Name, nodes, err))
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.fresh, f.why = time.Now().Add(f.cfg.TTL), errors.Join(errs...)
	return f.why
}

func (f *Finder) isFresh() (bool, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return time.Now().Before(f.fresh), f.why
}

// addresses returns the nodes of Host.
func (f *Finder) addresses(ctx context.Context) (map[node.Atom][]discovery.Endpoint, error) {
	ips, err := f.cfg.Resolver.LookupNetIP(ctx, f.cfg.Network, f.cfg.Host)
	if err != nil {
		return nil, err
	}
	nodes := make(map[node.Atom][]discovery.Endpoint, len(ips))
	for _, ip := range ips {
		host := ip.Unmap().String()
		name := node.Atom(f.cfg.Base + "@" + host)
		if nodes[name] != nil || len(nodes) >= maxNodes {
			continue
		}
		for _, e := range f.cfg.At {
			nodes[name] = append(nodes[name], discovery.Endpoint{Protocol: e.Protocol, Addr: net.JoinHostPort(host, e.Addr[1:])})
		}
	}
	f.crowded(f.cfg.Host, len(ips))
	return nodes, nil
}

// targets returns the nodes of a service. It ignores priorities and weights: each target is a node, not one of the ways
// to a node.
func (f *Finder) targets(ctx context.Context, s Service) (map[node.Atom][]discovery.Endpoint, error) {
	_, srvs, err := f.cfg.Resolver.LookupSRV(ctx, "", "", s.Name)
	if err != nil && len(srvs) == 0 { // with some, the rest had invalid names
		return nil, err
	}
	nodes := make(map[node.Atom][]discovery.Endpoint, len(srvs))
	for _, srv := range srvs {
		host := strings.ToLower(strings.TrimSuffix(srv.Target, "."))
		if host == "" || srv.Port == 0 || len(nodes) >= maxNodes { // "." means that there is no such service
			continue
		}
		name := node.Atom(f.cfg.Base + "@" + host)
		nodes[name] = append(nodes[name], discovery.Endpoint{Protocol: s.Protocol,
			Addr: net.JoinHostPort(host, strconv.Itoa(int(srv.Port)))})
	}
	f.crowded(s.Name, len(srvs))
	return nodes, nil
}

func (f *Finder) crowded(asked string, records int) {
	if records > maxNodes {
		f.cfg.Log.Warn("dns: an answer has too many records: the rest is ignored", "name", asked, "records", records, "allowed",
			maxNodes)
	}
}

// take stores an answer. That a name does not exist is an answer: no node is there, as while no pod is ready. After a
// failure the last answer stays.
func (f *Finder) take(asked string, nodes map[node.Atom][]discovery.Endpoint, err error) error {
	if e, ok := errors.AsType[*net.DNSError](err); ok && e.IsNotFound {
		nodes, err = nil, nil
	}
	f.mu.Lock()
	old, logged := len(f.last[asked]), f.logged[asked]
	f.stats.Lookups++
	if err == nil {
		f.last[asked] = nodes
		delete(f.logged, asked)
	} else {
		f.stats.Failures++
		if old > 0 {
			f.stats.Stale++
		}
		f.logged[asked] = err.Error()
	}
	f.mu.Unlock()
	switch {
	case err == nil && logged != "":
		f.cfg.Log.Info("dns: lookups succeed again", "name", asked, "nodes", len(nodes))
	case err != nil && logged == "":
		f.cfg.Log.Warn("dns: a lookup failed; the last answer stays in use", "name", asked, "known", old, "error", err)
	}
	if err != nil {
		return fmt.Errorf("dns: %s: %w", asked, err)
	}
	return nil
}
