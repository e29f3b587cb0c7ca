package mesh

import (
	"context"
	"log/slog"
	"time"

	"github.com/actornode/actornode/node/internal/env"
	"github.com/actornode/actornode/wire"
)

// Cluster is what a driver needs of a node. All of it ends soon when the context of Run does.
type Cluster interface {
	// List returns the nodes there are; with an error those that are known in spite of it.
	List() ([]wire.Atom, error)
	// IsUp reports whether a node is connected.
	IsUp(wire.Atom) bool
	// Connect connects a node. It is called on a goroutine of its own.
	Connect(wire.Atom) error
	// Go starts a goroutine that ends when f returns.
	Go(f func())
}

// result is the end of an attempt.
type result struct {
	name wire.Atom
	err  error
}

// Run drives m until ctx ends. changed says that the list is another one, lost that a
// connection has ended.
func Run(ctx context.Context, m *Mesher, c Cluster, e env.Env, log *slog.Logger, changed, lost <-chan struct{}) {
	results := make(chan result, m.cfg.Dials) // as many as there can be: none is held up
	var told string
	var asked, again time.Time // when the list was asked for, and when it is due
	timer, fires := e.NewTimer(0)
	defer timer.Stop()
	for {
		now := e.Now()
		if !now.Before(again) {
			names, err := c.List()
			if why := ""; err != nil || told != "" {
				if err != nil {
					why = causeOf(err)
				}
				if why != told && ctx.Err() == nil {
					log.Warn("cannot list the nodes of the cluster, or listed only some of them", "known", len(names), "error", err)
				}
				told = why
			}
			m.List(names)
			now = e.Now()
			asked, again = now, now.Add(m.cfg.Interval)
		}
		names, next := m.Step(now, c.IsUp)
		for _, name := range names {
			c.Go(func() { results <- result{name, c.Connect(name)} }) // results has room
		}
		if next.IsZero() || next.After(again) {
			next = again
		}
		timer.Reset(next.Sub(now))
		select {
		case <-ctx.Done():
			return
		case <-fires:
		case <-lost: // Step looks for it
		case <-changed:
			if soon := asked.Add(min(relist, m.cfg.Interval)); soon.Before(again) {
				again = soon
			}
		case r := <-results:
			if m.Done(e.Now(), r.name, r.err) && ctx.Err() == nil {
				log.Warn("cannot connect to a node of the mesh: will retry", "peer", string(r.name), "error", r.err)
			}
		}
	}
}
