package erpc

import "github.com/actornode/actornode/wire"

// Seen returns a destination as Info shows it: a process, a name, or for a reference, a function or a behaviour, its node;
// nil for any other.
func Seen(to wire.Dest) wire.Dest {
	switch to := to.(type) {
	case nil:
		return nil
	case wire.PID: // a copy, so that the argument of a call need not be allocated
		return to
	case wire.At:
		return to
	case wire.Ref:
		return wire.At{Node: to.Node()}
	case Function:
		return wire.At{Node: to.Node}
	case Behaviour:
		return wire.At{Node: to.Node}
	}
	return nil
}
