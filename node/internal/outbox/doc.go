// Package outbox holds what waits to be written to one other node, and writes it.
//
// A [Box] takes frames from any goroutine. Until the node is connected, and wherever the
// link cannot take a frame at once, the frame waits in a queue; otherwise the sender encodes
// it into the link's buffer. A [Writer] is the goroutine that writes the queue to the link
// and flushes the link. A [Turn] is what the turn of an actor leaves to be flushed at its end.
// When bytes leave, and who sends them, package flush decides; [Box] carries out its steps.
//
// A message that its sender may get back with an error is checked before it waits: by a look at its parts, or
// by the link, which encodes it for nobody. See [Box.Send].
//
// To wake the writer costs more than to write: it is another goroutine, perhaps on another
// core. So what goes past the queue while the writer sleeps is sent by senders that wait for
// an answer anyway, or have done what they had to do: at the end of an actor's turn, of what
// a frame from the peer has set off, or frames that have come together, at the beginning of a
// call, by a reader that spins. They try, and what the connection does not take at once is
// the writer's.
//
// # Invariants
//
//  1. flushing is what package flush says of when bytes leave, and who sends them; its
//     invariants are there. It is direct only while nothing waits but in the link: not in
//     the queue, not in the writer's hands. So what goes past the queue overtakes nothing.
//  2. What a step of flushing asks for is done by the goroutine that has made the step,
//     soon: see Box.on.
//  3. Of the senders that wait for space each pass of the writer lets one go, and further ones as long as what
//     they have sent last would fit, those first that have waited longest; the writer does not sleep
//     while one waits. A sender that waits for messages of its own which a long one of its own holds up
//     is let go when enough of them have been written.
//  4. What waits is counted by [backlog], whose invariants are there.
//
// # Goroutines
//
//	writer   started by the connection when it is up; ends with it, or when the link fails;
//	         owns the frames that it has taken from the queue
//
// # What can be lost
//
// A frame that is in the queue or in the writer's hands when the connection ends: [Box.Close]
// returns the former, and the writer tells its [Owner] of the latter. What is in the link's
// buffer then is lost in silence, as what is on the wire is.
package outbox
