package clustertest

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"

	"github.com/actornode/actornode/node"
	"github.com/actornode/actornode/node/discovery"
)

// Places is a discovery.Finder by which the nodes of one test find only each other. The zero value is ready.
type Places struct {
	// Next, unless nil, finds nodes that are not in Places, and announces those of the test instead of Places.
	Next discovery.Finder

	mu sync.Mutex
	m  map[node.Atom][]discovery.Endpoint
}

// Find implements discovery.Finder.
func (p *Places) Find(ctx context.Context, name node.Atom) ([]discovery.Endpoint, error) {
	p.mu.Lock()
	a, ok := p.m[name]
	p.mu.Unlock()
	if ok {
		return a, nil
	}
	if p.Next != nil {
		return p.Next.Find(ctx, name)
	}
	return nil, fmt.Errorf("no node %s", name)
}

// Announce implements discovery.Finder.
func (p *Places) Announce(ctx context.Context, me discovery.Announcement) (func(), error) {
	if p.Next != nil {
		return p.Next.Announce(ctx, me)
	}
	p.Put(me.Name, me.Endpoints)
	return func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		delete(p.m, me.Name)
	}, nil
}

// Put sets the endpoints of a node.
func (p *Places) Put(name node.Atom, at []discovery.Endpoint) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.m == nil {
		p.m = make(map[node.Atom][]discovery.Endpoint)
	}
	p.m[name] = at
}

// List implements discovery.Lister: the nodes of the test.
func (p *Places) List(context.Context) ([]node.Atom, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Sorted(maps.Keys(p.m)), nil
}
