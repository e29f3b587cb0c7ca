// Package flow is the way out to one other node: what waits to be written, when it is written, and by whom.
//
// # The outbox
//
// A [Box] holds what waits to be written to one other node, and writes it.
//
// A [Box] takes frames from any goroutine. Until the node is connected, and wherever the
// link cannot take a frame at once, the frame waits in a queue; otherwise the sender encodes
// it into the link's buffer. A [Writer] is the goroutine that writes the queue to the link
// and flushes the link. A [Turn] is what the turn of an actor leaves to be flushed at its end.
// When bytes leave, and who sends them, [FlushStep] decides; [Box] carries out its steps.
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
// Invariants
//
//  1. flushing is what FlushStep says of when bytes leave, and who sends them; its
//     invariants are below. It is direct only while nothing waits but in the link: not in
//     the queue, not in the writer's hands. So what goes past the queue overtakes nothing.
//  2. What a step of flushing asks for is done by the goroutine that has made the step,
//     soon: see Box.on.
//  3. Of the senders that wait for space each pass of the writer lets one go, and further ones as long as what
//     they have sent last would fit, those first that have waited longest; the writer does not sleep
//     while one waits. A sender that waits for messages of its own which a long one of its own holds up
//     is let go when enough of them have been written.
//  4. What waits is counted by [backlog], whose invariants are there.
//
// Goroutines
//
//	writer   started by the connection when it is up; ends with it, or when the link fails;
//	         owns the frames that it has taken from the queue
//
// # What can be lost
//
// A frame that is in the queue or in the writer's hands when the connection ends: [Box.Close]
// returns the former, and the writer tells its [Owner] of the latter. What is in the link's
// buffer then is lost in silence, as what is on the wire is.
//
// # When bytes leave
//
// [FlushStep] decides when bytes leave for a peer, and who sends them. It has no clock, no socket and no goroutine: it
// takes a state and an event, and returns the next state and what the one that the event has happened to must do.
//
// Those who send write into the buffer of a connection. What is in the buffer can be sent
// by the writer, which is a goroutine, or at once by whoever has written. To wake the
// writer costs more than to send; to send each message alone costs more than to send some
// together. So whoever is about to write more, or to wait for an answer, defers: what is
// written in the meantime, by anybody, is sent at the end of that. A turn of an actor defers
// as well, but only for itself, for it may take long.
//
// States
//
//	Queueing   the writer is awake, and what is to be sent goes into its queue: there is no
//	           connection yet, or something has had to wait
//	Passing    the writer is awake; what is to be sent is written into the buffer, at which
//	           the writer looks before it sleeps
//	Idle       the writer sleeps, or is about to after a last look at the buffer
//	Deferred   as Idle; there is something in the buffer that one who defers will send
//	Ended      nothing is sent any more
//
//	             Rest                     Written, Queued, Needed, TryLeft
//	Queueing, Passing --> Idle      Idle, Deferred --> Passing (Queued: Queueing), WakeWriter
//	             Written                  EndDefer, Yield
//	Idle, Deferring > 0 --> Deferred   Deferred --> Idle, TryFlush
//
// Invariants
//
//  1. The writer is woken once for each time that it sleeps: [WakeWriter] comes of a step
//     out of Idle or Deferred to Passing or Queueing, and of no other.
//  2. Deferred has Deferring > 0: each of those ends with EndDefer.
//  3. No byte is left in the buffer unless the state is Queueing or Passing, or Deferred, or
//     Turns > 0, or somebody who has written has not told yet, or somebody is at a TryFlush,
//     or the writer has yet to take its last look. Each of these sends it, or wakes the
//     writer. The test walks all orders of a few that send.
//  4. What goes past the queue overtakes nothing that is in it: only [Rest], which the writer
//     says when its queue is empty, leads from Queueing to a state that is direct.
package flow
