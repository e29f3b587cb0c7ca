package erpc

import (
	"github.com/actornode/actornode/internal/kernel/tables"
	"github.com/actornode/actornode/wire"
)

// Seen returns a destination as Info shows it: a process, a name, or for a reference, a function or a behaviour, its node;
// nil for any other.
func Seen(to wire.Dest) wire.Dest {
	switch to := to.(type) {
	case nil:
		return nil
	case wire.PID, wire.At:
		return CopyDest(to)
	case wire.Ref:
		return wire.At{Node: to.Node()}
	case Function:
		return wire.At{Node: to.Node}
	case Behaviour:
		return wire.At{Node: to.Node}
	}
	return nil
}

// CopyDest returns a copy of a destination, for what keeps it or passes it to code that may: the destination of a send itself
// need not be allocated then.
func CopyDest(to wire.Dest) wire.Dest {
	switch to := to.(type) {
	case nil:
		return nil
	case wire.PID:
		return to
	case wire.Atom:
		return to
	case wire.At:
		return to
	case wire.Ref:
		return to
	case Function:
		return to
	case Behaviour:
		return to
	case tables.Global:
		return to
	}
	return nil
}
