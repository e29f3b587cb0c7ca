// Package admission decides which connections a node of a cluster may have: which of those
// that come in are dropped while they have proved nothing ([Arrivals]), whether there is a
// place for one that has ([Places]), which name a node gets that has none ([Names]), which peers
// are dialled next ([Dials]), what is refused while memory is short ([Shed]),
// which of two connections stays ([Standing]), whether the
// rights of a node let it connect ([Visitor]), and whether the protocol of a connection is worse than one
// that the peer is known to speak ([Memory]).
//
// It has no clock, socket or goroutine: times are arguments, and a connection is what its
// owner gives to be dropped. But for a Shed, which may be used from anywhere, whoever calls
// holds the lock that guards the value.
//
// Invariants are those of each type; of all of them:
//
//  1. Everything that another node can make grow has a maximum, and what is refused is counted.
//  2. What a stranger does costs those who have proved who they are nothing: arrivals drop
//     arrivals, and never a connection that has a place.
package admission
