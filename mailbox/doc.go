// Package mailbox holds what a user supplies or chooses for the mailbox of a process: a
// bound with a policy, or a mailbox of another kind. It imports the standard library only.
//
// A process has a mailbox without a bound by default. Options.Limits of package node sets
// [Limits], and with them a [Bounded] mailbox; Options.Mailbox supplies any other [Box].
//
// A push answers a [Result], and one of the answers is a duty: only the sender that gets Wake
// schedules the reader.
//
// # Invariants of a Bounded
//
//  1. The messages that count towards the limits are those that wait, and those that the
//     reader has popped and is not done with.
//  2. It is within its limits, with two exceptions. A message larger than Limits.Bytes gets
//     in when no message counts. A message that is forced (see [Forcer]) always gets in.
//  3. Every message that was answered Queued or Wake is popped once, given to
//     Limits.Dropped once, or lost by Close.
//
// # Goroutines
//
// The package starts none. Any goroutine may call all methods of a Bounded but Pop and Done,
// which belong to the reader.
//
// # What can be lost, reordered, duplicated
//
// No message is duplicated. The reader sees two messages of one sender in the order in which
// they were sent. A closed mailbox loses what waits in it, and answers Closed from then on.
// A mailbox that drops loses what its policy says and calls Limits.Dropped: with DropNewest
// the push answers Dropped; with DropOldest it answers Queued, or Dropped if what the reader
// has in hand leaves no room. With Block or Refuse the push answers Full and nothing is lost;
// with Block the sender may wait for room, for as long as its context lets it.
//
// # Limits
//
// A Bounded takes a lock for each message. Limits.Bytes counts what [Size] estimates: Size
// follows pointers to a fixed depth, and counts twice what two messages share.
package mailbox
