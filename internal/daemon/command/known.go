package command

import (
	"context"
	"sync"
	"sync/atomic"

	"github.com/actornode/actornode/node"
	"github.com/actornode/actornode/node/discovery"
)

// knownPeers finds the nodes whose addresses are configured, which can change while it is in use, and asks another finder
// for the rest.
type knownPeers struct {
	now  atomic.Pointer[discovery.Static]
	next discovery.Finder // set once

	mu       sync.Mutex
	watchers map[*func()]struct{} // called at each change
}

var (
	_ discovery.Lister  = (*knownPeers)(nil)
	_ discovery.Watcher = (*knownPeers)(nil)
)

func newKnownPeers(nodes map[node.Atom][]discovery.Endpoint, next discovery.Finder) *knownPeers {
	k := &knownPeers{next: next, watchers: make(map[*func()]struct{})}
	k.set(nodes)
	return k
}

// set replaces the known nodes.
func (k *knownPeers) set(nodes map[node.Atom][]discovery.Endpoint) {
	k.now.Store(&discovery.Static{Nodes: nodes, Next: k.next})
	k.mu.Lock()
	defer k.mu.Unlock()
	for w := range k.watchers { // none blocks
		(*w)()
	}
}

// Find is part of discovery.Finder.
func (k *knownPeers) Find(ctx context.Context, name node.Atom) ([]discovery.Endpoint, error) {
	return k.now.Load().Find(ctx, name)
}

// Announce is part of discovery.Finder.
func (k *knownPeers) Announce(ctx context.Context, a discovery.Announcement) (stop func(), err error) {
	return k.next.Announce(ctx, a)
}

// List is part of discovery.Lister.
func (k *knownPeers) List(ctx context.Context) ([]node.Atom, error) { return k.now.Load().List(ctx) }

// Watch is part of discovery.Watcher.
func (k *knownPeers) Watch(changed func()) (stop func()) {
	others := k.now.Load().Watch(changed)
	w := &changed
	k.mu.Lock()
	defer k.mu.Unlock()
	k.watchers[w] = struct{}{}
	return func() {
		others()
		k.mu.Lock()
		defer k.mu.Unlock()
		delete(k.watchers, w)
	}
}
