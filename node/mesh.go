package node

import (
	"cmp"
	"errors"
	"fmt"
	"time"

	"github.com/actornode/actornode/node/internal/mesh"
)

// Mesh keeps a node connected to all nodes that its finder lists, instead of only
// to those that somebody here has used. The zero value works.
//
// Of two nodes the one with the smaller name connects, the other only if that has
// not happened within Yield: each pair connects once. All attempts are spread by
// chance, over 5 ms for each node of the list, so that a node that is new to a
// thousand others is not connected to by all of them at once. A connection that is
// lost, for whatever reason, Disconnect too, is made again while the node is
// listed; that a node is no longer listed ends no connection.
type Mesh struct {
	// Interval is how often the finder is asked for its list; one that is a
	// [Watcher] also when it changes. Default: 10 s.
	Interval time.Duration
	// Dials is how many connections are made at a time. Default: 16.
	Dials int
	// Backoff is the longest pause between attempts to connect to the same node; the
	// first is 500 ms, each next one twice as long, and up to half of it is taken off
	// by chance. Default: 1 minute.
	Backoff time.Duration
	// Yield is how long the node with the greater name waits for the other to
	// connect. Default: 2 s.
	Yield time.Duration
}

const (
	defaultMeshInterval = 10 * time.Second
	defaultMeshDials    = 16
	defaultMeshBackoff  = time.Minute
	defaultMeshYield    = 2 * time.Second
)

// validate fills in the defaults.
func (m *Mesh) validate(f Finder) error {
	if _, ok := f.(Lister); !ok {
		return fmt.Errorf("node: Distribution.Mesh needs a Finder that can list nodes (a Lister), and %T cannot", f)
	}
	if m.Interval < 0 || m.Dials < 0 || m.Backoff < 0 || m.Yield < 0 {
		return errors.New("node: Distribution.Mesh: Interval, Dials, Backoff and Yield must not be negative")
	}
	m.Interval = cmp.Or(m.Interval, defaultMeshInterval)
	m.Dials = cmp.Or(m.Dials, defaultMeshDials)
	m.Backoff = cmp.Or(m.Backoff, defaultMeshBackoff)
	m.Yield = cmp.Or(m.Yield, defaultMeshYield)
	return nil
}

// mesh is the goroutine that keeps this node connected to all others: started by
// startDist, ended by stop. Its attempts end with it.
func (d *dist) mesh() {
	defer d.wg.Done()
	stop := watchOf(d.cfg.Finder, d.relist.set)
	defer stop()
	n := d.n
	mesh.Run(d.ctx, mesh.New(n.cfg.Name, mesh.Config(*d.cfg.Mesh), n.env.Float64), meshed{d}, n.env, n.cfg.Log, d.relist, d.lost)
}

// meshed is a node as package mesh knows it.
type meshed struct{ d *dist }

// List is part of mesh.Cluster.
func (m meshed) List() ([]Atom, error) {
	ctx, cancel := m.d.n.env.WithTimeout(m.d.ctx, m.d.cfg.ConnectTimeout)
	defer cancel()
	return listOf(ctx, m.d.cfg.Finder)
}

// IsUp is part of mesh.Cluster.
func (m meshed) IsUp(name Atom) bool {
	p := m.d.get(name)
	return p != nil && p.isUp()
}

// Connect is part of mesh.Cluster: it is Connect within ConnectTimeout.
func (m meshed) Connect(name Atom) error {
	ctx, cancel := m.d.n.env.WithTimeout(m.d.ctx, m.d.cfg.ConnectTimeout)
	defer cancel()
	return m.d.n.Connect(ctx, name)
}

// Go is part of mesh.Cluster: stop waits for the goroutine.
func (m meshed) Go(f func()) {
	m.d.wg.Add(1)
	m.d.n.env.Go(func() {
		defer m.d.wg.Done()
		f()
	})
}

// news wakes who waits for something to have happened, once for several times.
type news chan struct{}

func (n news) set() {
	select {
	case n <- struct{}{}:
	default:
	}
}
