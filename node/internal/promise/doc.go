// Package promise holds what a call is settled with: once, by whoever comes first.
//
// Nouns:
//
//   - A [Promise] has a value and an error, or has none yet. It can serve one call after the
//     other, so that a process needs one for all the calls that it waits for.
//   - A [Ticket] is one use of a promise. What is said of a ticket that has been used before
//     concerns nobody: a late reply finds a newer ticket, and does nothing.
//   - [Watches] are what is told when a future is settled: those who wait for a channel to be
//     closed, and functions.
//
// The states of a promise, in this order for each ticket:
//
//	waiting    armed; anybody may settle it
//	settling   one has begun to, and writes the value; all others have come too late
//	done       the value can be read; the owner may arm it for the next ticket
//
// A timeout, a cancellation, the exit of the called process and the death of the caller are
// attempts to settle it with an error. None of them has a rule of its own: the first one wins.
//
// Invariants:
//
//  1. The state only goes forward; from done to waiting of the next ticket by its owner alone.
//  2. [Promise.Begin] returns true once for each ticket. Who gets it calls [Promise.Finish],
//     and does before that what must be over when the caller goes on.
//  3. The value is written between Begin and Finish, and read after Finish.
//  4. A ticket has one [Watch] at most, over the process that its request has been forwarded to. When the ticket is settled
//     the watch is forgotten, whoever comes first: see [Promise.Forward].
//
// The package has no clock and no goroutine; who waits, and in which way, is its user's.
package promise
