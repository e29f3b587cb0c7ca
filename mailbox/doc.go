// Package mailbox lets a user choose or supply the mailbox of a process: limits with a policy, or a custom mailbox. It
// imports only the standard library and package wire.
//
// By default a process has an unbounded mailbox. Options.Bounds of package node sets [Bounds]; Options.Mailbox supplies any
// other [Box], which may be a [Forcer] and a [Waiter] as well.
//
// A push returns a [Result]. The sender that gets Wake, and only that one, must schedule the reader.
//
// # What can be lost, reordered, duplicated
//
// No message is duplicated. The reader sees two messages of one sender in the order in which
// they were sent. A closed mailbox loses its waiting messages and returns Closed from then on. A mailbox with a Drop policy
// calls Bounds.Dropped for each lost message. With DropNewest the push returns Dropped; with DropOldest it returns Queued,
// or Dropped if the messages that the reader is handling leave no space. With Block or Refuse the push returns Full and
// nothing is lost; with Block the sender may wait for space until its context ends. Waiting senders are served in order of
// arrival, and messages sent without waiting, such as those from other nodes, do not overtake them. Exit signals and Downs
// are accepted regardless of the limits: a process gets no more of them than it has links and monitors.
//
// # Bounds
//
// A bounded mailbox takes a lock for each message. Bounds.Bytes counts the estimate of [Size]: Size follows pointers to
// a fixed depth, and counts data that two messages share twice.
package mailbox
