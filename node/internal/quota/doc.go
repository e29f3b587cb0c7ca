// Package quota counts what other nodes make this one hold, and says when one of them must
// be stopped: what waits to be sent to them, what parts of messages have come from them
// ([Quota], [Budget]), what they have started here ([Owners]), and whether a peer takes what is
// sent to it ([Backlog]).
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
package quota
