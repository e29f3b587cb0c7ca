// Package placement says on which stage a process runs, and moves processes between stages.
//
// Nouns:
//
//   - A [Place] is what a spawn asks for: a stage by number or by value, that of another process, one that a
//     function chooses, none at all.
//   - An [Order] is the one queue of an ordered stage: the messages of all its actors in the order
//     in which they were sent. Each actor has a [mailbox.Box] of it in place of a mailbox.
//
// Invariants:
//
//  1. What is on a stage that has been made, and not only counted, is pinned there: it moves when it is moved,
//     and not to balance the load.
//  2. A box of an Order gives its actor a message only while that is the oldest of all.
//  3. The actor whose message is the oldest is awake, or is being woken.
//
// What can be lost: nothing. A move takes the mailbox along, and whoever sends meanwhile finds the process on the
// old stage or on the new one.
//
// Evict has no goroutine of its own. An Order starts one for a moment when it has to wake an actor of another
// stage, or at an exit; it ends by itself.
package placement
