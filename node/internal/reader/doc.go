// Package reader reads what another node sends, and hands it on.
//
// A [Reader] is the goroutine that reads from one connection. It gives each frame to its
// [Node], but for messages to one actor that come together: those it puts into the actor's
// mailbox several at a time (batch.go). What a message sets off that has come alone the reader
// does itself, in the place of a worker, and sends what comes of it. It also does what a batch
// sets off, or frames for several processes that have come together (round.go), if that takes
// little beside reading them ([share]). If a handler keeps its goroutine, another goroutine is
// the reader from then on, and this one ends with the handler. When nothing more has come the
// reader may look for the next message busily ([Spin]).
//
// # Invariants
//
//  1. There is one reader of a connection at a time, so nothing may hold it up: Node.Handle
//     never waits, and whoever takes the stage from a handler has another reader go on.
//  2. Frames are handed on in the order in which they have come. A batch is delivered before
//     anything else is done, and is kept only while more has come in already.
//  3. What answers frames that have come together is sent together: with mostDeferred of them,
//     when nothing more has come, or before a handler that may take long.
//
// # Goroutines
//
//	reader   Run, on the goroutine that calls it; it ends with the connection. It calls
//	         Node.Leave once, on the goroutine that is the reader then.
package reader
