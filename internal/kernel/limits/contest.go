package limits

import "github.com/actornode/actornode/wire/dist"

// Two nodes that dial each other at the same time make two connections, of which one stays, the
// same on both sides: that which the node with the greater name has dialled. Both decide by
// what each knows alone; the functions of this file are all of that.

// Standing is what a node has with another when it decides about a connection that comes in
// from there.
type Standing struct {
	Greater bool   // this node's name is the greater one
	Naming  bool   // it has said its name to the other on a connection that it is making
	Up      bool   // there is a connection
	Arrival uint64 // the number of the claim that it was made by; 0: this node has dialled
	Older   bool   // it was there when the claim arrived
	Placed  bool   // it, or one that is about to end, has a place that a new one takes over
}

// Admits answers a node that wants to connect, and has proved nothing yet; but for Full, which
// is about the limits.
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

// Waits reports whether a node that has proved who it is must wait for the outcome of this
// node's own attempt. Once this node has said its name on its own, a peer of OTP with a smaller
// name gives up the other: so that one waits.
func (s Standing) Waits() bool { return !s.Up && s.Naming && s.Greater }

// Outlasts reports whether the connection that there is stays, and not that of the claim with
// that number: the peer has come again since, or this node has dialled meanwhile and has the
// greater name. One that comes anew otherwise says that the old one is dead.
func (s Standing) Outlasts(claim uint64) bool {
	switch {
	case !s.Up:
		return false
	case s.Arrival > 0:
		return s.Arrival > claim
	}
	return !s.Older && s.Greater
}

// GivesUp reports whether a connection that this node has dialled is closed, where the peer has
// one already, or is over.
func GivesUp(greater, over bool) bool { return over || !greater }
