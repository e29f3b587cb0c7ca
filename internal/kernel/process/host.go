package process

import (
	"github.com/actornode/actornode/internal/kernel/watch"
	"github.com/actornode/actornode/wire"
)

// Host is the node above its processes: it converts events to messages and errors.
type Host interface {
	Messages
	Reasons

	// Self returns the process that represents a plain goroutine to other nodes.
	Self() wire.PID
	// Crashed is called when the code of a process ends it, before linked processes are notified. If that is a crash, the
	// function that is returned is called after they are; otherwise it is nil.
	Crashed(c Crash) (told func())
	// Left is called for a process that leaves messages in its mailbox, many or for long.
	Left(p *Process, left watch.Left)
	// Unanswered fails the call whose request has been lost, if msg is one. raw reports that msg, sent to the name of an alias,
	// is still as received. It reports whether a caller waited.
	Unanswered(msg any, why error, raw bool) bool
	// Whereis asks another node which process has a name there, and then calls then with it, or with the zero PID and an exit
	// reason if there is none, or the node cannot be reached.
	Whereis(a *Acting, at wire.At, then func(pid wire.PID, why any))
	// Answered settles the call that msg answers, if it is a reply to one whose caller's reference was passed on. It returns
	// false if it is not.
	Answered(ref wire.Ref, msg any) bool
}

// Messages makes the messages that processes receive about events of others.
type Messages interface {
	Exited(from wire.PID, reason any) any
	Down(d Down) any
	NodeDown(node wire.Atom, reason string) any
	Result(tag, v any, err error) any
	IsDown(msg any, ref wire.Ref) bool // reports whether msg is the Down of a monitor
}

// Reasons converts errors and panics to exit reasons.
type Reasons interface {
	ErrorOf(reason any) error // the error for an exit reason
	ReasonOf(err error) any   // the exit reason of a process whose code has returned err
	Panicked(cause any) any   // the exit reason of a process that has panicked: for the deferred function that recovers

	Lost(node wire.Atom, why error) error // the error for noconnection: why the connection to a node has ended
}

// Remotes finds other nodes. Its methods return nil if there is none.
type Remotes interface {
	Reach(pid wire.PID) Remote     // the node of a PID, connected or being connected
	Connected(pid wire.PID) Remote // the same without connecting
	Named(name wire.Atom) Remote   // the node with a name, connected or being connected
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
