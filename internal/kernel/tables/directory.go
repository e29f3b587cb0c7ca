package tables

import (
	"github.com/actornode/actornode/wire"
)

// Directory finds a process of a node by what names it: by its registered name, by an alias, by
// the name of an alias. Make one with Init. T is the process, without a pointer.
type Directory[T any, P interface {
	*T
	NameHolder
}] struct {
	Names[P]
	Aliases Aliases[T] // that are active
	own     wire.Origin
}

// Init makes d the empty directory of a node.
func (d *Directory[T, P]) Init(own wire.Origin) { d.own = own }

// Owner returns the process that ref is an alias of, without using it up; nil: of none.
func (d *Directory[T, P]) Owner(ref wire.Ref) P {
	if !d.own.Equal(ref.Origin()) {
		return nil
	}
	return d.Aliases.Peek(ref.Number())
}

// Whose returns the process that has a name, be it that of an alias; nil: none has.
func (d *Directory[T, P]) Whose(name wire.Atom) P {
	if p := d.Get(name); p != nil {
		return p
	}
	if ref, ok := Alias(name, d.own); ok {
		return d.Owner(ref)
	}
	return nil
}

// Find returns the process that a destination which is no PID stands for now; nil: there is none, or
// it is on another node.
func (d *Directory[T, P]) Find(to wire.Dest) P {
	switch to := to.(type) {
	case wire.Atom:
		return d.Whose(to)
	case wire.Ref:
		return d.Owner(to)
	case wire.At:
		if to.Node == d.own.NodeID().Name {
			return d.Whose(to.Name)
		}
	}
	return nil
}

// Elsewhere returns the name on another node that a destination is. An alias of another node is
// called, monitored and linked to by such a name, too: see [OfAlias].
func (d *Directory[T, P]) Elsewhere(to wire.Dest) (at wire.At, ok bool) {
	switch to := to.(type) {
	case wire.At:
		return to, to.Node != d.own.NodeID().Name
	case wire.Ref:
		if !d.own.Equal(to.Origin()) && !to.IsZero() {
			return OfAlias(to), true
		}
	}
	return at, false
}

// Global is a destination: a name that the nodes of a cluster share. See package global.
type Global struct {
	wire.At // never set
	Name    any
}
