package tables

import (
	"fmt"
	"strings"

	"github.com/actornode/actornode/wire"
)

// aliasPrefix begins the name of an alias.
const aliasPrefix = "$alias:"

// OfAlias returns the name by which other Go nodes call and monitor the process of an alias, because the protocols support
// only names and PIDs there.
func OfAlias(ref wire.Ref) wire.At {
	return wire.At{Name: wire.Atom(fmt.Sprintf("%s%x.%x", aliasPrefix, ref.Creation(), ref.Number())), Node: ref.Node()}
}

// IsAlias reports whether a name is that of an alias.
func IsAlias(name wire.Atom) bool { return strings.HasPrefix(string(name), aliasPrefix) }

// Alias returns the alias of the node own that is encoded in a name.
func Alias(name wire.Atom, own wire.Origin) (ref wire.Ref, ok bool) {
	if !IsAlias(name) {
		return wire.Ref{}, false
	}
	var creation uint32
	var number uint64
	n, err := fmt.Sscanf(string(name[len(aliasPrefix):]), "%x.%x", &creation, &number)
	ref = own.RefOf(number)
	return ref, n == 2 && err == nil && own.NodeID().Creation == creation && OfAlias(ref).Name == name
}
