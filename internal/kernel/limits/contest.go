package limits

import "github.com/actornode/actornode/wire/dist"

// Two nodes that dial each other at the same time make two connections, of which one is kept, the same on both sides: the one
// that the node with the greater name has dialled. Each decides by its own state alone; the functions of this file do that.

// Standing is the state of a node towards another when it decides about an incoming connection from that.
type Standing struct {
	Greater bool   // this node's name is the greater one
	Naming  bool   // it has sent its name to the other on a connection that it is making
	Up      bool   // there is a connection
	Arrival uint64 // the number of the claim that made it, or 0 if this node has dialled
	Older   bool   // it existed when the claim arrived
	Placed  bool   // it, or one that is about to end, has a place that a new one takes over
}

// Admits returns the verdict for a node that wants to connect and has not proved its identity yet, except Full, which depends
// on the limits.
func (s Standing) Admits() dist.Verdict {
	switch {
	case s.Up:
		return dist.Alive
	case !s.Naming:
		return dist.Welcome
	case s.Greater:
		return dist.Busy
	}
	return dist.Simultaneous
}

// Waits reports whether a node that has proved its identity must wait for the outcome of this node's own attempt. Once this
// node has sent its name on that, a peer of OTP with a smaller name gives up its own connection: so that connection waits.
func (s Standing) Waits() bool { return !s.Up && s.Naming && s.Greater }

// Outlasts reports whether the existing connection is kept in favour of that of the claim with the given number: the peer has
// connected again since, or this node has dialled meanwhile and has the greater name. Otherwise the new connection implies
// that the old one is dead.
func (s Standing) Outlasts(claim uint64) bool {
	switch {
	case !s.Up:
		return false
	case s.Arrival > 0:
		return s.Arrival > claim
	}
	return !s.Older && s.Greater
}

// GivesUp reports whether a connection that this node has dialled is closed if the peer has one already, or has ended.
func GivesUp(greater, over bool) bool { return over || !greater }
