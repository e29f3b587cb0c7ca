// Package deadletter says which messages could not be delivered, and why.
//
// A message to a process that is gone is lost, as in Erlang, and its sender is told nothing.
// The node counts it by its [Cause], logs some (one line a second for each cause), and gives it,
// a [Letter], to each [Stream] that somebody has opened by Node.DeadLetters.
//
// Invariants:
//
//  1. Every message that is lost on its way to a process of this node, or before it has left
//     for another, is one dead letter.
//  2. A stream holds at most as many letters as its buffer. Those that do not fit are counted.
//  3. Nobody waits for the reader of a stream.
//
// The package has no goroutine.
package deadletter
