package process

import "github.com/actornode/actornode/wire"

// Messages makes the messages that processes receive about events of others.
type Messages struct {
	Exited   func(from wire.PID, reason any) any
	Down     func(d Down) any
	NodeDown func(node wire.Atom, reason string) any
	Result   func(tag, v any, err error) any
	IsDown   func(msg any, ref wire.Ref) bool // reports whether msg is the Down of a monitor
}

// Down is the content of a monitor's message: see package node.
type Down struct {
	Ref    wire.Ref
	PID    wire.PID
	Name   wire.Atom
	Node   wire.Atom
	Reason any
	Cause  error
}

// Reasons converts errors and panics to exit reasons.
type Reasons struct {
	Err     func(reason any) error // the error for an exit reason
	Of      func(err error) any    // the exit reason of a process whose code has returned err
	Panics  func(cause any) any    // the exit reason of a process that has panicked: for the deferred function that recovers
	Crashed func(reason any) bool  // reports whether it is the reason of a crash

	Lost func(node wire.Atom, why error) error // the error for noconnection: why the connection to a node has ended
}
