package etf

import (
	"reflect"

	"github.com/actornode/actornode/wire"
)

// atFrom reads {Name, Node}, the term of a wire.At.
func atFrom(term any, v reflect.Value, _ walk) error {
	if t, ok := term.(wire.Tuple); ok && len(t) == 2 {
		name, isName := t[0].(wire.Atom)
		at, isNode := t[1].(wire.Atom)
		if isName && isNode {
			v.Set(reflect.ValueOf(wire.At{Name: name, Node: at}))
			return nil
		}
	}
	return mismatch(term, "{Name, Node}")
}
