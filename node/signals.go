package node

import "github.com/actornode/actornode/wire"

// Exited is what an exit signal becomes for a process that traps exits: Erlang's {'EXIT', From, Reason}. One with the
// reason [Shutdown] and a zero From is the order of [Node.Stop] to shut down: a server that traps exits should obey it
// as it does its parent.
type Exited struct {
	From   PID
	Reason any
}

// term is {'EXIT', From, Reason}, as other nodes see the message.
func (e Exited) term() any { return wire.Tuple{wire.Atom("EXIT"), e.From, e.Reason} }

// Down says that a monitored process has exited: Erlang's
// {'DOWN', Ref, process, Object, Reason}. For a monitor by name, Name and Node
// say what was monitored and PID is zero.
type Down struct {
	Ref    Ref
	PID    PID
	Name   Atom
	Node   Atom
	Reason any // noproc if there was nobody to monitor

	// Cause says why the reason is noconnection: the connection to the node was lost, or could not be made. nil:
	// unknown.
	Cause error
}

// term is {'DOWN', Ref, process, Pid | {Name, Node}, Reason}, as other nodes see
// the message.
func (d Down) term() any {
	var what any = d.PID
	if d.Name != "" {
		what = wire.Tuple{d.Name, d.Node}
	}
	return wire.Tuple{wire.Atom("DOWN"), d.Ref, wire.Atom("process"), what, d.Reason}
}
