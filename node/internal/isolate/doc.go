// Package isolate does with the messages of a node what its isolation.Config says: it copies them, or notes what
// they are and reports what has changed.
//
//   - A [Guard] is what a node has. It stands behind the question whether anybody is traced, which every message
//     asks, so that a node without it pays nothing: see trace.Guard.
//   - A [record] is a message that has been sent and not been received.
//
// Invariants:
//
//  1. A record is compared while nobody has received the message: whoever receives it takes the lock of the record
//     first, and it is over then.
//  2. There are no more records than mostRecords; messages beyond are not compared.
//
// Locks: that of a record may be held when that of the guard is taken, not the other way round. Report is called with
// none.
//
// The package has no goroutine.
package isolate
