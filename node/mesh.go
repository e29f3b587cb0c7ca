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
	if err := mesh.Check(d.Finder); err != nil {
		return fmt.Errorf("node: Distribution.Mesh %w", err)
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
	n := d.n
	mesh.Run(d.Context(), mesh.New(n.cfg.Name, mesh.Config(*d.cfg.Mesh), n.env.Float64), mesh.Node{
		Finder: d.cfg.Finder, Timeout: d.cfg.ConnectTimeout, IsUp: d.isUp, Connect: n.Connect, Go: d.Go, Lost: d.lost,
		Env: n.env, Log: n.cfg.Log,
	})
}

// isUp reports whether a node is connected.
func (d *distribution) isUp(name Atom) bool {
	p := d.get(name)
	return p != nil && p.IsUp()
}
