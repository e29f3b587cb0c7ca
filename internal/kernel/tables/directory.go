package tables

import (
	"github.com/actornode/actornode/wire"
)

// Directory finds a process of a node by its registered name, by an alias, or by the name of an alias. Initialize one with
// Init. T is the process, without a pointer.
type Directory[T any, P interface {
	*T
	NameHolder
}] struct {
	Names[P]
	Aliases Aliases[T] // active ones
	own     wire.Origin
}

// Init makes d the empty directory of a node.
func (d *Directory[T, P]) Init(own wire.Origin) { d.own = own }

// Owner returns the process that ref is an alias of, without using it up, or nil if there is none.
func (d *Directory[T, P]) Owner(ref wire.Ref) P {
	if !d.own.Equal(ref.Origin()) {
		return nil
	}
	return d.Aliases.Peek(ref.Number())
}

// Whose returns the process that has a name, including that of an alias, or nil.
func (d *Directory[T, P]) Whose(name wire.Atom) P {
	if p := d.Get(name); p != nil {
		return p
	}
	if ref, ok := Alias(name, d.own); ok {
		return d.Owner(ref)
	}
	return nil
}

// Global is a destination: a name that the nodes of a cluster share. See package global.
type Global struct {
	wire.At // unused
	Name    any
}
