// Package mailbox holds what a user supplies or chooses for the mailbox of a process: a
// bound with a policy, or a mailbox of another kind. It imports the standard library only.
//
// A process has a mailbox without a bound by default. Options.Limits of package node sets
// [Limits]; Options.Mailbox supplies any other [Box], which may be a [Forcer] and a [Waiter]
// as well.
//
// A push answers a [Result], and one of the answers is a duty: only the sender that gets Wake
// schedules the reader.
//
// # What can be lost, reordered, duplicated
//
// No message is duplicated. The reader sees two messages of one sender in the order in which
// they were sent. A closed mailbox loses what waits in it, and answers Closed from then on.
// A mailbox that drops loses what its policy says and calls Limits.Dropped: with DropNewest
// the push answers Dropped; with DropOldest it answers Queued, or Dropped if what the reader
// has in hand leaves no room. With Block or Refuse the push answers Full and nothing is lost;
// with Block the sender may wait for space, for as long as its context lets it. Those that wait get in in the order
// in which they came, and what is sent without waiting, as by another node, does not get past them. Exit signals and
// Downs get in whatever the limits are: a process gets no more of them than it has links and
// monitors.
//
// # Limits
//
// A mailbox with limits takes a lock for each message. Limits.Bytes counts what [Size]
// estimates: Size follows pointers to a fixed depth, and counts twice what two messages share.
package mailbox
