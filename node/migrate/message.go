package migrate

import (
	"github.com/actornode/actornode/node"
	"github.com/actornode/actornode/wire"
)

// Requests and messages within a node.
type (
	// order is To's request to the service.
	order struct {
		pid node.PID
		to  node.Atom
	}
	// ended: the move of a process is over; its service watches it no longer for To.
	ended struct{ watch node.Ref }
	// arrived: the process now runs here, and has entries of these holders.
	arrived struct {
		id      wire.Ref
		pid     node.PID
		arrival node.PID
		source  node.PID // of the holders the one that must be alive, or the process is dead
		holders []node.PID
	}
	// left: the process has gone on to another node.
	left struct{ pid node.PID }
	// accepted is the forwarder's answer to an arrival that wants its PID for the process.
	accepted struct{ err error }
	// resumed says that the forwarder is the process.
	resumed struct{}
	// again has a mover in doubt ask once more.
	again struct{}
)

// Messages between nodes. The process that moves is the source, what takes it the arrival; see doc.go.
type (
	// link is a link of the process, and the forwarder that has it; Holder zero: the source.
	link struct{ To, Holder node.PID }
	// monitor is the same of a monitor by the process.
	monitor struct {
		Ref    wire.Ref
		Holder node.PID
	}
	// prepare is a request of the source to the service of the other node.
	prepare struct {
		ID       wire.Ref
		Kind     node.Atom
		Source   node.PID
		Name     node.Atom
		Label    string
		Trap     bool
		Parent   node.PID
		Links    []link
		Monitors []monitor
		Trail    []node.PID // forwarders of the process, one a node
		Identity wire.Ref   // of the process, known to its forwarders
		State    any
	}
	// prepared is the answer.
	prepared struct {
		Arrival node.PID // whom the messages that wait, and commit or abort, are for
		Back    node.PID // the forwarder that is to be the process; then a mark comes, for which commit must wait
	}
	// commit has the arrival start: it has had so many messages before.
	commit struct {
		ID       wire.Ref
		Messages int
	}
	abort   struct{ ID wire.Ref }
	started struct {
		ID wire.Ref
		At node.PID
	}
	failed struct {
		ID  wire.Ref
		Why string
	}
	// outcome is a request of a source in doubt; the answer is the PID of the process there, zero: it has not
	// started, and will not.
	outcome struct {
		ID            wire.Ref
		Arrival, Back node.PID
	}
	// confirm says that the source knows the outcome.
	confirm struct{ ID wire.Ref }
	// mark follows all that a forwarder has sent on to To.
	mark struct {
		ID wire.Ref
		To node.PID
	}
	// exited and down are signals of a holder for the process, To as far as the holder knows.
	exited struct {
		To, From node.PID
		Reason   any
	}
	down struct {
		To   node.PID
		Down node.Down
	}
	// drop has a holder take a link or a monitor away.
	drop struct {
		Holder, Link node.PID
		Monitor      wire.Ref
	}
)

// at is the service of a node.
func at(n node.Atom) node.At { return node.At{Name: service, Node: n} }
