package node

import "github.com/actornode/actornode/internal/nodehook"

// What other packages of this module ask of a node, see package nodehook.
func init() {
	nodehook.Mailboxes = func(n nodehook.Node, pids []PID) []int { return n.(*Node).mailboxes(pids) }
	nodehook.Messages = func(n nodehook.Node, pid PID, max int) []any { return n.(*Node).messages(pid, max) }
	nodehook.Traffic = func(n nodehook.Node) (in, out uint64) { return n.(*Node).traffic() }
	nodehook.Release = func(n nodehook.Node, name Atom) int { return n.(*Node).release(name) }
	nodehook.ReleaseKnown = func(n nodehook.Node, name Atom) bool { return n.(*Node).releaseKnown(name) }
}
