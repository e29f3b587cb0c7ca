package tree

import (
	"unicode/utf8"

	"go.yaml.in/yaml/v3"

	"github.com/actornode/actornode/internal/strict"
	"github.com/actornode/actornode/wire"
)

// at is a value of the file and where it is.
type at = strict.Value

type field = strict.Field

const maxDigits = 1000 // of an integer

// reader reads what trees and applications have beside plain values.
type reader struct {
	*strict.Reader
	known Known
	names map[wire.Atom]at // that processes are registered under, and where
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

// name reads a name that a process is to be registered under.
func (r *reader) name(v at) (wire.Atom, bool) {
	name, ok := r.atom(v, "the name to be registered under")
	if !ok {
		return "", false
	}
	if name == "" || name == wire.Undefined {
		r.Fail(v, "%s cannot be registered; want any other name", wire.Format(name))
		return "", false
	}
	if first, twice := r.names[name]; twice {
		r.Fail(v, "the name %s is used twice, first in line %d for %s", wire.Format(name), first.Line, first.Path)
		return name, false
	}
	r.names[name] = v
	return name, true
}
