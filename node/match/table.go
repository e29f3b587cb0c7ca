package match

import (
	"reflect"
	"slices"

	"github.com/actornode/actornode/internal/wire/box"
)

// table finds the rules that may fit a message by its type: a hash table, made once and then only read.
type table struct {
	places []place // a power of two, at least twice as many as there are types
	others []rule  // for types that no case names: the rules of interfaces
}

type place struct {
	typ   uintptr // see box.TypeOf; 0: empty
	rules []rule
}

func newTable(all []entry) table {
	var types []reflect.Type
	for _, e := range all {
		if e.typ.Kind() != reflect.Interface && !slices.Contains(types, e.typ) {
			types = append(types, e.typ)
		}
	}
	size := 2
	for size < 2*len(types) {
		size *= 2
	}
	t := table{places: make([]place, size), others: rulesFor(all, nil)}
	for _, typ := range types {
		i := t.start(numberOf(typ))
		for t.places[i].typ != 0 {
			i = (i + 1) & (size - 1)
		}
		t.places[i] = place{numberOf(typ), rulesFor(all, typ)}
	}
	return t
}

// rulesFor returns the rules for messages of type t, up to one that takes all of them. t is nil for types that no case
// names.
func rulesFor(all []entry, t reflect.Type) (rules []rule) {
	for _, e := range all {
		is := e.typ == t
		if e.typ.Kind() == reflect.Interface {
			is = t == nil || t.Implements(e.typ)
		}
		if !is {
			continue
		}
		if rules = append(rules, e.rule); e.rule.bind == nil {
			break
		}
	}
	return rules
}

// of returns the rules for a message, in their order.
func (t *table) of(msg any) []rule {
	typ := box.TypeOf(msg)
	for i := t.start(typ); ; i = (i + 1) & (len(t.places) - 1) {
		switch p := &t.places[i]; p.typ {
		case 0: // msg nil, too
			return t.others
		case typ:
			return p.rules
		}
	}
}

// start returns where the search for a type begins.
func (t *table) start(typ uintptr) int {
	return int(uint32(typ>>3)*2654435769>>16) & (len(t.places) - 1)
}

// numberOf is box.TypeOf of the values of a type.
func numberOf(t reflect.Type) uintptr { return reflect.ValueOf(t).Pointer() }
