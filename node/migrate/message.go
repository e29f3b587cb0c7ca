package migrate

import (
	"fmt"

	"github.com/actornode/actornode/internal/kernel/process"
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
	// ended: the move of a process is over; its service no longer watches it for To.
	ended struct{ watch node.Ref }
	// arrived: the process now runs here; holders are its forwarders.
	arrived struct {
		id      wire.Ref
		pid     node.PID
		arrival node.PID
		source  node.PID // the holder that must be alive, or the process is dead
		holders []node.PID
	}
	// left: the process has gone on to another node.
	left struct{ pid node.PID }
	// accepted is the forwarder's answer to an arrival that wants its PID for the process.
	accepted struct{ err error }
	// resumed says that the forwarder has become the process.
	resumed struct{}
	// again makes a mover in doubt ask once more.
	again struct{}
)

// Messages between nodes. The moving process is the source, the process that takes it in the arrival; see doc.go. A peer may
// only name its own processes and moves in them, or prove by an Identity that the process has been there: this node would
// otherwise do to a third one, in its own name, what the peer may not do.
type (
	// link is a link of the process, and the forwarder that has it, or the source.
	link struct{ To, Holder node.PID }
	// monitor is the same for a monitor by the process.
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
		Arrival node.PID // gets the waiting messages, and commit or abort
		Back    node.PID // the forwarder that will become the process; then commit must wait for a mark
	}
	// commit makes the arrival start. Messages is how many messages came before it.
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
	// outcome is a request of a source in doubt; the answer is the PID of the process there, or zero if it has not
	// started and never will.
	outcome struct {
		ID            wire.Ref
		Arrival, Back node.PID
	}
	// confirm says that the source knows the outcome.
	confirm struct{ ID wire.Ref }
	// mark follows all that a forwarder has forwarded to To.
	mark struct {
		ID       wire.Ref
		To       node.PID
		Identity wire.Ref
	}
	// exited and down are signals that a holder relays to the process; To is the PID that the holder knows.
	exited struct {
		To, From node.PID
		Reason   any
		Identity wire.Ref
	}
	down struct {
		To       node.PID
		Down     node.Down
		Identity wire.Ref
	}
	// drop makes a holder remove a link or a monitor.
	drop struct {
		Holder, Link node.PID
		Monitor      wire.Ref
		Identity     wire.Ref
	}
)

// check returns an error if the process has too many forwarders, or a link or a monitor on a node where it has not been, by its
// trail: this node watches the forwarders, and tells the nodes of the holders what they are to drop.
func (m *prepare) check() error {
	if len(m.Trail) > mostForwarders {
		return fmt.Errorf("%w: it has %d forwarders, and at most %d are allowed", ErrNotAllowed, len(m.Trail), mostForwarders)
	}
	been := map[node.Atom]bool{m.Source.Node(): true}
	for _, f := range m.Trail {
		been[f.Node()] = true
	}
	for _, l := range m.Links {
		if !been[l.Holder.Node()] {
			return fmt.Errorf("%w: its link to %v is held by %v, on a node where it has not been", ErrNotAllowed, l.To, l.Holder)
		}
	}
	for _, w := range m.Monitors {
		if !been[w.Holder.Node()] {
			return fmt.Errorf("%w: its monitor %v is held by %v, on a node where it has not been", ErrNotAllowed, w.Ref, w.Holder)
		}
	}
	return nil
}

// knows reports whether a message that carries identity is from a node where the process with the record r has been. Only
// those nodes have the Identity of the process, and each of them may end it. The lock of the process is held.
func knows(r *process.Moved, identity wire.Ref) bool {
	return r != nil && !identity.IsZero() && r.Identity == identity
}

// at returns the address of a node's service.
func at(n node.Atom) node.At { return node.At{Name: service, Node: n} }
