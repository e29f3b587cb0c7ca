// Package limits bounds what others can make a node keep, and decides which of them it listens to.
//
// A [Limit] counts what is held of one kind of thing. [Cluster], [Connection] and [Node] are what a user sets. [Quota]
// and [Owners] say what each peer makes this node hold; the rest of the package decides which connections a node has.
// Nothing here has a socket or a goroutine, and times are arguments.
//
// # A limit
//
// A Limit counts what is held against what may be held.
//
// A [Limit] is shared by all holders of one kind of thing: connections, bytes, log
// lines. A holder takes before it uses; a refusal is counted. All of it is atomic and
// without locks, so any goroutine may call it.
//
// Invariants:
//
//  1. Used is what was taken and not given back.
//  2. Take never leaves Used above the maximum. Of several calls that take the last at the
//     same time, all may be refused. Add may leave it above, for what is there already and can
//     only be counted; so may SetMax.
//
// # What a user sets
//
// A Cluster bounds what all other nodes together can make a node hold, and their defaults, and checks the settings of
// a node. node.ClusterLimits and node.Config say what each is.
//
// It has no state, no clock and no goroutine.
//
// # What peers make this node hold
//
// A Quota and its Owners count what other nodes make this one hold, and says when one of them must be stopped: what
// waits to be sent to them, what parts of messages have come from them ([Quota], [Budget]), what they have started
// here ([Owners]), and whether a peer takes what is sent to it ([Backlog]).
//
// It has no clock, socket or goroutine. A driver looks at each peer every [Quota.LookEvery],
// and whenever [Quota.Looks] says so, and asks [Quota.Judge] about it.
//
// Invariants:
//
//  1. What waits for all peers is the sum of what each has told by [Quota.Change], and busy is
//     how many of them have told more than nothing. A peer tells when that has changed by
//     [Step], or is gone: so no message costs a word in memory that all share.
//  2. Only the driver ends peers. A goroutine that puts a frame into a queue may hold any
//     lock, so it calls [Quota.Ask] instead.
//  3. The fragments taken are the sum of what the links have taken, each by a [Budget] of its
//     own, which gives back what is left when the link is closed.
//  4. An [Owner] that has processes or names is known by the name of its peer and by how that has proved it. Of those that
//     have none at most idleOwners are: a peer that starts one process after the other has
//     one owner.
//  5. The lock of Owners is below all others: nothing else is locked while it is held.
//
// # Which connections a node has
//
// Of the connections that others want, these types decide: which of those that come in are dropped while they have
// proved nothing ([Arrivals]), whether there is a place for one that has ([Places]), which name a node gets that has
// none ([DynamicNames]), which peers are dialled next ([Dials]), what is refused while memory is short ([Shed]), which
// of two connections stays ([Standing]), whether the rights of a node let it connect ([Visitor]), and whether the
// protocol of a connection is worse than one that the peer is known to speak ([ProtocolMemory]).
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
package limits
