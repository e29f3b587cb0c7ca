// Package timers has the messages that are sent to a process later, once or again and again.
//
// Nouns:
//
//   - A [Timer] is one such message.
//   - A [Set] is the timers of one process, and ends with it; those whose destination is looked up when they are due are in
//     a set of the node.
//   - A [Count] is how many timers a node has.
//   - An [Owner] is the process as its set knows it: its mailbox.
//
// Invariants:
//
//  1. A timer that is over is in no set, and refers neither to its process nor to its message.
//  2. A timer is over once: it has sent its message, Cancel has answered true, or End has ended it.
//  3. Timers of different processes share no lock, and while a set holds its own it calls
//     nothing but [Owner.Waits] and [Owner.TryPush].
//
// While a mailbox that makes its senders wait has no space, a timer that sends once tries again,
// first after a millisecond, then after twice as long each time, up to 100 ms.
//
// A timer runs on a goroutine of package time, for the moment of a send: nothing holds that up.
// A set is safe for concurrent use.
package timers
