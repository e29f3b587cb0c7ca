// Package waiting says what processes wait for.
//
// Nouns:
//
//   - A [Kind] is what a process can wait for: a reply, space in a mailbox, …
//   - A [Record] is what a blocking process waits for in its calls, one after the other. The process
//     writes it with each call, at the cost of some stores; others read it now and then.
//   - A [Graph] has which process waits for which, and finds the wait that would close a cycle.
//
// Invariants, beside those of a Graph:
//
//  1. Only the process writes its Record, and the use last. A promise that waits for the use that a
//     reader has found, after it has read the rest, has not been armed for the next: so the rest
//     belongs to that use.
//
// The package has no clock and no goroutine.
package waiting
