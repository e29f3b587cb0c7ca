package tree

import (
	"unicode/utf8"

	"go.yaml.in/yaml/v3"

	"github.com/actornode/actornode/internal/strict"
	"github.com/actornode/actornode/node"
	"github.com/actornode/actornode/node/global"
	"github.com/actornode/actornode/wire"
)

// at is a value of the file with its position.
type at = strict.Value

type field = strict.Field

const maxDigits = 1000 // of an integer

// reader reads the values of trees and applications that are not plain ones.
type reader struct {
	*strict.Reader
	known Known
	names map[wire.Atom]at // registered names of processes, with their positions
	// globals are the global names.
	globals map[wire.Atom]at
}

// atom reads a name.
func (r *reader) atom(v at, what string) (wire.Atom, bool) {
	if v.Kind != yaml.ScalarNode || v.ShortTag() != "!!str" && v.ShortTag() != "!atom" {
		r.Fail(v, "want %s, a name", what)
		return "", false
	}
	return r.atomText(v)
}

func (r *reader) atomText(v at) (wire.Atom, bool) {
	if n := utf8.RuneCountInString(v.Value); n > wire.MaxAtomRunes {
		r.Fail(v, "an atom of %d characters; at most %d are allowed", n, wire.MaxAtomRunes)
		return "", false
	}
	return wire.Atom(v.Value), true
}

// name reads the registered name of a process.
func (r *reader) name(v at) (wire.Atom, bool) { return r.unique(v, "name", r.names) }

// global reads the global name of a process and sets it in o.
func (r *reader) global(v at, o *node.Options) {
	name, ok := r.unique(v, "global name", r.globals)
	if ok && !r.known.Published {
		r.Fail(v, "this node is hidden; only a published one has global names")
	} else if ok {
		o.Via = global.As(name, global.Options{})
	}
}

// unique reads a name that must not be in taken yet; kind is the kind of name, for errors.
func (r *reader) unique(v at, kind string, taken map[wire.Atom]at) (wire.Atom, bool) {
	name, ok := r.atom(v, "the "+kind+" to be registered under")
	if !ok {
		return "", false
	}
	if name == "" || name == wire.AtomUndefined {
		r.Fail(v, "%s cannot be registered; want any other name", wire.Format(name))
		return "", false
	}
	if first, twice := taken[name]; twice {
		r.Fail(v, "the %s %s is used twice, first in line %d for %s", kind, wire.Format(name), first.Line, first.Path)
		return name, false
	}
	taken[name] = v
	return name, true
}
