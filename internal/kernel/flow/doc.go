// Package flow is the output path to one other node: it decides what is queued, when it is written, and by whom.
//
// # The outbox
//
// A [Box] queues frames for one other node, and writes them.
//
// A [Box] accepts frames from any goroutine. Until the node is connected, and whenever the link cannot accept a frame at
// once, the frame is queued; otherwise the sender encodes it into the link's buffer. A [Writer] is the goroutine that writes
// the queue to the link and flushes the link. A [Turn] is what an actor's turn leaves to be flushed at its end. [FlushStep]
// decides when bytes are sent, and by whom; [Box] carries out its steps.
//
// A message whose sender may get an error is checked before it is queued: by a look at its parts, or by the link, which
// encodes it and discards the result. See [Box.Send].
//
// Waking the writer costs more than writing: it is another goroutine, possibly on another core. So what bypasses the queue
// while the writer sleeps is sent by senders that wait for an answer anyway, or have finished their work: at the end of an
// actor's turn, of the handling of a frame from the peer, or of frames that have arrived together, at the beginning of a
// call, by a reader that spins. They try, and what the connection does not accept at once is left to the writer.
//
// Invariants
//
//  1. flushing is the FlushState that decides when bytes are sent, and by whom; its
//     invariants are below. It is direct only while frames are only in the link: not in
//     the queue, not in the writer's hands. So what bypasses the queue overtakes nothing.
//  2. The action that a step of flushing requires is done by the goroutine that has made
//     the step, soon: see Box.on.
//  3. Of the senders that wait for space each pass of the writer releases one, and further ones while what they
//     have last sent would fit, the longest waiting first; the writer does not sleep while one waits. A sender
//     that waits because messages of its own are held behind a long one of its own is released when enough of
//     them have been written.
//  4. [backlog] counts what is queued, and documents its own invariants.
//
// Goroutines
//
//	writer   started by the connection when it is up; ends with it, or when the link fails;
//	         owns the frames that it has taken from the queue
//
// # What can be lost
//
// Frames that are in the queue or in the writer's hands when the connection ends: [Box.Close] returns the former, and the
// writer reports the latter to its [Owner]. What is in the link's buffer then is lost silently, as is what is on the wire.
//
// # When bytes are sent
//
// [FlushStep] decides when bytes are sent to a peer, and by whom. It has no clock, socket or goroutine: it takes a state and
// an event, and returns the next state and the action required of the caller.
//
// Senders write into the buffer of a connection. The buffer can be flushed by the writer, which is a goroutine, or at once by
// the sender. Waking the writer costs more than flushing; flushing each message alone costs more than flushing some together.
// So a goroutine that is about to write more, or to wait for an answer, defers: what is written in the meantime, by any
// goroutine, is sent at the end of that. A turn of an actor also defers, but only for itself, because it may take long.
//
// States
//
//	Queueing   the writer is awake, and frames to be sent go into its queue: there is no
//	           connection yet, or something had to be queued
//	Passing    the writer is awake; frames to be sent are written into the buffer, which
//	           the writer checks before it sleeps
//	Idle       the writer sleeps, or is about to after a last look at the buffer
//	Deferred   as Idle; the buffer has something that a deferring goroutine will send
//	Ended      nothing is sent any more
//
//	             Rest                     Written, Queued, Needed, TryLeft
//	Queueing, Passing --> Idle      Idle, Deferred --> Passing (Queued: Queueing), WakeWriter
//	             Written                  EndDefer, Yield
//	Idle, Deferring > 0 --> Deferred   Deferred --> Idle, TryFlush
//
// Invariants
//
//  1. The writer is woken once each time that it sleeps: [WakeWriter] results from a step
//     from Idle or Deferred to Passing or Queueing, and from no other.
//  2. Deferred implies Deferring > 0: each of those ends with EndDefer.
//  3. No byte is left in the buffer unless the state is Queueing or Passing, or Deferred, or
//     Turns > 0, or a goroutine that has written has not reported that yet, or is in a TryFlush,
//     or the writer has yet to take its last look. Each of these sends it, or wakes the
//     writer. The test covers all interleavings of a few senders.
//  4. What bypasses the queue overtakes nothing in it: only [Rest], which the writer sends
//     when its queue is empty, leads from Queueing to a direct state.
package flow
