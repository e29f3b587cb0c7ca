package peers

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/actornode/actornode/internal/kernel/env"
	"github.com/actornode/actornode/node/discovery"
	"github.com/actornode/actornode/wire"
)

// MeshNode is the node of a driver. All fields are required.
type MeshNode struct {
	Finder  discovery.Finder // a discovery.Lister, and optionally a Watcher
	Timeout time.Duration    // of a query for the list, and of an attempt
	IsUp    func(wire.Atom) bool
	Connect func(context.Context, wire.Atom) error // called on a goroutine of its own
	Go      func(f func())                         // starts a goroutine that ends when f returns
	Lost    MeshNews                               // a connection has ended
	Lock    sync.Locker                            // held while the Mesher is used
	Env     env.Env
	Log     *slog.Logger
}

// MeshNews wakes a waiter when something has happened, once for several events. It is created with capacity one.
type MeshNews chan struct{}

// Set notes that it has happened.
func (n MeshNews) Set() {
	select {
	case n <- struct{}{}:
	default:
	}
}

// For returns c with the defaults, for nodes listed by f. The error is about node.Distribution.Mesh.
func (c MeshConfig) For(f discovery.Finder) (MeshConfig, error) {
	if _, ok := f.(discovery.Lister); !ok {
		return c, fmt.Errorf("node: Distribution.Mesh needs a Finder that can list nodes (a Lister), and %T cannot", f)
	}
	c, err := c.WithDefaults()
	if err != nil {
		return c, fmt.Errorf("node: Distribution.Mesh: %w", err)
	}
	return c, nil
}

// list returns the existing nodes; with an error, those that are known in spite of it.
func (n *MeshNode) list(ctx context.Context) ([]wire.Atom, error) {
	ctx, cancel := n.Env.WithTimeout(ctx, n.Timeout)
	defer cancel()
	return n.Finder.(discovery.Lister).List(ctx)
}

func (n *MeshNode) connect(ctx context.Context, name wire.Atom) error {
	ctx, cancel := n.Env.WithTimeout(ctx, n.Timeout)
	defer cancel()
	return n.Connect(ctx, name)
}

// result is the end of an attempt.
type result struct {
	name wire.Atom
	err  error
}

// RunMesh drives m for a node until ctx ends.
func RunMesh(ctx context.Context, m *Mesher, n MeshNode) {
	e, log := n.Env, n.Log
	changed := make(MeshNews, 1) // the list has changed
	if w, ok := n.Finder.(discovery.Watcher); ok {
		stop := w.Watch(changed.Set)
		defer stop()
	}
	results := make(chan result, m.cfg.Dials) // capacity for all: no attempt blocks
	var told string
	var asked, again time.Time // when the list was queried, and when it is due
	timer, fires := e.NewTimer(0)
	defer timer.Stop()
	for {
		now := e.Now()
		if !now.Before(again) {
			names, err := n.list(ctx)
			if why := ""; err != nil || told != "" {
				if err != nil {
					why = causeOf(err)
				}
				if why != told && ctx.Err() == nil {
					log.Warn("cannot list the nodes of the cluster, or listed only some of them", "known", len(names), "error", err)
				}
				told = why
			}
			n.Lock.Lock()
			m.List(names)
			n.Lock.Unlock()
			now = e.Now()
			asked, again = now, now.Add(m.cfg.Interval)
		}
		n.Lock.Lock()
		names, next := m.Step(now, n.IsUp)
		n.Lock.Unlock()
		for _, name := range names {
			n.Go(func() { results <- result{name, n.connect(ctx, name)} }) // results has room
		}
		if next.IsZero() || next.After(again) {
			next = again
		}
		timer.Reset(next.Sub(now))
		select {
		case <-ctx.Done():
			return
		case <-fires:
		case <-n.Lost: // Step looks for it
		case <-changed:
			if soon := asked.Add(min(relist, m.cfg.Interval)); soon.Before(again) {
				again = soon
			}
		case r := <-results:
			n.Lock.Lock()
			tell := m.Done(e.Now(), r.name, r.err)
			n.Lock.Unlock()
			if tell && ctx.Err() == nil {
				log.Warn("cannot connect to a node of the mesh: will retry", "peer", string(r.name), "error", r.err)
			}
		}
	}
}
