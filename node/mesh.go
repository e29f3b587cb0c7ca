package node

import (
	"fmt"

	"github.com/actornode/actornode/node/discovery"
	"github.com/actornode/actornode/node/internal/mesh"
)

// validateMesh fills in the defaults, in a copy: the caller's Mesh stays as it is.
func (d *Distribution) validateMesh() error {
	if d.Mesh == nil {
		return nil
	}
	if _, ok := d.Finder.(discovery.Lister); !ok {
		return fmt.Errorf("node: Distribution.Mesh needs a Finder that can list nodes (a Lister), and %T cannot", d.Finder)
	}
	filled, err := mesh.Config(*d.Mesh).WithDefaults()
	if err != nil {
		return fmt.Errorf("node: Distribution.Mesh: %w", err)
	}
	d.Mesh = new(discovery.Mesh(filled))
	return nil
}

// mesh is the goroutine that keeps this node connected to all others: started by
// startDist, ended by stop. Its attempts end with it.
func (d *distribution) mesh() {
	if w, ok := d.cfg.Finder.(discovery.Watcher); ok {
		stop := w.Watch(d.relist.set)
		defer stop()
	}
	n := d.n
	m := mesh.New(n.cfg.Name, mesh.Config(*d.cfg.Mesh), n.env.Float64)
	mesh.Run(d.Context(), m, meshed{d}, n.env, n.cfg.Log, d.relist, d.lost)
}

// meshed is a node as package mesh knows it.
type meshed struct{ d *distribution }

// List is part of mesh.Cluster.
func (m meshed) List() ([]Atom, error) {
	ctx, cancel := m.d.n.env.WithTimeout(m.d.Context(), m.d.cfg.ConnectTimeout)
	defer cancel()
	return m.d.cfg.Finder.(discovery.Lister).List(ctx) // validateMesh has checked that it is one
}

// IsUp is part of mesh.Cluster.
func (m meshed) IsUp(name Atom) bool {
	p := m.d.get(name)
	return p != nil && p.IsUp()
}

// Connect is part of mesh.Cluster: it is Connect within ConnectTimeout.
func (m meshed) Connect(name Atom) error {
	ctx, cancel := m.d.n.env.WithTimeout(m.d.Context(), m.d.cfg.ConnectTimeout)
	defer cancel()
	return m.d.n.Connect(ctx, name)
}

// Go is part of mesh.Cluster: stop waits for the goroutine.
func (m meshed) Go(f func()) { m.d.Go(f) }

// news wakes who waits for something to have happened, once for several times.
type news chan struct{}

func (n news) set() {
	select {
	case n <- struct{}{}:
	default:
	}
}
