// Package limits bounds what other nodes can make a node hold, and decides which of their connections it accepts.
//
// A [Limit] counts held resources of one kind. [Cluster], [Connection] and [Node] are the settings of a user. [Quota] and
// [Owners] count what each peer makes this node hold; the rest of the package decides which connections a node has. Nothing
// here has a socket or a goroutine, and times are arguments.
//
// # A limit
//
// A [Limit] is shared by all holders of one kind of resource: connections, bytes, log lines. A holder takes before it uses; a
// refusal is counted. It is atomic and lock-free, so it may be used concurrently.
//
// Invariants:
//
//  1. Used is what was taken and not given back.
//  2. Take never leaves Used above the maximum. Of several concurrent calls that take the
//     last, all may be refused. Add may leave it above, for resources that exist already and
//     can only be counted; so may SetMax.
//
// # Settings of a user
//
// A Cluster bounds what all other nodes together can make a node hold; this part has the defaults, and checks the settings of
// a node. node.ClusterLimits and node.Config document the fields.
//
// It has no state, no clock and no goroutine.
//
// # What peers make this node hold
//
// A Quota and its Owners count what other nodes make this one hold, and decide when one of them must be stopped: what is
// queued for them, fragments of messages received from them ([Quota], [Budget]), what they have started here ([Owners]), and
// whether a peer accepts what is sent to it ([Backlog]).
//
// It has no clock, socket or goroutine. A driver checks each peer every [Quota.LookEvery], and whenever [Quota.Looks]
// requests it, by [Quota.Judge].
//
// Invariants:
//
//  1. The number of bytes queued for all peers is the sum of what each has reported by
//     [Quota.Change], and busy is the number of peers whose report is not 0. A peer reports when
//     that has changed by [Step], or it ends: so messages do not write a shared word of memory.
//  2. Only the driver ends peers. A goroutine that puts a frame into a queue may hold any
//     lock, so it calls [Quota.Ask] instead.
//  3. The fragments taken are the sum of what the links have taken, each by a [Budget] of its
//     own, which gives back the rest when the link is closed.
//  4. An [Owner] that has processes or names is found by the identity of its peer, that is its name and how it has
//     proved that. Of those that have none at most idleOwners are kept: a peer that starts one process after the
//     other has one owner.
//  5. The lock of Owners is the innermost: nothing else is locked while it is held.
//
// # Which connections a node has
//
// These types decide about connections that others request: which incoming unauthenticated ones are dropped ([Arrivals]),
// whether there is a place for an authenticated one ([Places]), the name assigned to a node that has none ([DynamicNames]),
// which peers are dialled next ([Dials]), what is refused while memory is short ([Shed]), which of two connections is kept
// ([Standing]), whether the rights of a node let it connect ([Visitor]), and whether the protocol of a connection is worse
// than one that the peer is known to support ([ProtocolMemory]).
//
// It has no clock, socket or goroutine: times are arguments, and a connection is represented by the function that drops it.
// Except for a Shed, which may be used concurrently, the caller holds the lock that guards the value.
//
// Invariants are documented with each type; for all of them:
//
//  1. Everything that another node can make grow has a maximum, and refusals are counted.
//  2. Strangers cannot harm authenticated peers: arrivals drop arrivals, and never a
//     connection that has a place.
package limits
