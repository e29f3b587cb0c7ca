package tables

import "github.com/actornode/actornode/wire"

// TermKey returns the canonical form of a term for tables, and whether == compares it like wire.Equal.
func TermKey(t any) (key any, plain bool) {
	switch t := t.(type) {
	case wire.Atom, int, string, wire.PID, wire.Ref, wire.Port, wire.Export:
		return t, true
	case []byte:
		return string(t), true
	case bool:
		if t {
			return wire.AtomTrue, true
		}
		return wire.AtomFalse, true
	case wire.Bitstring:
		if t.BitLen()%8 == 0 {
			return string(t.Bytes()), true
		}
	case wire.ImproperList:
		if len(t.Head) == 0 {
			return TermKey(t.Tail)
		}
	}
	if n, ok := wire.AsInt(t); ok && int64(int(n)) == n {
		return int(n), true
	}
	return t, false
}
