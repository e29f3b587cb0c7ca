// Package termkey has the one form of a term by which tables find it.
//
// Two terms that [wire.Equal] takes for one have the same key. A plain key is compared by == and may be that of
// a Go map; any other is compared by wire.Equal, as the keys of a [wire.Map] are.
//
// Invariants:
//
//  1. Of(a) and Of(b) are equal, by == if they are plain, exactly if wire.Equal(a, b).
//  2. No term makes the package panic.
//
// The package has no state and no goroutine.
package tables

import "github.com/actornode/actornode/wire"

// TermKey is a term in the one form that tables keep, and whether == compares it as wire.Equal does.
func TermKey(t any) (key any, plain bool) {
	switch t := t.(type) {
	case wire.Atom, int, string, wire.PID, wire.Ref, wire.Port, wire.Export:
		return t, true
	case []byte:
		return string(t), true
	case bool:
		if t {
			return wire.True, true
		}
		return wire.False, true
	case wire.Bitstring:
		if t.BitLen()%8 == 0 {
			return string(t.Bytes()), true
		}
	case wire.ImproperList:
		if len(t.Head) == 0 {
			return TermKey(t.Tail)
		}
	}
	if n, ok := wire.Int(t); ok && int64(int(n)) == n {
		return int(n), true
	}
	return t, false
}
