// Package nodehook is what packages of this module ask of a node, and programs do not: the
// tools and behaviours that belong to it, system messages, metrics, what OTP's observer shows.
//
// The functions are set by package node before any code of a package that imports it runs,
// and never changed. Whoever calls one imports package node, for it needs a node to give.
package nodehook

import "github.com/actornode/actornode/wire"

// Node is a *node.Node. Nothing else may be given.
type Node interface {
	Name() wire.Atom
	Creation() uint32
}

// Mailboxes returns how many messages wait for each of some processes, the one
// being handled included; -1 for one that is gone. One that is being handed to a
// process on a goroutine of its own, which waits for it, may not be among them for that
// moment.
var Mailboxes func(n Node, pids []wire.PID) []int

// Messages returns the messages that wait for a process, the oldest max of them. It takes the
// process's stage for a moment: a handler that runs meanwhile goes on without it.
// Those in a mailbox that is bounded or that a user has made are not shown.
var Messages func(n Node, pid wire.PID, max int) []any

// Traffic returns how many bytes have come and gone over the connections that a
// node has now.
var Traffic func(n Node) (in, out uint64)

// Release returns the OTP release of a node that n is connected to, such as 27; 0 if it
// is none, or does not say. Each node is asked when it connects; until it has
// answered, Release waits, at most 5 s.
var Release func(n Node, name wire.Atom) int

// ReleaseKnown reports whether Release of a node needs no waiting.
var ReleaseKnown func(n Node, name wire.Atom) bool

// shutdown is node.Shutdown, normal node.Normal.
const (
	normal   wire.Atom = "normal"
	shutdown wire.Atom = "shutdown"
)

// IsCleanExit reports whether an exit reason is one that nobody needs to be told of:
// normal, shutdown, {shutdown, _}.
func IsCleanExit(reason any) bool {
	if t, ok := reason.(wire.Tuple); ok {
		return len(t) == 2 && t[0] == shutdown
	}
	return reason == normal || reason == shutdown
}
